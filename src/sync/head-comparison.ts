import type { BlockId, ChainSyncState } from '../wire/sync-messages.ts'
import type { ChainPosition, SyncStore } from './chain-position.ts'
import { type ChainReader, type EasLog, logKey, takeWholeBlocks } from './chain-reader.ts'
import type { Gatherer } from './gather.ts'
import type { LogWitnesses } from './log-witnesses.ts'
import { RangeSize } from './range-size.ts'
import { type RpcEndpoint, RpcError } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

interface HeadComparisonParts {
  readonly chainId: number
  readonly startBlock: number
  readonly maxRangeBlocks: number
  readonly rpcs: RpcList
  readonly reader: ChainReader
  readonly witnesses: LogWitnesses
  readonly gatherer: Gatherer
  readonly position: ChainPosition
  readonly store: Pick<SyncStore, 'storedLogs'>
  readonly onProblem: (message: string) => void
}

/** The logs that an endpoint has of blocks that were read before. */
interface View {
  readonly from: number
  /** The last block of the range, as the store and the endpoint have it. */
  readonly to: BlockId
  readonly logs: readonly EasLog[]
}

/** Runs a task that needs the position of the chain for itself. */
type RunExclusively = <T>(task: () => Promise<T>) => Promise<T>

/** The most missing logs that are examined in one step; exceeded only when a single block has more. */
const MAX_MISSING = 50

/**
 * Compares the newest stored blocks with a second endpoint, because the one that was read may have omitted logs. It only adds
 * logs. What must be removed, and what stays undecided, is found by the audit when the blocks are final.
 */
export class HeadComparison {
  readonly #parts: HeadComparisonParts
  readonly #size: RangeSize
  /** The last block up to which an endpoint was read or compared, by its index. */
  readonly #seenTo = new Map<number, BlockId>()
  /** The endpoint that was compared last. */
  #lastCompared = 0
  /** The endpoint that was read last. */
  #lastRead = 0

  constructor(parts: HeadComparisonParts) {
    this.#parts = parts
    this.#size = new RangeSize(parts.maxRangeBlocks)
  }

  /** Notes that the blocks after one block were read from an endpoint. If it has seen that block, it need not be compared up to `to`. */
  noteRead(index: number, after: BlockId | undefined, to: BlockId): void {
    this.#lastRead = index
    if (this.#seenTo.get(index)?.hash === after?.hash) this.#seenTo.set(index, to)
  }

  /** Notes that the blocks after one block left the chain. */
  noteRollBack(to: BlockId | undefined): void {
    for (const [index, { number }] of this.#seenTo) {
      if (to === undefined) this.#seenTo.delete(index)
      else if (number > to.number) this.#seenTo.set(index, to)
    }
  }

  /**
   * Reads the blocks that the next endpoint in turn has not seen, in one range, and stores logs that we do not have if more than
   * half of the endpoints confirm them. An endpoint that fails is suspended, and the one after it is asked.
   *
   * @param exclusively runs what uses the position. The endpoint is asked outside of it, so a slow one does not delay other tasks.
   * @throws {RpcError} when no endpoint responds with an attestation; {StoreFault | CheckpointMoved}
   */
  async step(exclusively: RunExclusively = (task) => task()): Promise<void> {
    const { rpcs, position } = this.#parts
    if (rpcs.size < 2) return
    const state = await exclusively(() => position.load())
    const { checkpoint } = state
    if (checkpoint === undefined) return
    const indexes = this.#inTurn()
    for (const index of indexes) {
      if (this.#firstUnseen(index, state) > checkpoint.number) continue
      const others = new Set(indexes.filter((other) => other !== index))
      const result = await rpcs.tryUse(async (rpc) => ({ view: await this.#read(rpc, state) }), others)
      if (result === undefined) continue
      this.#lastCompared = index
      const { view } = result
      if (view !== undefined) await exclusively(async () => this.#settle(index, view, await position.load()))
      return
    }
  }

  /** Returns the endpoints in the order in which they are asked: the one that was read last comes last. */
  #inTurn(): number[] {
    const { size } = this.#parts.rpcs
    const indexes = Array.from({ length: size }, (_, offset) => ((this.#lastCompared + offset) % size) + 1)
    const others = indexes.filter((index) => index !== this.#lastRead)
    return others.length < size ? [...others, this.#lastRead] : others
  }

  /**
   * Returns the first block that an endpoint has not seen and the audit has not compared. The audit compares final blocks, so without
   * a mark it is the one after them.
   */
  #firstUnseen(index: number, { finalized, knownBlocks, auditedTo }: ChainSyncState): number {
    const seen = this.#seenTo.get(index)
    const isOnChain =
      seen !== undefined && (seen.number <= finalized || knownBlocks.some(({ hash }) => hash === seen.hash))
    return Math.max((isOnChain ? seen.number : finalized) + 1, auditedTo + 1, this.#parts.startBlock)
  }

  /** Reads what an endpoint has not seen, up to its head. Returns undefined if it has nothing to compare now. */
  async #read(rpc: RpcEndpoint, state: ChainSyncState): Promise<View | undefined> {
    const { reader } = this.#parts
    const { knownBlocks } = state
    const head = await reader.head(rpc)
    const to = knownBlocks.find(({ number }) => number <= head.number)
    if (to === undefined) return undefined
    // If it was away for long, the audit compares the older blocks.
    const from = Math.max(this.#firstUnseen(rpc.index, state), to.number - this.#size.blocks + 1)
    if (from > to.number) return undefined
    const requestedBlocks = to.number - from + 1
    try {
      const { logs, blocks } = await reader.range(rpc, from, to.number, [to.number])
      this.#size.grow(requestedBlocks, logs.length)
      // It lags, or it follows another branch of the chain.
      const hashes = new Map(knownBlocks.map(({ number, hash }) => [number, hash]))
      const isSameBranch = logs.every(
        ({ blockNumber, blockHash }) => (hashes.get(blockNumber) ?? blockHash) === blockHash,
      )
      return blocks[0]?.hash === to.hash && isSameBranch ? { from, to, logs } : undefined
    } catch (error) {
      if (error instanceof RpcError && this.#size.shrink(from, requestedBlocks, error)) return undefined
      throw error
    }
  }

  /** Adds the logs of a view that we do not have, unless its blocks were replaced in the meantime. */
  async #settle(index: number, view: View, state: ChainSyncState): Promise<void> {
    if (state.knownBlocks.some(({ hash }) => hash === view.to.hash))
      this.#seenTo.set(index, await this.#addMissing(view, state))
  }

  /** Stores the logs of a view that we do not have and that are on the chain. Returns the last block without an open question. */
  async #addMissing({ from, to, logs }: View, state: ChainSyncState): Promise<BlockId> {
    const { finalized, knownBlocks, auditedTo } = state
    const { chainId, store, witnesses } = this.#parts
    const stored = new Set((await store.storedLogs({ chainId, from, to: to.number })).map(logKey))
    const missing = logs.filter((log) => log.blockNumber > auditedTo && !stored.has(logKey(log)))
    if (missing.length === 0) return to
    const examined = takeWholeBlocks(missing, MAX_MISSING)
    const verdicts = await witnesses.judge(examined)
    await this.#add(examined.filter((_, index) => verdicts[index] === 'true'))
    // Other endpoints may not have the block yet, so it is compared again until it is final.
    const open = examined.find(({ blockNumber }, index) => verdicts[index] === 'open' && blockNumber > finalized)
    const next = open ?? missing[examined.length]
    return next === undefined ? to : (knownBlocks.find(({ number }) => number < next.blockNumber) ?? to)
  }

  async #add(missed: readonly EasLog[]): Promise<void> {
    const { rpcs, gatherer, position, onProblem } = this.#parts
    if (missed.length === 0) return
    const gathered = await rpcs.use((rpc) => gatherer.gather(rpc, missed))
    const { inserted, revoked } = await position.commit(gathered)
    // The revocation of an attestation from before the start block changes nothing.
    if (inserted + revoked + gathered.quarantine.length === 0) return
    onProblem(
      `${missed.length} logs of blocks ${missed[0]!.blockNumber} to ${missed.at(-1)!.blockNumber} had been omitted by an endpoint ` +
        'and are stored now',
    )
  }
}
