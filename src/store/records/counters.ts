import type { RecordStats } from '../../wire/store-messages.ts'
import type { Session } from '../database.ts'
import { JOURNAL_ROW_SQL } from './changes.ts'

interface ChainCounter {
  readonly chainId: number
  readonly records: number
  readonly revoked: number
}

/** The number of records by chain. */
export interface Counters {
  readonly total: number
  readonly chains: readonly ChainCounter[]
  /**
   * Changes with every write, so that a cached page is current while the tag is the same. Contains the sum of the version
   * counters and the newest journal row, because after a failover other records may have the same sum.
   */
  readonly versionTag: string
}

export async function readCounters(session: Session): Promise<Counters> {
  const rows = await session.query(
    `select chain_id::text as chain, records::int, revoked::int, version::int,
       (select concat_ws(' ', epoch, (select concat_ws(' ', number, ${JOURNAL_ROW_SQL}) from record_change order by number desc limit 1))
        from record_journal) as journal_position
     from record_counter order by chain_id`,
  )
  const chains = rows.map((row) => ({
    chainId: Number(row['chain']),
    records: row['records'] as number,
    revoked: row['revoked'] as number,
  }))
  const version = rows.reduce((sum, row) => sum + (row['version'] as number), 0)
  return {
    total: chains.reduce((sum, { records }) => sum + records, 0),
    chains,
    versionTag: `${version} ${rows[0]?.['journal_position'] ?? ''}`,
  }
}

const DAY_SECONDS = 86_400
const WINDOWS = [DAY_SECONDS, 7 * DAY_SECONDS, 30 * DAY_SECONDS] as const

export async function readStats(session: Session, nowSeconds: number): Promise<RecordStats> {
  const { chains, total } = await readCounters(session)
  const recent: number[] = []
  for (const window of WINDOWS) recent.push(await countSince(session, total, nowSeconds - window))
  return { byChain: chains, recent: recent as [number, number, number] }
}

/** Counts records whose block time is at least `sinceSeconds`. Counts rows only up to the next page mark, whose rank gives the rest. */
async function countSince(session: Session, total: number, sinceSeconds: number): Promise<number> {
  const [row] = await session.query(
    `with mark as (
       select rank, block_time, uid, chain_id from page_mark where scope = 0 and block_time >= $1::bigint order by rank limit 1
     ) select (select rank from mark)::text as rank, (
       select count(*) from location_record where block_time >= $1::bigint and (block_time, uid, chain_id) < (
         coalesce((select block_time from mark), 9223372036854775807),
         coalesce((select uid from mark), ''::bytea), coalesce((select chain_id from mark), 0))
     )::int as before`,
    [sinceSeconds],
  )
  const rank = row!['rank'] as string | null
  return (row!['before'] as number) + (rank === null ? 0 : total - Number(rank) + 1)
}
