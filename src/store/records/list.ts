import { type EncodedPage, type RecordKey, type RecordQuery, StoreFault } from '../../wire/store-messages.ts'
import type { Database, Session, Snapshot } from '../database.ts'
import type { SelectedRecords } from './columns.ts'
import {
  afterKeySql,
  type ConditionName,
  conditionNames,
  conditionSql,
  DISTANT_SQL,
  filterSql,
  matchingRowsSql,
  Parameters,
  windowSql,
} from './conditions.ts'
import type { RecordMemory } from './memory.ts'
import { KEY_COLUMNS, limitSql, MAX_PAGE_BYTES, ORDER, pageSql, readPage } from './page.ts'
import { pageByMarks } from './page-marks.ts'
import { MAX_EXAMINED, readSlice } from './slice.ts'
import { estimateWork, neededMatches, orderedCondition, SAMPLE_RECORDS, type Work } from './work.ts'

/** How much the database may do for one list. The times hold for a server only, and together they are below `STORE_READ_MS`. */
interface ListLimits {
  /** Records that the work is estimated from. */
  readonly sampleRecords: number
  /** A plan that would examine more records is not tried. */
  readonly maxExamined: Readonly<Record<PlanName, number>>
  /** Time for each plan. */
  readonly planMs: number
  readonly scanMs: number
  /** Records that one step of a scan examines. */
  readonly maxScanned: number
  /** Records that are examined for a count that the client did not request. */
  readonly maxCounted: number
  readonly countMs: number
}

/** The plans whose work is estimated. */
type PlanName = 'collect' | 'walk' | 'window'

// On a server, examining a million records takes about a second.
const LIMITS: ListLimits = {
  sampleRecords: SAMPLE_RECORDS,
  maxExamined: { collect: 500_000, walk: 500_000, window: 500_000 },
  planMs: 400,
  scanMs: 200,
  maxScanned: MAX_EXAMINED,
  maxCounted: 50_000,
  countMs: 100,
}

/**
 * Lists records. Every plan returns records of the same list:
 *
 * - *marks*: for lists without a filter or with a chain only. The count is stored, and a far offset starts at a nearby mark;
 * - *columns*: columns in memory select the records, and only their documents are read;
 * - *collect*: the database reads the records that the most selective condition finds through its index, tests the other
 *   conditions, and counts and sorts what is left;
 * - *walk*: it reads the list in its order until the page is full;
 * - *window*: as *walk*, but only where the block times are within a day of the event times that the query asks for. Records whose
 *   event was on another day have an index of their own;
 * - *scan*: if each of these examines too many records. A scan examines as many as time allows. The page may be shorter than its
 *   limit, and says where to continue.
 *
 * The last four are for records that the columns do not hold, and for conditions that they do not know. A sample of the table
 * tells which plan examines the fewest records. With *walk*, *window* and *scan* the count is an estimate, unless counting is fast
 * or the caller waits for it.
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
  const work = await estimateWork(session, query, limits.sampleRecords)
  let page: PageFound | undefined
  for (const name of choosePlans(work, limits.maxExamined)) {
    page ??= await PLANS[name](session, query, limits.planMs, work)
  }
  page ??= await scan(session, query, limits)
  const count = page.count ?? countToEnd(query, page) ?? (await countMatches(session, query, work, limits))
  if (count !== undefined) return { ...page, count }
  // At least the matches that were found.
  const found = page.length === 0 ? 0 : query.offset + page.length
  return { ...page, count: Math.max(found, work.matches), isEstimate: true }
}

/** Returns the number of matches if the list ends on this page. */
function countToEnd({ limit, offset, after }: RecordQuery, { length, next }: PageFound): number | undefined {
  const isEnd = after === undefined && next === undefined && length < limit && (length > 0 || offset === 0)
  return isEnd ? offset + length : undefined
}

/** Returns the plans that are worth trying, the quickest first. */
export function choosePlans(work: Work, maxExamined = LIMITS.maxExamined): PlanName[] {
  return (['collect', 'walk', 'window'] as const)
    .filter((name) => work[name] <= maxExamined[name])
    .sort((a, b) => work[a] - work[b])
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

/** A page, and the number of all matches if the plan counted them. */
type PageFound = Omit<EncodedPage, 'count' | 'isEstimate'> & { readonly count?: number }

/** Reads a page. Returns undefined if that took too long. */
type Plan = (session: Snapshot, query: RecordQuery, maxMs: number, work: Work) => Promise<PageFound | undefined>

const PLANS: Readonly<Record<PlanName, Plan>> = {
  async collect(session, query, maxMs, { first }) {
    const parameters = new Parameters()
    const matching = matchesSql(query, first, parameters, KEY_COLUMNS)
    const after = query.after === undefined ? '' : `where ${afterKeySql(query.after, parameters)}`
    // `materialized`, because with an order and a limit PostgreSQL might read the whole list for a few matches.
    const rows = await session.queryWithin(
      maxMs,
      `with matching as materialized (${matching}), ${pageSql(
        `select ${KEY_COLUMNS} from matching ${after} order by ${ORDER} ${limitSql(query, parameters)}`,
        query,
        ', (select count(*)::int from matching) as count',
      )}`,
      parameters.values,
    )
    return rows && { ...readPage(rows, query), count: rows[0]!['count'] as number }
  },

  async walk(session, query, maxMs) {
    const parameters = new Parameters()
    const conditions = walkConditions(query, parameters)
    const keys = `select ${LIST_KEY} from location_record where ${conditions.join(' and ')}`
    return readKeys(session, query, maxMs, keys, parameters)
  },

  async window(session, query, maxMs) {
    const parameters = new Parameters()
    const near = [...walkConditions(query, parameters), windowSql(query, parameters), `not ${DISTANT_SQL}`]
    const tests = conditionNames(query).filter((name) => name !== 'event')
    const distant = [
      conditionSql('event', query, parameters),
      DISTANT_SQL,
      ...tests.map((name) => filterSql(name, query, parameters)),
    ]
    if (query.after !== undefined) distant.push(afterKeySql(query.after, parameters))
    const needed = parameters.add(neededMatches(query), 'bigint')
    const keys = `select ${LIST_KEY} from (
      (select ${LIST_KEY} from location_record where ${near.join(' and ')} order by ${ORDER} limit ${needed})
      union all select ${LIST_KEY} from location_record where ${distant.join(' and ')}
    ) as met`
    return readKeys(session, query, maxMs, keys, parameters)
  },
}

/** The columns that identify a record in the order of the list. Indexes have them, so a record that does not match is not read. */
const LIST_KEY = 'uid, chain_id, block_time'

/** Reads the page of the keys that a statement selects. */
async function readKeys(
  session: Snapshot,
  query: RecordQuery,
  maxMs: number,
  keys: string,
  parameters: Parameters,
): Promise<PageFound | undefined> {
  const page = `${keys} order by ${ORDER} ${limitSql(query, parameters)}`
  const rows = await session.queryWithin(
    maxMs,
    `with ${pageSql(`select ${KEY_COLUMNS} from (${page}) as met join location_record using (${LIST_KEY})`, query)}`,
    parameters.values,
  )
  return rows && readPage(rows, query)
}

/** Returns the conditions of a query for reading the list in its order, where an index has that order for one of them. */
function walkConditions(query: RecordQuery, parameters: Parameters): string[] {
  const names = conditionNames(query)
  const ordered = orderedCondition(names)
  const conditions = names.map((name) =>
    name === ordered ? conditionSql(name, query, parameters) : filterSql(name, query, parameters),
  )
  return query.after === undefined ? conditions : [...conditions, afterKeySql(query.after, parameters)]
}

/** Returns a subquery for all matches, which reads the records that the index of one condition finds. */
function matchesSql(
  query: RecordQuery,
  first: ConditionName | undefined,
  parameters: Parameters,
  columns: string,
): string {
  const names = conditionNames(query)
  const tests = names.filter((name) => name !== first).map((name) => filterSql(name, query, parameters))
  if (first !== undefined) return matchingRowsSql(first, query, parameters, columns, tests)
  return `select ${columns} from location_record where ${tests.join(' and ')}`
}

/** Reads the next matches for a limited time. @throws {StoreFault} `deep` for an offset, which would have to be counted through */
async function scan(session: Session, query: RecordQuery, { scanMs, maxScanned }: ListLimits): Promise<PageFound> {
  if (query.after === undefined && query.offset > 0) {
    throw new StoreFault('deep', `reading to offset ${query.offset} takes too long with this filter`)
  }
  const endMs = performance.now() + scanMs
  const endBytes = query.endBytes ?? query.maxBytes ?? MAX_PAGE_BYTES
  let [documents, length] = ['', 0]
  let next: RecordKey | undefined = query.after
  do {
    const size = { records: query.limit - length, bytes: endBytes - documents.length }
    const slice = await readSlice(session, next === undefined ? query : { ...query, after: next }, size, maxScanned)
    documents += documents === '' || slice.documents === '' ? slice.documents : `,${slice.documents}`
    length += slice.length
    next = slice.next
  } while (next !== undefined && length < query.limit && documents.length < endBytes && performance.now() < endMs)
  return { documents: new TextEncoder().encode(documents), length, next }
}

/**
 * Counts the matches.
 *
 * @returns undefined if it took too long, or would take too long and the client did not ask for the exact count
 * @throws {StoreFault} `late` if the exact count was asked for, and took too long
 */
async function countMatches(
  session: Snapshot,
  query: RecordQuery,
  work: Work,
  { maxCounted, countMs }: ListLimits,
): Promise<number | undefined> {
  const { exactCountMs } = query
  if (exactCountMs === undefined && work.count > maxCounted) return undefined
  const parameters = new Parameters()
  const rows = await session.queryWithin(
    exactCountMs ?? countMs,
    `select count(*)::int as count from (${matchesSql(query, work.first, parameters, '1')}) as matching`,
    parameters.values,
  )
  if (rows === undefined && exactCountMs !== undefined)
    throw new StoreFault('late', `counting took more than ${exactCountMs} ms`)
  return rows?.[0]?.['count'] as number | undefined
}
