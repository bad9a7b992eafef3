import { type EncodedPage, type RecordKey, type RecordQuery, StoreFault } from '../../wire/store-messages.ts'
import type { Database, Session, Snapshot } from '../database.ts'
import type { SelectedRecords } from './columns.ts'
import { afterKeySql, conditionNames, conditionSql, filterSql, Parameters } from './conditions.ts'
import type { RecordMemory } from './memory.ts'
import { KEY_COLUMNS, limitSql, MAX_PAGE_BYTES, ORDER, pageSql, readPage } from './page.ts'
import { pageByMarks } from './page-marks.ts'
import { MAX_EXAMINED, readSlice } from './slice.ts'

/** How much the database may do for one list. The times hold for a server only, and together they are below `STORE_READ_MS`. */
interface ListLimits {
  /** The most matches that are sorted and counted exactly, whatever that takes. */
  readonly maxCollected: number
  readonly collectMs: number
  readonly walkMs: number
  readonly scanMs: number
  /** Records that one step of a scan examines. */
  readonly maxExamined: number
  readonly countMs: number
}

const LIMITS: ListLimits = {
  maxCollected: 100_000,
  collectMs: 400,
  walkMs: 600,
  scanMs: 400,
  maxExamined: MAX_EXAMINED,
  countMs: 100,
}

/** Records that an estimate is made from. */
const SAMPLE_RECORDS = 50_000

/**
 * Lists records. Every plan returns records of the same list:
 *
 * - *marks*: for lists without a filter or with a chain only. The count is stored, and a far offset starts at a nearby mark;
 * - *columns*: columns in memory select the records, and only their documents are read;
 * - *collect*: while the columns load, when there are more records than they may hold, or for conditions that they do not know.
 *   The database reads, counts and sorts all matching rows;
 * - *walk*: if there are too many matches for *collect*. The database reads the list in its order until the page is full;
 * - *scan*: if the matches are too rare for *walk*. It examines as many records as time allows. The page may be shorter than its
 *   limit, and says where to continue.
 *
 * With *walk* and *scan* the count is an estimate, unless counting is fast or the caller waits for it.
 *
 * @param memory if undefined, the database selects all records
 * @throws {StoreFault} `deep` when the offset cannot be reached in time, `late` when an exact count takes too long
 */
export function listRecords(
  database: Database,
  memory: RecordMemory | undefined,
  query: RecordQuery,
  limits: Partial<ListLimits> = {},
): Promise<EncodedPage> {
  if (conditionNames(query).every((name) => name === 'chain')) return pageByMarks(database.reads, query)
  return database.readTransaction(async (session) => {
    // Inside the transaction, because the keys and the documents have to be of one snapshot: a rollback between the two would leave
    // the page with fewer documents than keys. A wait for other queries of the memory does not make that snapshot old, because it
    // begins with the first statement.
    const selected = query.filter === undefined ? await memory?.select(session, query) : undefined
    return selected === undefined
      ? selectInDatabase(session, query, { ...LIMITS, ...limits })
      : readSelected(session, query, selected)
  })
}

async function selectInDatabase(session: Snapshot, query: RecordQuery, limits: ListLimits): Promise<EncodedPage> {
  const collected = await collect(session, query, limits)
  if (collected !== undefined && collected !== 'many') return collected
  const isMany = collected === 'many'
  const page = (await walk(session, query, limits.walkMs)) ?? (await scan(session, query, limits))
  const count = await countMatches(session, query, isMany ? limits.countMs : 0)
  if (count !== undefined) return { ...page, count }
  // At least the matches that were found.
  const found = Math.max(isMany ? limits.maxCollected + 1 : 0, query.offset + page.length)
  return { ...page, count: Math.max(found, await estimateMatches(session, query)), isEstimate: true }
}

async function readSelected(
  session: Session,
  query: RecordQuery,
  { count, keys }: SelectedRecords,
): Promise<EncodedPage> {
  if (keys.length === 0) return { documents: new Uint8Array(0), length: 0, count }
  const rows = await session.query(
    `with ${pageSql(
      `select ${KEY_COLUMNS} from unnest($1::text[], $2::text[]) as key (hex, chain)
       left join location_record on uid = decode(hex, 'hex') and chain_id = chain::bigint`,
      query,
    )}`,
    [keys.map(({ uid }) => uid.slice(2)), keys.map(({ chainId }) => String(chainId))],
  )
  return { ...readPage(rows, query), count }
}

/**
 * Collects all matches, then counts them and reads a page. PostgreSQL cannot estimate how many records a box holds: with an
 * order and a limit in the same query, it might scan the whole list for a few matches. `materialized` prevents that plan.
 *
 * @returns `many` if there are more matches than may be collected; undefined if it took too long
 */
async function collect(
  session: Snapshot,
  query: RecordQuery,
  { maxCollected, collectMs }: ListLimits,
): Promise<EncodedPage | 'many' | undefined> {
  const parameters = new Parameters()
  const conditions = conditionNames(query).map((name) => conditionSql(name, query, parameters))
  const after = query.after === undefined ? '' : `and ${afterKeySql(query.after, parameters)}`
  const rows = await session.queryWithin(
    collectMs,
    `with matching as materialized (
      select ${KEY_COLUMNS} from location_record where ${conditions.join(' and ')} limit ${maxCollected + 1}
    ), found as (select count(*)::int as count from matching), ${pageSql(
      `select ${KEY_COLUMNS} from matching where (select count from found) <= ${maxCollected} ${after}
       order by ${ORDER} ${limitSql(query, parameters)}`,
      query,
      ', (select count from found)',
    )}`,
    parameters.values,
  )
  if (rows === undefined) return undefined
  const count = rows[0]!['count'] as number
  return count > maxCollected ? 'many' : { ...readPage(rows, query), count }
}

type PageWithoutCount = Pick<EncodedPage, 'documents' | 'length' | 'next'>

/**
 * Reads the list in its order until the page is full or the list ends.
 *
 * @returns undefined if that took too long
 */
async function walk(session: Snapshot, query: RecordQuery, maxMs: number): Promise<PageWithoutCount | undefined> {
  const parameters = new Parameters()
  const names = conditionNames(query)
  const ordered = (['prover', 'subject', 'chain'] as const).find((name) => names.includes(name))
  const conditions = names.map((name) =>
    name === ordered ? conditionSql(name, query, parameters) : filterSql(name, query, parameters),
  )
  if (query.after !== undefined) conditions.push(afterKeySql(query.after, parameters))
  const rows = await session.queryWithin(
    maxMs,
    `with ${pageSql(
      `select ${KEY_COLUMNS} from location_record where ${conditions.join(' and ')} order by ${ORDER} ${limitSql(query, parameters)}`,
      query,
    )}`,
    parameters.values,
  )
  return rows && readPage(rows, query)
}

/** Reads the next matches for a limited time. @throws {StoreFault} `deep` for an offset, which would have to be counted through */
async function scan(
  session: Session,
  query: RecordQuery,
  { scanMs, maxExamined }: ListLimits,
): Promise<PageWithoutCount> {
  if (query.after === undefined && query.offset > 0) {
    throw new StoreFault('deep', `reading to offset ${query.offset} takes too long with this filter`)
  }
  const endMs = performance.now() + scanMs
  const endBytes = query.endBytes ?? query.maxBytes ?? MAX_PAGE_BYTES
  let [documents, length] = ['', 0]
  let next: RecordKey | undefined = query.after
  do {
    const size = { records: query.limit - length, bytes: endBytes - documents.length }
    const slice = await readSlice(session, next === undefined ? query : { ...query, after: next }, size, maxExamined)
    documents += documents === '' || slice.documents === '' ? slice.documents : `,${slice.documents}`
    length += slice.length
    next = slice.next
  } while (next !== undefined && length < query.limit && documents.length < endBytes && performance.now() < endMs)
  return { documents: new TextEncoder().encode(documents), length, next }
}

/**
 * Counts the matches.
 *
 * @param maxMs for a count that the client did not request; with 0 there is none
 * @returns undefined if it took too long
 * @throws {StoreFault} `late` if the exact count was asked for, and took too long
 */
async function countMatches(session: Snapshot, query: RecordQuery, maxMs: number): Promise<number | undefined> {
  const allowedMs = query.exactCountMs ?? maxMs
  if (allowedMs === 0) return undefined
  const parameters = new Parameters()
  const conditions = conditionNames(query).map((name) => conditionSql(name, query, parameters))
  const rows = await session.queryWithin(
    allowedMs,
    `select count(*)::int as count from location_record where ${conditions.join(' and ')}`,
    parameters.values,
  )
  if (rows === undefined && query.exactCountMs !== undefined)
    throw new StoreFault('late', `counting took more than ${allowedMs} ms`)
  return rows?.[0]?.['count'] as number | undefined
}

/** Estimates the number of matches from a sample of the table. The sample is the same each time until the table changes. */
async function estimateMatches(session: Session, query: RecordQuery): Promise<number> {
  const parameters = new Parameters()
  const [counter] = await session.query('select coalesce(sum(records), 0)::text as records from record_counter')
  const total = Number(counter!['records'])
  const percent = Math.min(100, (100 * SAMPLE_RECORDS) / Math.max(1, total))
  const conditions = conditionNames(query).map((name) => filterSql(name, query, parameters))
  const [sample] = await session.query(
    `select count(*) filter (where ${conditions.join(' and ')})::int as matches, count(*)::int as records
     from location_record tablesample system (${percent}) repeatable (1)`,
    parameters.values,
  )
  const { matches, records } = sample as { readonly matches: number; readonly records: number }
  return Math.round((total * matches) / Math.max(1, records))
}
