import { LruCache } from '../../base/weighed-map.ts'
import type { Session } from '../database.ts'
import { JOURNAL_ROW_SQL } from './changes.ts'

interface ChainCounter {
  readonly chainId: number
  readonly records: number
  readonly revoked: number
}

/** Identifies a state of the records, so that cached values can be matched with it. */
export interface RecordState {
  /** Grows with every write. */
  readonly version: number
  /** The newest journal row. Needed because another state may have the same version after a failover. */
  readonly journalPosition: string
}

/** The number of records by chain, and the state of the records that it is true of. */
export interface Counters extends RecordState {
  readonly total: number
  readonly chains: readonly ChainCounter[]
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
  return {
    version: rows.reduce((sum, row) => sum + (row['version'] as number), 0),
    journalPosition: (rows[0]?.['journal_position'] ?? '') as string,
    total: chains.reduce((sum, { records }) => sum + records, 0),
    chains,
  }
}

export function countRecords({ total, chains }: Counters, chainId: number | undefined): number {
  return chainId === undefined ? total : (chains.find((chain) => chain.chainId === chainId)?.records ?? 0)
}

/**
 * A bounded cache of values that belong to one state of the records. It is cleared when the state changes, so it never returns
 * outdated values.
 */
export class StateMemory<T> {
  readonly #entries: LruCache<T>
  #state: RecordState = { version: -1, journalPosition: '' }

  /** @param weightOf weight of a value in the unit of `maxWeight`; by default each entry weighs 1 */
  constructor(maxWeight: number, weightOf?: (value: T) => number) {
    this.#entries = new LruCache(maxWeight, weightOf)
  }

  get(state: RecordState, key: string): T | undefined {
    return this.#isSame(state) ? this.#entries.get(key) : undefined
  }

  set(state: RecordState, key: string, value: T): void {
    // A slow query may end with an older state than the one cached meanwhile.
    if (state.version < this.#state.version) return
    if (!this.#isSame(state)) {
      this.#entries.clear()
      this.#state = { version: state.version, journalPosition: state.journalPosition }
    }
    this.#entries.set(key, value)
  }

  #isSame({ version, journalPosition }: RecordState): boolean {
    return version === this.#state.version && journalPosition === this.#state.journalPosition
  }
}
