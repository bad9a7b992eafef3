import type { RecordPage, RecordQuery } from '../../wire/store-messages.ts'
import type { Database, Session } from '../database.ts'
import type { SelectedRecords } from './columns.ts'
import { afterKeySql, conditionNames, conditionSql, Parameters } from './conditions.ts'
import type { RecordMemory } from './memory.ts'
import { KEY_COLUMNS, limitSql, ORDER, pageSql, readPage } from './page.ts'
import { pageByMarks } from './page-marks.ts'

/**
 * Lists records. Three plans return the same page:
 *
 * - *marks*: for lists without a filter or with a chain only. The count is stored, and a far offset starts at a nearby mark;
 * - *columns*: columns in memory select the records, and only their documents are read;
 * - *collect*: while the columns load, or when there are more records than they may hold. The database reads, counts and sorts
 *   all matching rows.
 *
 * @param memory if undefined, the database selects all records
 */
export function listRecords(
  database: Database,
  memory: RecordMemory | undefined,
  query: RecordQuery,
): Promise<RecordPage> {
  if (conditionNames(query).every((name) => name === 'chain')) return pageByMarks(database.reads, query)
  return database.readTransaction(async (session) => {
    const selected = await memory?.select(session, query)
    return selected === undefined ? collect(session, query) : readSelected(session, selected)
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
 */
async function collect(session: Session, query: RecordQuery): Promise<RecordPage> {
  const parameters = new Parameters()
  const conditions = conditionNames(query).map((name) => conditionSql(name, query, parameters))
  const after = query.after === undefined ? '' : `where ${afterKeySql(query.after, parameters)}`
  const [row] = await session.query(
    `with matching as materialized (select ${KEY_COLUMNS} from location_record where ${conditions.join(' and ')}), ${pageSql(
      `select ${KEY_COLUMNS} from matching ${after} order by ${ORDER} ${limitSql(query, parameters)}`,
      ', (select count(*) from matching)::int as count',
    )}`,
    parameters.values,
  )
  return { ...readPage(row!), count: row!['count'] as number }
}
