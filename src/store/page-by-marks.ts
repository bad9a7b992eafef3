import type { RecordPage, RecordQuery } from '../store-messages.ts'
import type { Session } from './database.ts'
import { ALL_CHAINS } from './page-marks.ts'
import { afterText, conditionText, Parameters } from './record-conditions.ts'
import { KEY, limitText, ORDER, pageOf, pageText } from './record-page.ts'

/** Beyond this offset a mark is looked for. */
const SHALLOW_OFFSET = 2000

/** A page of all records or of those of a chain: the count is kept, and a far offset begins at a mark near by. */
export async function pageByMarks(session: Session, query: RecordQuery): Promise<RecordPage> {
  const parameters = new Parameters()
  const ofChain = query.chainId === undefined ? '' : `where ${conditionText('chain', query, parameters)}`
  const total = `with total as (select coalesce(sum(records), 0)::bigint as records from record_counter ${ofChain})`
  const conditions = query.chainId === undefined ? [] : [conditionText('chain', query, parameters)]
  if (query.after !== undefined) conditions.push(afterText(query.after, parameters))
  let start = total
  let limit: string
  if (query.after !== undefined || query.offset <= SHALLOW_OFFSET) {
    limit = limitText(query, parameters)
  } else {
    const offset = parameters.add(query.offset, 'bigint')
    start += `, mark as (
      select rank, block_time, uid, chain_id from page_mark, total
      where scope = ${parameters.add(query.chainId ?? ALL_CHAINS, 'bigint')} and rank >= total.records - ${offset} order by rank limit 1
    )`
    // Without a mark, the highest place there is.
    conditions.push(`(block_time, uid, chain_id) <= (
      coalesce((select block_time from mark), 9223372036854775807),
      coalesce((select uid from mark), ''::bytea), coalesce((select chain_id from mark), 0))`)
    limit =
      `limit ${parameters.add(query.limit, 'bigint')} ` +
      `offset coalesce((select mark.rank - (total.records - ${offset}) from mark, total), ${offset})`
  }
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  const [row] = await session.query(
    `${start}, ${pageText(
      `select ${KEY} from location_record ${where} order by ${ORDER} ${limit}`,
      ', (select records from total)::int as count',
    )}`,
    parameters.values,
  )
  return { ...pageOf(row!), count: row!['count'] as number, isCountExact: true }
}
