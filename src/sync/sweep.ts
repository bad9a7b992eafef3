import type { Hex } from '../wire/values.ts'
import type { ChainPosition, SyncStore } from './chain-position.ts'
import type { ChainReader, EasLog } from './chain-reader.ts'
import type { AttestationReader } from './eas-attestations.ts'
import { findLogAt } from './gather.ts'
import type { LogWitnesses } from './log-witnesses.ts'
import type { RpcClient } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

interface SweepParts {
  readonly chainId: number
  readonly startBlock: number
  readonly rpcs: RpcList
  readonly reader: ChainReader
  readonly attestations: AttestationReader
  readonly witnesses: LogWitnesses
  readonly position: ChainPosition
  readonly store: Pick<SyncStore, 'activeRecords'>
  readonly onProblem: (message: string) => void
}

/** The result of one piece of a sweep. `next` is where the next piece begins; null at the end. */
interface SweepPiece {
  readonly checked: number
  readonly revoked: number
  readonly next: Hex | null
}

const RECORDS_PER_PIECE = 200

/** Compares all records that are not revoked with the contract, piece by piece, to find revocations that were missed. */
export class Sweep {
  readonly #parts: SweepParts

  constructor(parts: SweepParts) {
    this.#parts = parts
  }

  /**
   * Compares the next piece and stores missed revocations.
   *
   * @param after `next` of the previous piece; null starts a sweep
   * @throws {RpcError} when no endpoint responds; {StoreFault | CheckpointMoved}
   */
  async piece(after: Hex | null): Promise<SweepPiece> {
    const { chainId, rpcs, position, store, witnesses, onProblem } = this.#parts
    const { checkpoint } = await position.load()
    const rows = await store.activeRecords({ chainId, after, limit: RECORDS_PER_PIECE })
    if (rows.length === 0 || checkpoint === undefined) return { checked: 0, revoked: 0, next: null }
    const claimed = await rpcs.use((rpc) => this.#findRevocations(rpc, rows, checkpoint.number))
    // The audit does not come back to old blocks, so one endpoint is not enough.
    const verdicts = await witnesses.judge(claimed)
    const revocations = claimed.filter((_, index) => verdicts[index] === 'true')
    const revoked = revocations.length === 0 ? 0 : (await position.commit({ revocations })).revoked
    if (revoked > 0) onProblem(`${revoked} revocations had been missed and are stored now`)
    return { checked: rows.length, revoked, next: rows.length < RECORDS_PER_PIECE ? null : rows.at(-1)!.uid }
  }

  async #findRevocations(
    rpc: RpcClient,
    rows: readonly { readonly uid: Hex; readonly blockNumber: number }[],
    last: number,
  ): Promise<EasLog[]> {
    const { startBlock, reader, attestations, position, onProblem } = this.#parts
    const reads = await attestations.read(
      rpc,
      rows.map(({ uid }) => uid),
    )
    const missing = reads.filter(({ state }) => state === 'missing').length
    // Records that are not final may leave the chain at any time; the next pass then removes them.
    const isFinal = rows.every(({ blockNumber }) => blockNumber <= position.state.finalized)
    if (missing > 0 && isFinal) onProblem(`an endpoint does not know ${missing} of our records`)
    const revocations: EasLog[] = []
    for (const read of reads) {
      if (read.state !== 'ok' || read.revokedSeconds === 0) continue
      const { uid, revokedSeconds } = read
      const log = await findLogAt(rpc, reader, { kind: 'revoked', uid }, revokedSeconds, startBlock, last)
      // Otherwise the revocation is later than the checkpoint and will be read with its log.
      if (log !== undefined) revocations.push(log)
    }
    return revocations
  }
}
