import type { Duplex } from 'node:stream'
import pg from 'pg'
import { StoreFault } from '../wire/store-messages.ts'
import { type Database, type Parameter, type Row, type Session, type Snapshot, toStoreFault } from './database.ts'

export interface PostgresOptions {
  readonly url: string
  /** Connections for lists and lookups. */
  readonly readers: number
  /** Connections for writes; separate, so that a flood of reads cannot delay them. */
  readonly writers: number
  readonly connectTimeoutMs: number
  readonly readTimeoutMs: number
  readonly writeTimeoutMs: number
  /** Called when an idle connection breaks; the pool opens another. */
  readonly onLost: (reason: string) => void
}

/**
 * Connects to a PostgreSQL server for a command, which does one thing at a time.
 *
 * @param timeoutMs of each statement
 * @throws {StoreFault} `unavailable` when the server cannot be reached
 */
export function openPostgresForCommand(url: string, connectTimeoutMs: number, timeoutMs: number): Promise<Database> {
  const timeouts = { connectTimeoutMs, readTimeoutMs: timeoutMs, writeTimeoutMs: timeoutMs }
  return openPostgres({ url, readers: 1, writers: 1, ...timeouts, onLost: () => {} })
}

interface CountedPool {
  readonly pool: pg.Pool
  readonly max: number
  inUse: number
}

/** Extra time for the server to report that its own timeout has passed. After that the connection is abandoned. */
const GRACE_MS = 1000
/** A connection that was idle for this long is closed. */
const IDLE_MS = 10_000

/** A writer that is silent within a transaction, for example because its machine has stopped, keeps its locks no longer than this. */
const WRITER_SILENCE_MS = 3000

/**
 * Connects to a PostgreSQL server through three pools: for reads, for writes, and one connection for leases.
 *
 * @throws {StoreFault} `unavailable` when the server cannot be reached
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { readTimeoutMs, writeTimeoutMs: timeoutMs } = options
  const readers = createPool(options, {
    max: options.readers,
    timeoutMs: readTimeoutMs,
    silenceMs: readTimeoutMs + GRACE_MS,
    settings: '-c default_transaction_read_only=on',
  })
  const writers = createPool(options, { max: options.writers, timeoutMs, silenceMs: WRITER_SILENCE_MS })
  // The locks of a session last as long as its connection, so the pool never closes it.
  const leases = createPool(options, { max: 1, timeoutMs, silenceMs: WRITER_SILENCE_MS, idleTimeoutMillis: 0 })
  const close = async () => void (await Promise.all([readers, writers, leases].map(({ pool }) => pool.end())))
  try {
    const [row] = await poolSession(readers).query('show server_version')
    return {
      engine: 'postgres',
      version: (row!['server_version'] as string).split(' ')[0]!,
      reads: poolSession(readers),
      readTransaction: (run) =>
        inTransaction(readers, 'begin isolation level repeatable read read only', (client) =>
          run(createSnapshot(client)),
        ),
      transaction: (run) => inTransaction(writers, 'begin', (client) => run(createSession(client))),
      leaseTransaction: (run) => inTransaction(leases, 'begin', (client) => run(createSession(client))),
      maintain: async (statement) => void (await poolSession(writers).query(statement)),
      close,
    }
  } catch (error) {
    await close().catch(() => {})
    throw toStoreFault(error)
  }
}

/** One connection for single statements, which opens when it is used and stays open. */
export function openConnection(
  options: Pick<PostgresOptions, 'url' | 'connectTimeoutMs' | 'writeTimeoutMs' | 'onLost'>,
  { applicationName, settings }: Pick<PoolParts, 'applicationName' | 'settings'>,
): { readonly session: Session; close(): Promise<void> } {
  const timeoutMs = options.writeTimeoutMs
  const parts = { max: 1, timeoutMs, silenceMs: WRITER_SILENCE_MS, idleTimeoutMillis: 0, applicationName, settings }
  const pool = createPool(options, parts)
  return { session: poolSession(pool), close: () => pool.pool.end() }
}

interface PoolParts {
  readonly max: number
  readonly timeoutMs: number
  /** How long a connection may be silent within a transaction. */
  readonly silenceMs: number
  readonly settings?: string | undefined
  readonly applicationName?: string | undefined
  readonly idleTimeoutMillis?: number
}

/** The part of a connection of `pg` that its types leave out: it begins to read what the server sends. */
interface ProtocolConnection {
  attachListeners(stream: Duplex): void
}

/**
 * A client that closes its connection when the server breaks the protocol. `pg` throws where it reads from the socket, so nobody could
 * catch that error, and it would end the process.
 */
class GuardedClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    const { connection } = this as unknown as { connection: ProtocolConnection }
    const attachListeners = connection.attachListeners.bind(connection)
    // It is called for the socket, or for the TLS stream on it.
    connection.attachListeners = (stream) => {
      attachListeners(stream)
      const read = stream.listeners('data') as ((data: Buffer) => void)[]
      stream.removeAllListeners('data')
      stream.on('data', (data: Buffer) => {
        try {
          for (const listener of read) listener(data)
        } catch (error) {
          stream.destroy(error as Error)
        }
      })
    }
  }
}

function createPool(
  options: Pick<PostgresOptions, 'url' | 'connectTimeoutMs' | 'onLost'>,
  parts: PoolParts,
): CountedPool {
  const { max, timeoutMs, silenceMs, settings = '', applicationName = 'trigpoint', idleTimeoutMillis = IDLE_MS } = parts
  const pool = new pg.Pool({
    Client: GuardedClient,
    connectionString: options.url,
    max,
    connectionTimeoutMillis: options.connectTimeoutMs,
    statement_timeout: timeoutMs,
    lock_timeout: timeoutMs,
    idle_in_transaction_session_timeout: silenceMs,
    idleTimeoutMillis,
    query_timeout: timeoutMs + GRACE_MS,
    application_name: applicationName,
    // A generic plan would fit no actual parameters: the number of matching records varies by a factor of a million.
    options: `-c jit=off -c plan_cache_mode=force_custom_plan -c timezone=UTC ${settings}`.trim(),
    keepAlive: true,
  })
  // Without a listener, an error on an idle connection would end the process.
  pool.on('error', (error) => options.onLost(error.message))
  // So would one on any other connection. The pool has no listener there, and a server that stops may send its error together with
  // the message that the connection is ready, before `withClient` continues. The statement then fails, and the pool closes the
  // connection.
  pool.on('connect', (client) => client.on('error', () => {}))
  return { pool, max, inUse: 0 }
}

function createSession(client: pg.PoolClient): Session {
  return {
    async query(statement, parameters = []) {
      try {
        return (await client.query<Row>(statement, parameters as Parameter[])).rows
      } catch (error) {
        throw toStoreFault(error)
      }
    },
  }
}

/** Makes the session of a read transaction. A statement that is stopped undoes its savepoint, and with it the timeout. */
function createSnapshot(client: pg.PoolClient): Snapshot {
  const session = createSession(client)
  return {
    ...session,
    async queryWithin(maxMs, statement, parameters = []) {
      // 0 would mean no timeout.
      const timeoutMs = Math.max(1, Math.ceil(maxMs))
      await session.query(`savepoint attempt; set local statement_timeout = ${timeoutMs}`)
      try {
        const query = { text: statement, values: parameters as Parameter[], query_timeout: maxMs + GRACE_MS }
        const { rows } = await client.query<Row>(query)
        await session.query('rollback to savepoint attempt')
        return rows
      } catch (error) {
        if ((error as { code?: string }).code !== QUERY_CANCELED) throw toStoreFault(error)
        await session.query('rollback to savepoint attempt')
        return undefined
      }
    },
  }
}

/** SQLSTATE of a statement that exceeded `statement_timeout`. */
const QUERY_CANCELED = '57014'

function poolSession(pool: CountedPool): Session {
  return {
    query: (statement, parameters) => withClient(pool, (client) => createSession(client).query(statement, parameters)),
  }
}

function inTransaction<T>(pool: CountedPool, begin: string, run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  return withClient(pool, async (client, markBroken) => {
    const session = createSession(client)
    try {
      await session.query(begin)
      const result = await run(client)
      await session.query('commit')
      return result
    } catch (error) {
      await client.query('rollback').catch(markBroken)
      throw error
    }
  })
}

/**
 * Runs a function with a connection of the pool.
 *
 * @param run calls `markBroken` when the connection must not be reused
 */
async function withClient<T>(
  counted: CountedPool,
  run: (client: pg.PoolClient, markBroken: (error: Error) => void) => Promise<T>,
): Promise<T> {
  const { pool, max } = counted
  const client = await pool.connect().catch((error: unknown) => {
    const fault = toStoreFault(error)
    // The wait was for a free connection of the pool; the server itself is reachable.
    const isBusy = fault.kind === 'unavailable' && counted.inUse >= max
    throw isBusy ? new StoreFault('busy', 'every connection to the database is in use', { cause: error }) : fault
  })
  let broken: Error | undefined
  counted.inUse++
  try {
    return await run(client, (error) => {
      broken = error
    })
  } finally {
    counted.inUse--
    client.release(broken)
  }
}
