import type { RecordPage, RecordQuery } from '../store-messages.ts'
import { type Counters, type RecordState, recordsOf } from './counters.ts'
import type { Database, Session } from './database.ts'
import { pageByMarks } from './page-by-marks.ts'
import type { SelectedRecords } from './record-columns.ts'
import {
  afterText,
  type ConditionName,
  conditionKey,
  conditionNames,
  conditionText,
  Parameters,
  sourceText,
  testText,
} from './record-conditions.ts'
import type { RecordMemory } from './record-memory.ts'
import { KEY, limitText, ORDER, pageOf, pageText } from './record-page.ts'
import { StateMemory } from './state-memory.ts'

/** Records that are collected and sorted rather than walked past: about what a page may cost. */
const MAX_COLLECTED = 20_000
/** Records of an address are counted in its index alone, so further. */
const MAX_PROBED = { prover: 200_000, subject: 200_000, event: 100_000, bbox: MAX_COLLECTED, chain: 0 } as const
/** What it costs to collect and sort a record, in records walked past. */
const COLLECTING_COST = 3
const MAX_COUNTS = 20_000
/** UTF-16 units of pages that are kept as they were answered. */
const MAX_PAGE_UNITS = 16 * 1_048_576

/**
 * Lists records. Four plans give the same page:
 *
 * - *columns* in memory say which records it has, and their documents are read; while they cannot, the other plans do
 * - *marks*, where nothing or a chain alone is asked for: the count is kept, and a far offset begins at a mark near by;
 * - *collect*: the rows of the condition that fewest records meet, sorted in memory. The count comes with them;
 * - *walk* along the index in the order of the list, past the rows that do not match: for conditions that many meet.
 *
 * The planner cannot choose between the last two by itself, for it does not know how many records a box holds; so the
 * rows are counted first, up to a limit. Counts and pages are kept until a record changes or becomes final.
 *
 * @param memory none: the database decides alone
 * @param readState the counters as they are now; their state says whether what was kept still holds
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
    const kept = pages.get(counters, key)
    if (kept !== undefined) return kept
    const names = conditionNames(query)
    const page = names.every((name) => name === 'chain')
      ? await pageByMarks(database.reads, query)
      : await database.readTransaction((session) => pageOfMatching(session, query, names, counters))
    pages.set(counters, key, page)
    return page
  }

  async function pageOfMatching(
    session: Session,
    query: RecordQuery,
    names: readonly ConditionName[],
    counters: Counters,
  ): Promise<RecordPage> {
    const selected = await memory?.select(session, query)
    if (selected !== undefined) {
      const page = selected.keys.length === 0 ? emptyPage(selected.count) : await pageOfKeys(session, selected)
      return { ...page, count: selected.count }
    }
    const key = JSON.stringify(names.map((name) => conditionKey(name, query)))
    let count = counts.get(counters, key)
    if (count !== undefined && isBeyond(count, query)) return emptyPage(count)
    const hits = await probe(session, query, names, counters)
    const [rarest] = hits
    if (names.length === 1 && rarest!.isExact) count = rarest!.records
    if (count === undefined && rarest!.records > MAX_COLLECTED) {
      count = await countMatching(session, query, names, rarest!.name)
      counts.set(counters, key, count)
    }
    if (count !== undefined && isBeyond(count, query)) return emptyPage(count)
    if (count !== undefined && isWalkCheaper(query, counters, count, hits)) {
      return { ...(await walk(session, query, names)), count, isCountExact: true }
    }
    const page = await collect(session, query, names, rarest!.name)
    counts.set(counters, key, page.count)
    return page
  }

  /** How many records meet each condition alone, counted up to a limit; the rarest first. */
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
        const source = sourceText(name, query, parameters, '1')
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
  /** False when there are more than were counted. */
  readonly isExact: boolean
}

function isWalkCheaper(query: RecordQuery, counters: Counters, count: number, hits: readonly Hits[]): boolean {
  const [rarest] = hits
  const base = hits.find(({ name }) => name === walkBase(hits.map((hit) => hit.name)))
  const walked = base?.isExact ? base.records : recordsOf(counters, query.chainId)
  return ((query.offset + query.limit) * walked) / count <= rarest!.records * COLLECTING_COST
}

/** Whose index is walked. */
function walkBase(names: readonly ConditionName[]): ConditionName | undefined {
  return (['prover', 'subject', 'chain'] as const).find((name) => names.includes(name))
}

async function pageOfKeys(session: Session, { keys }: SelectedRecords) {
  const [row] = await session.query(
    `with ${pageText(
      `select ${KEY} from unnest($1::text[], $2::text[]) as key (hex, chain)
       join location_record on uid = decode(hex, 'hex') and chain_id = chain::bigint`,
    )}`,
    [keys.map(({ uid }) => uid.slice(2)), keys.map(({ chainId }) => String(chainId))],
  )
  return { ...pageOf(row!), isCountExact: true }
}

async function walk(session: Session, query: RecordQuery, names: readonly ConditionName[]) {
  const parameters = new Parameters()
  const base = walkBase(names)
  const conditions = names.map((name) =>
    name === base ? conditionText(name, query, parameters) : testText(name, query, parameters),
  )
  if (query.after !== undefined) conditions.push(afterText(query.after, parameters))
  const [row] = await session.query(
    `with ${pageText(
      `select ${KEY} from location_record where ${conditions.join(' and ')} order by ${ORDER} ${limitText(query, parameters)}`,
    )}`,
    parameters.values,
  )
  return pageOf(row!)
}

async function collect(
  session: Session,
  query: RecordQuery,
  names: readonly ConditionName[],
  first: ConditionName,
): Promise<RecordPage> {
  const parameters = new Parameters()
  const tests = names.filter((name) => name !== first).map((name) => testText(name, query, parameters))
  const source = sourceText(first, query, parameters, KEY, tests)
  const after = query.after === undefined ? '' : `where ${afterText(query.after, parameters)}`
  const [row] = await session.query(
    `with met as materialized (${source}), ${pageText(
      `select ${KEY} from met ${after} order by ${ORDER} ${limitText(query, parameters)}`,
      ', (select count(*) from met)::int as count',
    )}`,
    parameters.values,
  )
  return { ...pageOf(row!), count: row!['count'] as number, isCountExact: true }
}

async function countMatching(
  session: Session,
  query: RecordQuery,
  names: readonly ConditionName[],
  first: ConditionName,
): Promise<number> {
  const parameters = new Parameters()
  const tests = names.filter((name) => name !== first).map((name) => testText(name, query, parameters))
  const [row] = await session.query(
    `select count(*)::int as count from (${sourceText(first, query, parameters, '1', tests)}) as met`,
    parameters.values,
  )
  return row!['count'] as number
}

function isBeyond(count: number, { offset, after }: RecordQuery): boolean {
  return count === 0 || (after === undefined && offset >= count)
}

function emptyPage(count: number): RecordPage {
  return { documents: '', length: 0, count, isCountExact: true }
}
