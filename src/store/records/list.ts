import type { RecordPage, RecordQuery } from '../../wire/store-messages.ts'
import type { Database, Session } from '../database.ts'
import type { SelectedRecords } from './columns.ts'
import { afterKeySql, conditionNames, conditionSql, filterSql, Parameters } from './conditions.ts'
import type { RecordMemory } from './memory.ts'
import { KEY_COLUMNS, limitSql, ORDER, pageSql, readPage } from './page.ts'
import { pageByMarks } from './page-marks.ts'

/** Some tens of milliseconds, sorted or walked. */
const MAX_ROWS = 50_000

/**
 * Lists records. Four plans return the same page:
 *
 * - *marks*: for lists without a filter or with a chain only. The count is stored, and a far offset starts at a nearby mark;
 * - *columns*: columns in memory select the records, and only their documents are read;
 * - *collect*: while the columns load, when there are more records than they may hold, or for conditions that they do not know.
 *   The database reads, counts and sorts all matching rows;
 * - *walk*: before *collect* when there are many matches. The database counts them and reads the list in its order.
 *
 * @param memory if undefined, the database selects all records
 * @param maxRows the most matches that are sorted before a walk is tried, and the most records that a walk reads
 */
export function listRecords(
  database: Database,
  memory: RecordMemory | undefined,
  query: RecordQuery,
  maxRows = MAX_ROWS,
): Promise<RecordPage> {
  if (conditionNames(query).every((name) => name === 'chain')) return pageByMarks(database.reads, query)
  return database.readTransaction(async (session) => {
    // Inside the transaction, because the keys and the documents have to be of one snapshot: a rollback between the two would leave
    // the page with fewer documents than keys. A wait for other queries of the memory does not make that snapshot old, because it
    // begins with the first statement.
    const selected = query.filter === undefined ? await memory?.select(session, query) : undefined
    if (selected !== undefined) return readSelected(session, selected)
    const isNear = query.after !== undefined || query.offset + query.limit <= maxRows / 2
    const page = isNear
      ? ((await collect(session, query, maxRows)) ?? (await walk(session, query, maxRows)))
      : undefined
    return page ?? (await collect(session, query))!
  })
}

async function readSelected(session: Session, { count, keys }: SelectedRecords): Promise<RecordPage> {
  if (keys.length === 0) return { documents: '', length: 0, count }
  const [row] = await session.query(
    `with ${pageSql(
      `select ${KEY_COLUMNS} from unnest($1::text[], $2::text[]) as key (hex, chain)
       join location_record on uid = decode(hex, 'hex') and chain_id = chain::bigint`,
    )}`,
    [keys.map(({ uid }) => uid.slice(2)), keys.map(({ chainId }) => String(chainId))],
  )
  return { ...readPage(row!), count }
}

/**
 * Collects all matches, then counts them and reads a page. PostgreSQL cannot estimate how many records a box holds: with an
 * order and a limit in the same query, it might scan the whole list for a few matches. `materialized` prevents that plan.
 *
 * @returns undefined if there are more matches than `maxMatches`
 */
async function collect(session: Session, query: RecordQuery, maxMatches?: number): Promise<RecordPage | undefined> {
  const parameters = new Parameters()
  const conditions = conditionNames(query).map((name) => conditionSql(name, query, parameters))
  const after = query.after === undefined ? '' : `and ${afterKeySql(query.after, parameters)}`
  const [row] = await session.query(
    `with matching as materialized (
      select ${KEY_COLUMNS} from location_record where ${conditions.join(' and ')}
      limit ${maxMatches === undefined ? 'null' : maxMatches + 1}
    ), found as (select count(*)::int as count from matching), ${pageSql(
      `select ${KEY_COLUMNS} from matching where ${maxMatches === undefined ? 'true' : `(select count from found) <= ${maxMatches}`} ${after}
       order by ${ORDER} ${limitSql(query, parameters)}`,
      ', (select count from found)',
    )}`,
    parameters.values,
  )
  const count = row!['count'] as number
  return maxMatches !== undefined && count > maxMatches ? undefined : { ...readPage(row!), count }
}

/**
 * Reads the newest records until the matching ones fill the page, and counts the other matches without sorting them.
 *
 * @returns undefined if the page is not full after `maxRows` records
 */
async function walk(session: Session, query: RecordQuery, maxRows: number): Promise<RecordPage | undefined> {
  const parameters = new Parameters()
  const names = conditionNames(query)
  const ordered = (['prover', 'subject', 'chain'] as const).find((name) => names.includes(name))
  const starts = ordered === undefined ? ['true'] : [conditionSql(ordered, query, parameters)]
  if (query.after !== undefined) starts.push(afterKeySql(query.after, parameters))
  const tests = names.filter((name) => name !== ordered).map((name) => filterSql(name, query, parameters))
  const matches = names.map((name) => conditionSql(name, query, parameters))
  const [row] = await session.query(
    `with ${pageSql(
      `select ${KEY_COLUMNS} from (
         select * from location_record where ${starts.join(' and ')} order by ${ORDER} limit ${maxRows}
       ) as newest where ${['true', ...tests].join(' and ')} order by ${ORDER} ${limitSql(query, parameters)}`,
      `, case when length = ${parameters.add(query.limit, 'bigint')} then
         (select count(*)::int from location_record where ${matches.join(' and ')}) end as count`,
    )}`,
    parameters.values,
  )
  const count = row!['count'] as number | null
  return count === null ? undefined : { ...readPage(row!), count }
}
