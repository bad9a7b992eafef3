import { type EncodedPage, type RecordQuery, StoreFault } from '../../wire/store-messages.ts'
import type { Session } from '../database.ts'
import { afterKeySql, conditionSql, Parameters } from './conditions.ts'
import { KEY_COLUMNS, limitSql, ORDER, pageSql, readPage } from './page.ts'

/** Records between two marks: the most that a page far from either end has to skip. */
const MARK_DISTANCE = 1000
/** Scope of the marks in the list of all chains. */
export const ALL_CHAINS = 0
/** Advisory lock: an arbitrary number that other programs on the same server are unlikely to use. */
const MARK_LOCK = 5_831_909

/**
 * Makes writers of marks wait for each other until their transactions end. Without the lock, one writer would set marks that
 * miss the uncommitted records of another, and the other could not see the marks that it has to drop.
 */
export async function lockMarks(session: Session): Promise<void> {
  await session.query('select pg_advisory_xact_lock($1)', [MARK_LOCK])
}

/**
 * Deletes the marks that a change made wrong: those at the changed record and all newer ones. The others keep their rank,
 * because ranks count from the oldest record.
 *
 * @param oldestSeconds block time of the oldest record that was added or removed
 */
export async function dropMarks(session: Session, chainId: number, oldestSeconds: number): Promise<void> {
  await session.query('delete from page_mark where scope in ($1, $2) and block_time >= $3', [
    ALL_CHAINS,
    chainId,
    oldestSeconds,
  ])
}

/**
 * Sets marks after the last existing one.
 *
 * @param maxMarks limit of one call; the next call sets the remaining marks
 * @returns the number of marks that were set
 */
export async function extendMarks(session: Session, scope: number, maxMarks: number): Promise<number> {
  const [last] = await session.query(
    `select rank::text as last_rank, block_time::text as seconds, encode(uid, 'hex') as hex, chain_id::text as chain from page_mark
     where scope = $1 order by rank desc limit 1`,
    [scope],
  )
  const [rank, ...key] =
    last === undefined
      ? ['0', '-1', '', '-1']
      : ['last_rank', 'seconds', 'hex', 'chain'].map((name) => last[name] as string)
  const rows = await session.query(
    `insert into page_mark (scope, rank, block_time, uid, chain_id)
     select $1::bigint, $2::bigint + position, block_time, uid, chain_id from (
       select row_number() over (order by block_time, uid, chain_id) as position, block_time, uid, chain_id from (
         select block_time, uid, chain_id from location_record
         where (block_time, uid, chain_id) > ($3::bigint, decode($4, 'hex'), $5::bigint)
           and ${scope === ALL_CHAINS ? '$1::bigint = 0' : 'chain_id = $1::bigint'}
         order by block_time, uid, chain_id limit $6::bigint
       ) as following
     ) as numbered where position % $7::bigint = 0 returning 1 as marked`,
    [scope, rank!, key[0]!, key[1]!, key[2]!, maxMarks * MARK_DISTANCE, MARK_DISTANCE],
  )
  return rows.length
}

/** Larger offsets start at a mark. */
const SHALLOW_OFFSET = 2000

/** Reads a page of all records or of one chain's. The count is stored, and a far offset starts at a nearby mark. */
export async function pageByMarks(session: Session, query: RecordQuery): Promise<EncodedPage> {
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
  const rows = await session.query(
    `${start}, ${pageSql(
      `select ${KEY_COLUMNS} from location_record ${where} order by ${ORDER} ${limit}`,
      query,
      ', (select records from total)::int as count',
    )}`,
    parameters.values,
  )
  const page = readPage(rows, query)
  const count = rows[0]!['count'] as number
  const expected = Math.min(query.limit, count - query.offset)
  // The count is stored. A list that ends before it has lost a part of its table.
  if (query.after === undefined && page.next === undefined && page.length < expected)
    throw new StoreFault(
      'damaged',
      `a page of the table location_record is missing: ${page.length} of ${expected} records were found`,
    )
  return { ...page, count }
}
