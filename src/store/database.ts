import type { StoreEngine } from '../wire/store-messages.ts'

/** A value for `$1`, `$2` and so on. Arrays hold text; the statement casts them. */
export type Parameter = string | number | boolean | null | Uint8Array | readonly string[]

/** Columns by name. Statements cast what the two drivers would return differently: counts to int, keys to text. */
export type Row = Readonly<Record<string, unknown>>

/** Runs statements. Values are always parameters; the text of a statement is a constant of this program. */
export interface Session {
  query(statement: string, parameters?: readonly Parameter[]): Promise<readonly Row[]>
}

/** One PostgreSQL dialect behind two drivers. The SQL may use PostgreSQL 15 features only; the embedded engine is newer. */
export interface Database {
  readonly engine: StoreEngine
  /** Version of the engine, e.g. `15.18`. */
  readonly version: string
  /** Runs single read statements. */
  readonly reads: Session
  /** Runs several statements on one snapshot; they change nothing. */
  readTransaction<T>(run: (session: Session) => Promise<T>): Promise<T>
  /** Runs a write transaction. It is rolled back when `run` rejects. */
  transaction<T>(run: (session: Session) => Promise<T>): Promise<T>
  /** Runs a statement outside any transaction, as `vacuum` requires. */
  maintain(statement: string): Promise<void>
  close(): Promise<void>
}
