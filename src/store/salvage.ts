/** Reads what a damaged embedded store has on no chain: submissions and the transactions of the relay. */
import type { Database, Row, Session } from './database.ts'
import { countByIndex } from './pglite.ts'

/** Tables whose content is on no chain, in the order in which they are filled, with the first column of their key. */
const TABLES = [
  ['submission', 'position'],
  ['relay_transaction', 'chain_id'],
  ['relay_attempt', 'chain_id'],
] as const
/** More than fit on a page of the engine. */
const ROWS_PER_PAGE = 300
const PAGE_BYTES = 8192
const ROWS_PER_STATEMENT = 200

/** The rows of one table as JSON that the engine wrote, and how much of it could not be read. */
interface SalvagedTable {
  readonly name: (typeof TABLES)[number][0]
  readonly rows: readonly string[]
  /** Pages of the table with at least one row that could not be read. */
  readonly unreadablePages: number
  /** True if the index of the table is damaged, or names rows that are not there. */
  readonly isUncertain: boolean
  /** Why the whole table could not be read. */
  readonly fault?: string
}

/** What could be read from a damaged store. */
export interface Salvage {
  readonly tables: readonly SalvagedTable[]
  /** False if an operator had stopped the reading of chains. */
  readonly isSyncDesired: boolean
  /** True if acknowledged writes are known to be missing. */
  readonly hasLostWrites: boolean
}

/**
 * Reads the tables page by page and without indexes, so that one bad page loses only its own rows.
 *
 * @param hasLostWrites true if acknowledged writes are known to be missing
 */
export async function salvage(database: Database, hasLostWrites: boolean): Promise<Salvage> {
  const tables: SalvagedTable[] = []
  for (const [name, key] of TABLES) {
    tables.push(
      await readTable(database.reads, name, key).catch((error: Error) => ({
        name,
        rows: [],
        unreadablePages: 0,
        isUncertain: true,
        fault: error.message,
      })),
    )
  }
  const desired = await database.reads.query('select desired from sync_worker').catch((): readonly Row[] => [])
  return { tables, isSyncDesired: desired[0]?.['desired'] !== false, hasLostWrites }
}

async function readTable(session: Session, name: SalvagedTable['name'], key: string): Promise<SalvagedTable> {
  const [size] = await session.query(`select (pg_relation_size('${name}') / ${PAGE_BYTES})::int as pages`)
  const rows: string[] = []
  let unreadablePages = 0
  for (let page = 0; page < (size!['pages'] as number); page++) {
    const found = await readRange(session, name, [page, 0], [page + 1, 0]).catch(() => undefined)
    if (found !== undefined) {
      rows.push(...found)
      continue
    }
    unreadablePages++
    // A row may be unreadable because its long values are in another, damaged file. The other rows of its page are not.
    for (let row = 1; row <= ROWS_PER_PAGE; row++) {
      rows.push(...(await readRange(session, name, [page, row], [page, row + 1]).catch(() => [])))
    }
  }
  const indexed = await countByIndex(session, name, key).catch(() => undefined)
  return { name, rows, unreadablePages, isUncertain: indexed !== rows.length }
}

type RowPosition = readonly [page: number, row: number]

async function readRange(session: Session, name: string, from: RowPosition, to: RowPosition): Promise<string[]> {
  const found = await session.query(
    `select row_to_json(${name})::text as line from ${name} where ctid >= '(${from})' and ctid < '(${to})'`,
  )
  return found.map((row) => row['line'] as string)
}

/** Returns true if rows of a table are missing. */
export function isPartial({ unreadablePages, isUncertain, fault }: SalvagedTable): boolean {
  return unreadablePages > 0 || isUncertain || fault !== undefined
}

/** What became of the salvaged rows. */
export interface SalvageReport {
  readonly submissions: number
  readonly pending: number
  /** Pending submissions that are failed now, because it is not certain that they were not sent. */
  readonly failed: number
}

const UNCERTAIN =
  'the store was damaged, and this may have been sent already: look at the chain before you send it again'

/**
 * Stores what was salvaged into a store without submissions. If anything may be missing, submissions that wait to be sent become
 * `failed`, because they may have been sent already; a client can send them again under the same idempotency key. So do those whose
 * transaction is missing: the next transaction may get its nonce, and would then count as theirs.
 */
export async function storeSalvage(
  database: Database,
  { tables, isSyncDesired, hasLostWrites }: Salvage,
): Promise<SalvageReport> {
  return database.transaction(async (session) => {
    for (const { name, rows } of tables) {
      for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
        await session.query(
          `insert into ${name} overriding system value
           select (json_populate_record(null::${name}, text::json)).* from unnest($1::text[]) as text on conflict do nothing`,
          [rows.slice(start, start + ROWS_PER_STATEMENT)],
        )
      }
    }
    await session.query(
      `select setval(pg_get_serial_sequence('submission', 'position'), greatest(1, (select max(position) from submission)))`,
    )
    if (!isSyncDesired) await session.query('update sync_worker set desired = false')
    const isIncomplete = hasLostWrites || tables.some(isPartial)
    const failed = isIncomplete
      ? await session.query(
          `update submission set status = 'failed', error = $1
           where status = 'queued' or status in ('sent', 'mined') and not exists (
             select from relay_transaction as used
             where (used.chain_id, used.sender, used.nonce) = (submission.chain_id, submission.sender, submission.nonce)
           ) returning 1`,
          [UNCERTAIN],
        )
      : []
    const [counts] = await session.query(
      `select count(*)::int as submissions, count(*) filter (where status in ('queued', 'sent', 'mined'))::int as pending
       from submission`,
    )
    return {
      submissions: counts!['submissions'] as number,
      pending: counts!['pending'] as number,
      failed: failed.length,
    }
  })
}
