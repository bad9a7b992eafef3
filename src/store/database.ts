import type { StoreEngine } from '../store-messages.ts'

/** A value for `$1`, `$2` …; arrays are of text and cast in the statement. */
export type Parameter = string | number | boolean | null | Uint8Array | readonly string[]

/** Columns by name. Statements cast what the two drivers would give differently: counts to int, keys to text. */
export type Row = Readonly<Record<string, unknown>>

/** Where statements run. Values are parameters, always: a statement's text is a constant of this program. */
export interface Session {
  query(statement: string, parameters?: readonly Parameter[]): Promise<readonly Row[]>
}

/** One PostgreSQL dialect behind two drivers. What the SQL may use is PostgreSQL 15; the embedded engine is newer. */
export interface Database {
  readonly engine: StoreEngine
  /** Of the engine, e.g. `15.18`. */
  readonly version: string
  /** Single statements that read. */
  readonly reads: Session
  /** Several statements that see one state and change nothing. */
  readTransaction<T>(run: (session: Session) => Promise<T>): Promise<T>
  /** All or nothing. Rolled back when `run` rejects. */
  transaction<T>(run: (session: Session) => Promise<T>): Promise<T>
  /** Outside any transaction, as `vacuum` needs it. */
  maintain(statement: string): Promise<void>
  close(): Promise<void>
}
