import type { Session } from './database.ts'
import { ROW_TEXT } from './record-changes.ts'

export interface ChainCounter {
  readonly chainId: number
  readonly records: number
  readonly revoked: number
}

/** Which state of the records something was found out under. */
export interface RecordState {
  /** Grows with every write. */
  readonly version: number
  /** Where the journal stood: after a failover another state may have the same version. */
  readonly place: string
}

/** How many records there are, by chain, and which state of the records that is true of. */
export interface Counters extends RecordState {
  readonly total: number
  readonly chains: readonly ChainCounter[]
}

export async function readCounters(session: Session): Promise<Counters> {
  const rows = await session.query(
    `select chain_id::text as chain, records::int, revoked::int, version::int,
       (select concat_ws(' ', epoch, (select concat_ws(' ', number, ${ROW_TEXT}) from record_change order by number desc limit 1))
        from record_journal) as place
     from record_counter order by chain_id`,
  )
  const chains = rows.map((row) => ({
    chainId: Number(row['chain']),
    records: row['records'] as number,
    revoked: row['revoked'] as number,
  }))
  return {
    version: rows.reduce((sum, row) => sum + (row['version'] as number), 0),
    place: (rows[0]?.['place'] ?? '') as string,
    total: chains.reduce((sum, { records }) => sum + records, 0),
    chains,
  }
}

export function recordsOf({ total, chains }: Counters, chainId: number | undefined): number {
  return chainId === undefined ? total : (chains.find((chain) => chain.chainId === chainId)?.records ?? 0)
}
