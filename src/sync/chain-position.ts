import type { AppliedRange, LocationRecord, RecordStore, Revocation } from '../wire/store-messages.ts'
import type {
  BlockId,
  ChainProgress,
  ChainSyncState,
  Quarantined,
  StoredLog,
  SyncOperations,
} from '../wire/sync-messages.ts'

/** Final blocks are spaced by an eighth of their distance from finality, so a hundred of them span any chain. */
const SPACING = 8

/**
 * Blocks of one chain that were read, newest first: every block that is not final, and of the final ones the fewer the older they
 * are. So a reorganisation of any depth has a common ancestor to roll back to.
 */
export type KnownBlocks = readonly BlockId[]

/** Returns the numbers of the known blocks that are no longer needed. The newest and the oldest block always stay. */
export function findSurplusBlocks(knownBlocks: KnownBlocks, finalized: number): number[] {
  const removed: number[] = []
  let lastKept: number | undefined
  for (const [index, { number }] of knownBlocks.entries()) {
    if (number > finalized || index === 0 || index === knownBlocks.length - 1) {
      lastKept = number
      continue
    }
    const gap = (finalized - number) / SPACING
    if (lastKept !== undefined && lastKept - number < gap) removed.push(number)
    else lastKept = number
  }
  return removed
}

/** Returns the known blocks after adding and removing blocks. An added block replaces one of the same number. */
export function updateKnownBlocks(
  knownBlocks: KnownBlocks,
  add: readonly BlockId[],
  remove: readonly number[],
): KnownBlocks {
  const removed = new Set([...remove, ...add.map(({ number }) => number)])
  const updated = [...knownBlocks.filter(({ number }) => !removed.has(number)), ...add]
  return updated.sort((a, b) => b.number - a.number)
}

/** The operations of the store that the synchronisation uses. */
export type SyncStore = Pick<
  RecordStore,
  'apply' | Extract<keyof SyncOperations, 'syncState' | 'known' | 'storedLogs' | 'activeRecords' | 'quarantined'>
>

/** Changes that are stored in one transaction. */
interface PositionStep {
  readonly records?: readonly LocationRecord[]
  readonly revocations?: readonly Revocation[]
  readonly quarantine?: readonly Quarantined[]
  readonly released?: readonly `0x${string}`[]
  /** Stored logs that are not on the chain. They are removed first. */
  readonly removed?: readonly StoredLog[]
  /** See `RangeNotes`. */
  readonly areAgreed?: boolean
  /** Everything after this block is removed first. */
  readonly rollBackTo?: number
  /** The new checkpoint. Omitted: it stays the same. null: it is deleted. */
  readonly to?: BlockId | null
  /** Blocks to remember. */
  readonly blocks?: readonly BlockId[]
  readonly progress?: ChainProgress
}

/** Thrown when another process moved the stored checkpoint or has the lease. What was read is discarded. */
export class CheckpointMoved extends Error {
  override readonly name = 'CheckpointMoved'
}

/** The stored state of one chain, cached in memory until a commit fails or the lease is another one. */
export class ChainPosition {
  readonly #store: SyncStore
  readonly #chainId: number
  readonly #leaseGeneration: (() => number) | undefined
  #cached: ChainSyncState | undefined
  /** The generation of the lease when the cached state was read. */
  #cachedGeneration: number | undefined

  /** @param leaseGeneration returns the generation of this process's lease of the chain; omitted when no other process reads it */
  constructor(store: SyncStore, chainId: number, leaseGeneration?: () => number) {
    this.#store = store
    this.#chainId = chainId
    this.#leaseGeneration = leaseGeneration
  }

  /** Reads the state from the store, unless it was read under the current lease. */
  async load(): Promise<ChainSyncState> {
    const generation = this.#leaseGeneration?.()
    if (this.#cached === undefined || generation !== this.#cachedGeneration) {
      this.#cached = undefined
      this.#cachedGeneration = generation
      this.#cached = await this.#store.syncState({ chainId: this.#chainId })
    }
    return this.#cached
  }

  /** The cached state. Throws before `load` and after a failed commit. */
  get state(): ChainSyncState {
    if (this.#cached === undefined) throw new RangeError('the position was not loaded')
    return this.#cached
  }

  /**
   * Stores a step if the stored checkpoint is still the cached one, and this process has had its lease since the state was read. A
   * process that lost its lease and got it back meanwhile stores nothing, because another one may have written in between.
   *
   * @throws {CheckpointMoved | StoreFault} and drops the cached state, because it is unknown whether the step was stored
   */
  async commit(step: PositionStep): Promise<AppliedRange> {
    const before = this.state
    this.#cached = undefined
    const { to, blocks = [], rollBackTo, progress = {} } = step
    const checkpoint = to === undefined ? before.checkpoint : (to ?? undefined)
    const finalized = Math.max(progress.finalized ?? -1, before.finalized)
    const remaining = before.knownBlocks.filter(({ number }) => rollBackTo === undefined || number <= rollBackTo)
    const known = updateKnownBlocks(remaining, blocks, [])
    const removed = findSurplusBlocks(known, finalized)
    const applied = await this.#store.apply({
      chainId: this.#chainId,
      records: step.records ?? [],
      revocations: step.revocations ?? [],
      quarantine: step.quarantine ?? [],
      ...(step.released === undefined ? {} : { released: step.released }),
      ...(step.removed === undefined ? {} : { removed: step.removed }),
      ...(step.areAgreed === undefined ? {} : { areAgreed: step.areAgreed }),
      ...(rollBackTo === undefined ? {} : { rollBackTo }),
      // A step that does not move the checkpoint is also rejected when another process moved it.
      checkpoint: { from: before.checkpoint?.hash ?? null, to: toCheckpoint(checkpoint) },
      knownBlocks: { add: blocks.filter(({ number }) => !removed.includes(number)), remove: removed },
      progress,
      ...(this.#cachedGeneration === undefined ? {} : { leaseGeneration: this.#cachedGeneration }),
    })
    if (!applied.ok) throw new CheckpointMoved('another process reads the chain')
    this.#cached = {
      checkpoint,
      knownBlocks: updateKnownBlocks(known, [], removed),
      finalized: rollBackTo === undefined ? finalized : Math.min(finalized, rollBackTo),
      auditedTo: auditedToAfter(before.auditedTo, step),
    }
    return applied
  }
}

function toCheckpoint(block: BlockId | undefined): { blockNumber: number; blockHash: `0x${string}` } | null {
  return block === undefined ? null : { blockNumber: block.number, blockHash: block.hash }
}

function auditedToAfter(before: number, { rollBackTo, progress }: PositionStep): number {
  return progress?.auditedTo ?? (rollBackTo === undefined ? before : Math.min(before, rollBackTo))
}
