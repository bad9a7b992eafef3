import pg from 'pg'
import { StoreFault } from '../store-messages.ts'
import type { Database, Parameter, Row, Session } from './database.ts'
import { faultOf } from './fault.ts'

export interface PostgresOptions {
  readonly url: string
  /** Connections for lists and look-ups. */
  readonly readers: number
  /** Connections for what changes records: a flood of questions cannot hold it back. */
  readonly writers: number
  readonly connectTimeoutMs: number
  readonly readTimeoutMs: number
  readonly writeTimeoutMs: number
  /** An idle connection broke; the pool makes another. */
  readonly onLost: (reason: string) => void
}

interface CountedPool {
  readonly pool: pg.Pool
  readonly max: number
  inUse: number
}

/** Time for the server to say that it ended a statement, before the connection is given up. */
const GRACE_MS = 1000

/**
 * Connects to a PostgreSQL server through two pools.
 *
 * @throws {StoreFault} `unavailable` when the server cannot be reached
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const readers = createPool(options, options.readers, options.readTimeoutMs, '-c default_transaction_read_only=on')
  const writers = createPool(options, options.writers, options.writeTimeoutMs, '')
  const close = async () => void (await Promise.all([readers.pool.end(), writers.pool.end()]))
  try {
    const [row] = await poolSession(readers).query('show server_version')
    return {
      engine: 'postgres',
      version: (row!['server_version'] as string).split(' ')[0]!,
      reads: poolSession(readers),
      readTransaction: (run) => inTransaction(readers, 'begin isolation level repeatable read read only', run),
      transaction: (run) => inTransaction(writers, 'begin', run),
      maintain: async (statement) => void (await poolSession(writers).query(statement)),
      close,
    }
  } catch (error) {
    await close().catch(() => {})
    throw faultOf(error)
  }
}

function createPool(options: PostgresOptions, max: number, timeoutMs: number, settings: string): CountedPool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max,
    connectionTimeoutMillis: options.connectTimeoutMs,
    statement_timeout: timeoutMs,
    lock_timeout: timeoutMs,
    idle_in_transaction_session_timeout: timeoutMs + GRACE_MS,
    query_timeout: timeoutMs + GRACE_MS,
    application_name: 'trigpoint',
    // A plan made for any parameters would be made for none of these: boxes and hosts of records differ by a million.
    options: `-c jit=off -c plan_cache_mode=force_custom_plan -c timezone=UTC ${settings}`.trim(),
    keepAlive: true,
  })
  // Without a listener the end of an idle connection would end the process.
  pool.on('error', (error) => options.onLost(error.message))
  return { pool, max, inUse: 0 }
}

function sessionOf(client: pg.PoolClient): Session {
  return {
    async query(statement, parameters = []) {
      try {
        return (await client.query<Row>(statement, parameters as Parameter[])).rows
      } catch (error) {
        throw faultOf(error)
      }
    },
  }
}

function poolSession(pool: CountedPool): Session {
  return {
    query: (statement, parameters) => withClient(pool, (client) => sessionOf(client).query(statement, parameters)),
  }
}

function inTransaction<T>(pool: CountedPool, begin: string, run: (session: Session) => Promise<T>): Promise<T> {
  return withClient(pool, async (client, spoil) => {
    const session = sessionOf(client)
    try {
      await session.query(begin)
      const result = await run(session)
      await session.query('commit')
      return result
    } catch (error) {
      await client.query('rollback').catch(spoil)
      throw error
    }
  })
}

/** @param run calls `spoil` when the connection cannot be used again */
async function withClient<T>(
  counted: CountedPool,
  run: (client: pg.PoolClient, spoil: (error: Error) => void) => Promise<T>,
): Promise<T> {
  const { pool, max } = counted
  const client = await pool.connect().catch((error: unknown) => {
    const fault = faultOf(error)
    // The wait was for a connection that others use; the server is there.
    const isBusy = fault.kind === 'unavailable' && counted.inUse >= max
    throw isBusy ? new StoreFault('busy', 'every connection to the database is in use', { cause: error }) : fault
  })
  let broken: Error | undefined
  // A connection that is held has its own errors, beside the pool's.
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
