import { type StoreEngine, StoreFault } from '../wire/store-messages.ts'

/** A value for `$1`, `$2` and so on. Arrays hold text; the statement casts them. */
export type Parameter = string | number | boolean | null | Uint8Array | readonly string[]

/** Columns by name. Statements cast what the two drivers would return differently: counts to int, keys to text. */
export type Row = Readonly<Record<string, unknown>>

/** Runs statements. Values are always parameters; the text of a statement is a constant of this program. */
export interface Session {
  query(statement: string, parameters?: readonly Parameter[]): Promise<readonly Row[]>
}

/** Several statements on one snapshot. They change nothing. */
export interface Snapshot extends Session {
  /**
   * Runs a statement that may take too long. Only a server can stop a statement: the embedded engine runs it to its end.
   *
   * @returns undefined if it was stopped after `maxMs`; the snapshot can still be used
   */
  queryWithin(maxMs: number, statement: string, parameters?: readonly Parameter[]): Promise<readonly Row[] | undefined>
}

/** One PostgreSQL dialect behind two drivers. The SQL may use PostgreSQL 15 features only; the embedded engine is newer. */
export interface Database {
  readonly engine: StoreEngine
  /** Version of the engine, e.g. `15.18`. */
  readonly version: string
  /** Runs single read statements. */
  readonly reads: Session
  readTransaction<T>(run: (session: Snapshot) => Promise<T>): Promise<T>
  /** Runs a write transaction. It is rolled back when `run` rejects. */
  transaction<T>(run: (session: Session) => Promise<T>): Promise<T>
  /**
   * Runs a write transaction on a connection that serves only leases, so that other writes never delay it. Locks that it takes for its
   * session last until the connection ends. The embedded engine has one session for everything.
   */
  leaseTransaction<T>(run: (session: Session) => Promise<T>): Promise<T>
  /** Runs a statement outside any transaction, as `vacuum` requires. */
  maintain(statement: string): Promise<void>
  close(): Promise<void>
}

/**
 * Converts an error of a driver into a `StoreFault` by the class of its SQLSTATE. An error without an SQLSTATE did not come
 * from the database, for example because no connection was made.
 */
export function toStoreFault(error: unknown): StoreFault {
  if (error instanceof StoreFault) return error
  const { code = '', message = String(error) } = error as { code?: string; message?: string }
  // 57014: the statement timed out; 55P03: a lock timed out; class 40: the transaction was rolled back in favour of another.
  if (code === '57014' || code === '55P03' || code.startsWith('40'))
    return new StoreFault('late', message, { cause: error })
  if (code === '53100') return new StoreFault('full', message, { cause: error })
  // Data or an index is corrupted: a retry or another connection reads the same.
  if (code === 'XX001' || code === 'XX002') return new StoreFault('damaged', message, { cause: error })
  // The server rejected the statement itself. Every other code means that the server is stopping, full or unreachable.
  if (/^(22|23|42|54)/.test(code)) return new StoreFault('refused', message, { cause: error })
  return new StoreFault('unavailable', message || code || 'no connection', { cause: error })
}
