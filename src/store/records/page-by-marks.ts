import type { RecordPage, RecordQuery } from '../../wire/store-messages.ts'
import type { Session } from '../database.ts'
import { afterKeySql, conditionSql, Parameters } from './conditions.ts'
import { KEY_COLUMNS, limitSql, ORDER, pageSql, readPage } from './page.ts'
import { ALL_CHAINS } from './page-marks.ts'

/** Larger offsets start at a mark. */
const SHALLOW_OFFSET = 2000

/** Reads a page of all records or of one chain's. The count is stored, and a far offset starts at a nearby mark. */
export async function pageByMarks(session: Session, query: RecordQuery): Promise<RecordPage> {
  const parameters = new Parameters()
  const chainFilter = query.chainId === undefined ? '' : `where ${conditionSql('chain', query, parameters)}`
  const total = `with total as (select coalesce(sum(records), 0)::bigint as records from record_counter ${chainFilter})`
  const conditions = query.chainId === undefined ? [] : [conditionSql('chain', query, parameters)]
  if (query.after !== undefined) conditions.push(afterKeySql(query.after, parameters))
  let start = total
  let limit: string
  if (query.after !== undefined || query.offset <= SHALLOW_OFFSET) {
    limit = limitSql(query, parameters)
  } else {
    const offset = parameters.add(query.offset, 'bigint')
    start += `, mark as (
      select rank, block_time, uid, chain_id from page_mark, total
      where scope = ${parameters.add(query.chainId ?? ALL_CHAINS, 'bigint')} and rank >= total.records - ${offset} order by rank limit 1
    )`
    // Without a mark, start at the highest possible key.
    conditions.push(`(block_time, uid, chain_id) <= (
      coalesce((select block_time from mark), 9223372036854775807),
      coalesce((select uid from mark), ''::bytea), coalesce((select chain_id from mark), 0))`)
    limit =
      `limit ${parameters.add(query.limit, 'bigint')} ` +
      `offset coalesce((select mark.rank - (total.records - ${offset}) from mark, total), ${offset})`
  }
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  const [row] = await session.query(
    `${start}, ${pageSql(
      `select ${KEY_COLUMNS} from location_record ${where} order by ${ORDER} ${limit}`,
      ', (select records from total)::int as count',
    )}`,
    parameters.values,
  )
  return { ...readPage(row!), count: row!['count'] as number, isCountExact: true }
}
