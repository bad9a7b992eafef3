import type { Hex } from '../messages.ts'
import type { Revocation } from '../store-messages.ts'
import type { ChainPosition, SyncStore } from './chain-position.ts'
import type { ChainReader } from './chain-reader.ts'
import type { AttestationReader } from './eas-attestations.ts'
import { BLOCKS_OF_A_SECOND, firstBlockAt } from './gather.ts'
import type { RpcClient } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

export interface SweepParts {
  readonly chainId: number
  readonly startBlock: number
  readonly rpcs: RpcList
  readonly reader: ChainReader
  readonly attestations: AttestationReader
  readonly position: ChainPosition
  readonly store: Pick<SyncStore, 'activeRecords'>
  readonly onProblem: (message: string) => void
}

/** What a piece of the sweep found, and where the next one begins; null at the end. */
export interface SweepPiece {
  readonly checked: number
  readonly revoked: number
  readonly next: Hex | null
}

/** Compares records that are valid with the contract, all of them, piece by piece. */
export interface Sweep {
  /**
   * @param after where the piece before ended; null begins
   * @throws {RpcError} when no endpoint answers; {StoreFault | CheckpointMoved}
   */
  piece(after: Hex | null): Promise<SweepPiece>
}

const RECORDS_PER_PIECE = 200

export function createSweep(parts: SweepParts): Sweep {
  const { chainId, startBlock, rpcs, reader, attestations, position, store, onProblem } = parts
  return {
    async piece(after) {
      const { checkpoint } = await position.load()
      const rows = await store.activeRecords({ chainId, after, limit: RECORDS_PER_PIECE })
      if (rows.length === 0 || checkpoint === undefined) return { checked: 0, revoked: 0, next: null }
      const revocations = await rpcs.use((rpc) => findRevocations(rpc, rows, checkpoint.number))
      const applied =
        revocations.length === 0 ? undefined : await position.commit({ records: [], revocations, quarantine: [] })
      const revoked = applied?.revoked ?? 0
      if (revoked > 0) onProblem(`${revoked} revocations had been missed and came in now`)
      return { checked: rows.length, revoked, next: rows.length < RECORDS_PER_PIECE ? null : rows.at(-1)!.uid }
    },
  }

  async function findRevocations(
    rpc: RpcClient,
    rows: readonly { readonly uid: Hex; readonly blockNumber: number }[],
    last: number,
  ): Promise<Revocation[]> {
    const reads = await attestations.read(
      rpc,
      rows.map(({ uid }) => uid),
    )
    const missing = reads.filter(({ state }) => state === 'missing').length
    // What is not final may leave the chain at any time, and then the next pass takes it back.
    const isFinal = rows.every(({ blockNumber }) => blockNumber <= position.state.finalized)
    if (missing > 0 && isFinal) onProblem(`an endpoint does not know ${missing} of our records`)
    const found: Revocation[] = []
    for (const read of reads) {
      if (read.state !== 'ok' || read.revokedSeconds === 0) continue
      const { uid, revokedSeconds } = read
      const first = await firstBlockAt(rpc, reader, revokedSeconds, startBlock, last)
      // Later than what was read: it comes with its log.
      if (first === undefined) continue
      const end = Math.min(first + BLOCKS_OF_A_SECOND - 1, last)
      const { logs } = await reader.range(rpc, first, end, [])
      const log = logs.find((candidate) => candidate.kind === 'revoked' && candidate.uid === uid)
      if (log !== undefined) found.push({ uid, blockNumber: log.blockNumber })
    }
    return found
  }
}
