import type { RecordPage, RecordQuery } from '../../wire/store-messages.ts'
import type { Database, Session } from '../database.ts'
import type { SelectedRecords } from './columns.ts'
import {
  afterKeySql,
  type ConditionName,
  conditionKey,
  conditionNames,
  conditionSql,
  filterSql,
  matchingRowsSql,
  Parameters,
} from './conditions.ts'
import { type Counters, countRecords, type RecordState, StateMemory } from './counters.ts'
import type { RecordMemory } from './memory.ts'
import { KEY_COLUMNS, limitSql, ORDER, pageSql, readPage } from './page.ts'
import { pageByMarks } from './page-marks.ts'

/** The most records that are collected and sorted for a page; above it, the count is queried first. */
const MAX_COLLECTED = 20_000
/** How far matching records are counted. Those of an address are counted in its index only, so further. */
const MAX_PROBED = { prover: 200_000, subject: 200_000, event: 100_000, bbox: MAX_COLLECTED, chain: 0 } as const
/** Cost of collecting and sorting one record, relative to walking past one. */
const COLLECTING_COST = 3
const MAX_COUNTS = 20_000
/** Size of the page cache in UTF-16 code units. */
const MAX_PAGE_UNITS = 16 * 1_048_576

/**
 * Lists records. Four plans return the same page:
 *
 * - *columns*: columns in memory select the records, and only their documents are read. When they are not available, the
 *   other plans are used;
 * - *marks*: for lists without a filter or with a chain only. The count is stored, and a far offset starts at a nearby mark;
 * - *collect*: reads the rows of the most selective condition and sorts them in memory. This also gives the count;
 * - *walk*: reads the index in the order of the list and skips rows that do not match, for conditions that many records match.
 *
 * PostgreSQL's planner cannot choose between the last two, because it does not know how many records a box holds. So the
 * matching rows are counted first, up to a limit. Counts and pages are cached until a record changes or becomes final.
 *
 * @param memory undefined: only the database selects records
 * @param readState returns the current counters; their state tells whether cached values are still valid
 */
export function createRecordList(
  database: Database,
  readState: () => Promise<Counters>,
  memory: RecordMemory | undefined,
): (query: RecordQuery) => Promise<RecordPage> {
  const counts = new StateMemory<number>(MAX_COUNTS)
  const probes = new StateMemory<Hits>(MAX_COUNTS)
  const pages = new StateMemory<RecordPage>(MAX_PAGE_UNITS, ({ documents }) => documents.length + 200)

  return async (query) => {
    const counters = await readState()
    const key = JSON.stringify(query)
    const cachedPage = pages.get(counters, key)
    if (cachedPage !== undefined) return cachedPage
    const names = conditionNames(query)
    const page = names.every((name) => name === 'chain')
      ? await pageByMarks(database.reads, query)
      : await database.readTransaction((session) => selectPage(session, query, names, counters))
    pages.set(counters, key, page)
    return page
  }

  async function selectPage(
    session: Session,
    query: RecordQuery,
    names: readonly ConditionName[],
    counters: Counters,
  ): Promise<RecordPage> {
    const selected = await memory?.select(session, query)
    if (selected !== undefined) {
      const page = selected.keys.length === 0 ? emptyPage(selected.count) : await readPageByKeys(session, selected)
      return { ...page, count: selected.count }
    }
    const key = JSON.stringify(names.map((name) => conditionKey(name, query)))
    let count = counts.get(counters, key)
    if (count !== undefined && isPastEnd(count, query)) return emptyPage(count)
    const hits = await probe(session, query, names, counters)
    const [rarest] = hits
    if (names.length === 1 && rarest!.isExact) count = rarest!.records
    if (count === undefined && rarest!.records > MAX_COLLECTED) {
      count = await countMatching(session, query, names, rarest!.name)
      counts.set(counters, key, count)
    }
    if (count !== undefined && isPastEnd(count, query)) return emptyPage(count)
    if (count !== undefined && isWalkCheaper(query, counters, count, hits)) {
      return { ...(await walk(session, query, names)), count, isCountExact: true }
    }
    const page = await collect(session, query, names, rarest!.name)
    counts.set(counters, key, page.count)
    return page
  }

  /** Counts, up to a limit, the records that match each condition taken separately. Returns the most selective first. */
  async function probe(
    session: Session,
    query: RecordQuery,
    names: readonly ConditionName[],
    state: RecordState,
  ): Promise<readonly Hits[]> {
    const selective = names.filter((name) => name !== 'chain')
    const unknown = selective.filter((name) => probes.get(state, conditionKey(name, query)) === undefined)
    if (unknown.length > 0) {
      const parameters = new Parameters()
      const parts = unknown.map((name) => {
        const source = matchingRowsSql(name, query, parameters, '1')
        return `(select count(*) from (select 1 from (${source}) as met limit ${MAX_PROBED[name] + 1}) as hit)::int as ${name}`
      })
      const [row] = await session.query(`select ${parts.join(', ')}`, parameters.values)
      for (const name of unknown) {
        const records = row![name] as number
        probes.set(state, conditionKey(name, query), { name, records, isExact: records <= MAX_PROBED[name] })
      }
    }
    return selective
      .map(
        (name) => probes.get(state, conditionKey(name, query)) ?? { name, records: MAX_COLLECTED + 1, isExact: false },
      )
      .sort((a, b) => a.records - b.records)
  }
}

interface Hits {
  readonly name: ConditionName
  readonly records: number
  /** False when there are more than the limit of the count. */
  readonly isExact: boolean
}

function isWalkCheaper(query: RecordQuery, counters: Counters, count: number, hits: readonly Hits[]): boolean {
  const [rarest] = hits
  const base = hits.find(({ name }) => name === walkBase(hits.map((hit) => hit.name)))
  const walked = base?.isExact ? base.records : countRecords(counters, query.chainId)
  return ((query.offset + query.limit) * walked) / count <= rarest!.records * COLLECTING_COST
}

/** Returns the condition whose index is walked. */
function walkBase(names: readonly ConditionName[]): ConditionName | undefined {
  return (['prover', 'subject', 'chain'] as const).find((name) => names.includes(name))
}

async function readPageByKeys(session: Session, { keys }: SelectedRecords) {
  const [row] = await session.query(
    `with ${pageSql(
      `select ${KEY_COLUMNS} from unnest($1::text[], $2::text[]) as key (hex, chain)
       join location_record on uid = decode(hex, 'hex') and chain_id = chain::bigint`,
    )}`,
    [keys.map(({ uid }) => uid.slice(2)), keys.map(({ chainId }) => String(chainId))],
  )
  return { ...readPage(row!), isCountExact: true }
}

async function walk(session: Session, query: RecordQuery, names: readonly ConditionName[]) {
  const parameters = new Parameters()
  const base = walkBase(names)
  const conditions = names.map((name) =>
    name === base ? conditionSql(name, query, parameters) : filterSql(name, query, parameters),
  )
  if (query.after !== undefined) conditions.push(afterKeySql(query.after, parameters))
  const [row] = await session.query(
    `with ${pageSql(
      `select ${KEY_COLUMNS} from location_record where ${conditions.join(' and ')} order by ${ORDER} ${limitSql(query, parameters)}`,
    )}`,
    parameters.values,
  )
  return readPage(row!)
}

async function collect(
  session: Session,
  query: RecordQuery,
  names: readonly ConditionName[],
  first: ConditionName,
): Promise<RecordPage> {
  const parameters = new Parameters()
  const tests = names.filter((name) => name !== first).map((name) => filterSql(name, query, parameters))
  const source = matchingRowsSql(first, query, parameters, KEY_COLUMNS, tests)
  const after = query.after === undefined ? '' : `where ${afterKeySql(query.after, parameters)}`
  const [row] = await session.query(
    `with met as materialized (${source}), ${pageSql(
      `select ${KEY_COLUMNS} from met ${after} order by ${ORDER} ${limitSql(query, parameters)}`,
      ', (select count(*) from met)::int as count',
    )}`,
    parameters.values,
  )
  return { ...readPage(row!), count: row!['count'] as number, isCountExact: true }
}

async function countMatching(
  session: Session,
  query: RecordQuery,
  names: readonly ConditionName[],
  first: ConditionName,
): Promise<number> {
  const parameters = new Parameters()
  const tests = names.filter((name) => name !== first).map((name) => filterSql(name, query, parameters))
  const [row] = await session.query(
    `select count(*)::int as count from (${matchingRowsSql(first, query, parameters, '1', tests)}) as met`,
    parameters.values,
  )
  return row!['count'] as number
}

function isPastEnd(count: number, { offset, after }: RecordQuery): boolean {
  return count === 0 || (after === undefined && offset >= count)
}

function emptyPage(count: number): RecordPage {
  return { documents: '', length: 0, count, isCountExact: true }
}
