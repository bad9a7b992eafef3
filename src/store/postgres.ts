import pg from 'pg'
import { StoreFault } from '../wire/store-messages.ts'
import { type Database, type Parameter, type Row, type Session, toStoreFault } from './database.ts'

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

interface CountedPool {
  readonly pool: pg.Pool
  readonly max: number
  inUse: number
}

/** How much longer than its own timeout the server may take to report it before the connection is given up. */
const GRACE_MS = 1000
/** A connection that was idle for this long is closed. */
const IDLE_MS = 10_000

/** A writer that is silent within a transaction, because its process or machine has stopped, keeps its locks no longer than this. */
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
  // Its locks last as long as the connection, so the pool never closes it.
  const leases = createPool(options, { max: 1, timeoutMs, silenceMs: WRITER_SILENCE_MS, idleTimeoutMillis: 0 })
  const close = async () => void (await Promise.all([readers, writers, leases].map(({ pool }) => pool.end())))
  try {
    const [row] = await poolSession(readers).query('show server_version')
    return {
      engine: 'postgres',
      version: (row!['server_version'] as string).split(' ')[0]!,
      reads: poolSession(readers),
      readTransaction: (run) => inTransaction(readers, 'begin isolation level repeatable read read only', run),
      transaction: (run) => inTransaction(writers, 'begin', run),
      leaseTransaction: (run) => inTransaction(leases, 'begin', run),
      maintain: async (statement) => void (await poolSession(writers).query(statement)),
      close,
    }
  } catch (error) {
    await close().catch(() => {})
    throw toStoreFault(error)
  }
}

interface PoolParts {
  readonly max: number
  readonly timeoutMs: number
  /** How long a connection may be silent within a transaction. */
  readonly silenceMs: number
  readonly settings?: string
  readonly idleTimeoutMillis?: number
}

function createPool(options: PostgresOptions, parts: PoolParts): CountedPool {
  const { max, timeoutMs, silenceMs, settings = '', idleTimeoutMillis = IDLE_MS } = parts
  const pool = new pg.Pool({
    connectionString: options.url,
    max,
    connectionTimeoutMillis: options.connectTimeoutMs,
    statement_timeout: timeoutMs,
    lock_timeout: timeoutMs,
    idle_in_transaction_session_timeout: silenceMs,
    idleTimeoutMillis,
    query_timeout: timeoutMs + GRACE_MS,
    application_name: 'trigpoint',
    // A generic plan would fit no actual parameters: the number of matching records varies by a factor of a million.
    options: `-c jit=off -c plan_cache_mode=force_custom_plan -c timezone=UTC ${settings}`.trim(),
    keepAlive: true,
  })
  // Without a listener, an error on an idle connection would end the process.
  pool.on('error', (error) => options.onLost(error.message))
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

function poolSession(pool: CountedPool): Session {
  return {
    query: (statement, parameters) => withClient(pool, (client) => createSession(client).query(statement, parameters)),
  }
}

function inTransaction<T>(pool: CountedPool, begin: string, run: (session: Session) => Promise<T>): Promise<T> {
  return withClient(pool, async (client, markBroken) => {
    const session = createSession(client)
    try {
      await session.query(begin)
      const result = await run(session)
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
  // A connection in use reports its errors itself; the pool's listener covers only idle ones.
  const onError = (error: Error) => {
    broken ??= error
  }
  client.on('error', onError)
  counted.inUse++
  try {
    return await run(client, onError)
  } finally {
    counted.inUse--
    client.off('error', onError)
    client.release(broken)
  }
}
