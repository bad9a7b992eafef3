import type { AppliedRange, LocationRecord, RecordStore, Revocation } from '../store-messages.ts'
import type { BlockId, ChainProgress, ChainSyncState, Quarantined, SyncOperations } from '../sync-messages.ts'
import { cutAfter, extended, surplus } from './ladder.ts'

/** What the synchronisation needs of the store. */
export type SyncStore = Pick<
  RecordStore,
  'apply' | Extract<keyof SyncOperations, 'syncState' | 'known' | 'keptOfBlocks' | 'activeRecords' | 'quarantined'>
>

/** What is to be stored at once. */
export interface Step {
  readonly records: readonly LocationRecord[]
  readonly revocations: readonly Revocation[]
  readonly quarantine: readonly Quarantined[]
  readonly released?: readonly `0x${string}`[]
  /** Everything after this block goes first. */
  readonly rollBackTo?: number
  /** The new checkpoint: the same when left out, none when null. */
  readonly to?: BlockId | null
  /** Blocks to remember. */
  readonly blocks?: readonly BlockId[]
  readonly progress?: ChainProgress
}

/** The stored checkpoint was moved by somebody else: what was read is thrown away. */
export class CheckpointMoved extends Error {
  override readonly name = 'CheckpointMoved'
}

/** Where one chain's records stand: what the store says, kept in memory as long as nobody else writes. */
export interface ChainPosition {
  /** Reads it from the store unless it is known. */
  load(): Promise<ChainSyncState>
  /** Known only between `load` and a failure. */
  readonly state: ChainSyncState
  /**
   * Stores a step if the checkpoint is still the one we know.
   *
   * @throws {CheckpointMoved | StoreFault} and forgets the position: the store may have taken the step or not
   */
  commit(step: Step): Promise<AppliedRange>
}

export function createChainPosition(store: SyncStore, chainId: number): ChainPosition {
  let known: ChainSyncState | undefined
  const require = () => {
    if (known === undefined) throw new RangeError('the position was not loaded')
    return known
  }
  return {
    async load() {
      known ??= await store.syncState({ chainId })
      return known
    },
    get state() {
      return require()
    },
    async commit(step) {
      const before = require()
      known = undefined
      const { to, blocks = [], rollBackTo, progress = {} } = step
      const checkpoint = to === undefined ? before.checkpoint : (to ?? undefined)
      const finalized = Math.max(progress.finalized ?? -1, before.finalized)
      const rungs = extended(rollBackTo === undefined ? before.ladder : cutAfter(before.ladder, rollBackTo), blocks, [])
      const remove = surplus(rungs, finalized)
      const applied = await store.apply({
        chainId,
        records: step.records,
        revocations: step.revocations,
        quarantine: step.quarantine,
        ...(step.released === undefined ? {} : { released: step.released }),
        ...(rollBackTo === undefined ? {} : { rollBackTo }),
        // Also a step that does not move it is refused when somebody else did.
        checkpoint: { from: before.checkpoint?.hash ?? null, to: checkpointOf(checkpoint) },
        ladder: { add: blocks.filter(({ number }) => !remove.includes(number)), remove },
        progress,
      })
      if (!applied.ok) throw new CheckpointMoved('another process moved the checkpoint')
      known = {
        checkpoint,
        ladder: extended(rungs, [], remove),
        finalized: rollBackTo === undefined ? finalized : Math.min(finalized, rollBackTo),
        auditedTo: auditedAfter(before.auditedTo, step),
      }
      return applied
    },
  }
}

function checkpointOf(block: BlockId | undefined): { blockNumber: number; blockHash: `0x${string}` } | null {
  return block === undefined ? null : { blockNumber: block.number, blockHash: block.hash }
}

function auditedAfter(before: number, { rollBackTo, progress }: Step): number {
  return progress?.auditedTo ?? (rollBackTo === undefined ? before : Math.min(before, rollBackTo))
}
