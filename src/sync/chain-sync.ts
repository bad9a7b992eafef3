import type { AppliedRange } from '../wire/store-messages.ts'
import type { BlockId, ChainProgress } from '../wire/sync-messages.ts'
import type { ChainPosition, SyncStore } from './chain-position.ts'
import { type Block, type ChainReader, type EasLog, type Heads, takeWholeBlocks } from './chain-reader.ts'
import type { GatheredChanges, Gatherer } from './gather.ts'
import type { HeadComparison } from './head-comparison.ts'
import { DECODER_VERSION } from './location-record.ts'
import { RangeSize } from './range-size.ts'
import { confirmChain, confirmRemoved, findCommonAncestor } from './rollback.ts'
import { type RpcClient, type RpcEndpoint, RpcError } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

const RETRY_INTERVAL_SECONDS = 5
const MAX_RETRIES_AT_ONCE = 100

interface QuarantineRetryParts {
  readonly chainId: number
  readonly gatherer: Gatherer
  readonly position: ChainPosition
  readonly store: Pick<SyncStore, 'quarantined'>
  readonly nowSeconds: () => number
}

/**
 * Creates a function that retries quarantined attestations that are due, at most 100 at a time.
 *
 * @returns the function; it returns undefined when nothing is due, and throws {RpcError | StoreFault | CheckpointMoved}
 */
function createQuarantineRetry(parts: QuarantineRetryParts): (rpc: RpcClient) => Promise<AppliedRange | undefined> {
  const { chainId, gatherer, position, store, nowSeconds } = parts
  let nextSeconds = Number.NEGATIVE_INFINITY
  return async (rpc) => {
    if (nowSeconds() < nextSeconds) return undefined
    nextSeconds = nowSeconds() + RETRY_INTERVAL_SECONDS
    const due = await store.quarantined({
      chainId,
      nowSeconds: nowSeconds(),
      decoder: DECODER_VERSION,
      limit: MAX_RETRIES_AT_ONCE,
    })
    return due.length === 0 ? undefined : position.commit(await gatherer.retry(rpc, due))
  }
}

interface ChainSyncParts {
  readonly chainId: number
  /** The first block that is read. */
  readonly startBlock: number
  readonly rpcs: RpcList
  readonly reader: ChainReader
  readonly gatherer: Gatherer
  readonly comparison: Pick<HeadComparison, 'noteRead' | 'noteRollBack'>
  readonly position: ChainPosition
  readonly store: Pick<SyncStore, 'quarantined'>
  readonly nowSeconds: () => number
  readonly limits: SyncLimits
  /** Reports something to the operator. Messages contain no secrets. */
  readonly onProblem: (message: string) => void
}

export interface SyncLimits {
  /** The most blocks of one `eth_getLogs` request. */
  readonly maxRangeBlocks: number
  /** The most blocks that are read by hash in one step. */
  readonly blocksAtOnce: number
  /** The number of logs stored in one step; exceeded only when a single block has more. */
  readonly logsAtOnce: number
}

/** The result of one pass. */
export interface PassResult {
  readonly inserted: number
  readonly revoked: number
  readonly rolledBack: number
  /** False when more blocks can be read immediately. */
  readonly isCaughtUp: boolean
  /** Block number of the checkpoint; -1 without one. */
  readonly block: number
  readonly head: number
  readonly headSeconds: number
  /** The start block, if nothing of the chain had been read before. */
  readonly beganAt: number | undefined
}

/** Thrown when an endpoint's head is below our checkpoint: the endpoint lags, or the chain became shorter. */
class BehindError extends RpcError {}

/** After this many passes in a row with every endpoint behind, the chain is treated as having become shorter. */
const MAX_PASSES_BEHIND = 3

/** Reads one chain into the store. Calls must not overlap. */
export class ChainSync {
  readonly #chainId: number
  readonly #startBlock: number
  readonly #rpcs: RpcList
  readonly #reader: ChainReader
  readonly #gatherer: Gatherer
  readonly #comparison: ChainSyncParts['comparison']
  readonly #position: ChainPosition
  readonly #limits: SyncLimits
  readonly #onProblem: (message: string) => void
  readonly #size: RangeSize
  readonly #retryQuarantine: ReturnType<typeof createQuarantineRetry>
  /** Passes in a row in which every endpoint was behind. */
  #passesBehind = 0
  /** Whether this pass has rolled back. */
  #hasRolledBack = false

  constructor(parts: ChainSyncParts) {
    this.#chainId = parts.chainId
    this.#startBlock = parts.startBlock
    this.#rpcs = parts.rpcs
    this.#reader = parts.reader
    this.#gatherer = parts.gatherer
    this.#comparison = parts.comparison
    this.#position = parts.position
    this.#limits = parts.limits
    this.#onProblem = parts.onProblem
    this.#size = new RangeSize(parts.limits.maxRangeBlocks)
    this.#retryQuarantine = createQuarantineRetry(parts)
  }

  /**
   * Continues from the checkpoint.
   *
   * @param maxSteps the most ranges to store
   * @param onWork called once, as soon as there is something to read
   * @throws {RpcError} when no endpoint responds; {StoreFault | CheckpointMoved} when storing failed
   */
  async pass(maxSteps: number, onWork: () => Promise<void> = async () => {}): Promise<PassResult> {
    const progress: PassProgress = { ...NOTHING, isCaughtUp: false, head: 0, headSeconds: 0 }
    this.#hasRolledBack = false
    let hasWorked = false
    const beginWork = async () => {
      if (!hasWorked) await onWork()
      hasWorked = true
    }
    const { checkpoint } = await this.#position.load()
    const beganAt = checkpoint === undefined ? this.#startBlock : undefined
    try {
      await this.#useBest((rpc) => this.#takeSteps(rpc, maxSteps, beginWork, progress))
    } catch (error) {
      if (!(error instanceof BehindError)) throw error
      this.#passesBehind++
      progress.isCaughtUp = true
    }
    return { ...progress, block: this.#position.state.checkpoint?.number ?? -1, beganAt }
  }

  /** Stores ranges that one endpoint has, until the checkpoint is its head. Adds to `progress`, even if it throws. */
  async #takeSteps(
    rpc: RpcEndpoint,
    maxSteps: number,
    beginWork: () => Promise<void>,
    progress: PassProgress,
  ): Promise<void> {
    const heads = await this.#reader.heads(rpc)
    progress.head = heads.head.number
    progress.headSeconds = heads.head.timeSeconds
    for (let step = 0; step < maxSteps; step++) {
      const next = this.#nextBlock()
      const isAtEnd = next > heads.head.number
      if (isAtEnd && !this.#hasReorged(heads.head)) {
        progress.isCaughtUp = true
        this.#passesBehind = 0
        await this.#storeFinality(heads)
        break
      }
      await beginWork()
      if (isAtEnd) addCounts(progress, await this.#rollBack(rpc, heads))
      else if (next <= heads.finalized) addCounts(progress, await this.#readRange(rpc, heads, next))
      else addCounts(progress, await this.#readBlocks(rpc, heads, next))
    }
    if (progress.isCaughtUp) addCounts(progress, (await this.#retryQuarantine(rpc)) ?? NOTHING)
  }

  /** Runs a function on the best endpoint. If there is only one endpoint, it is not suspended for being behind. */
  async #useBest(ask: (rpc: RpcEndpoint) => Promise<void>): Promise<void> {
    if (this.#rpcs.size > 1) return this.#rpcs.use(ask)
    const behind = await this.#rpcs.use((rpc) =>
      ask(rpc).catch((error: unknown) => {
        if (error instanceof BehindError) return error
        throw error
      }),
    )
    if (behind !== undefined) throw behind
  }

  /** Stores a higher final block: blocks become final even while no new ones arrive. */
  async #storeFinality({ head, finalized }: Heads): Promise<void> {
    const { checkpoint, finalized: storedFinalized } = this.#position.state
    if (checkpoint === undefined || finalized <= storedFinalized) return
    await this.#position.commit({ progress: toProgress(head, finalized) })
  }

  /** Returns the first block that has not been read. */
  #nextBlock(): number {
    const { checkpoint } = this.#position.state
    return checkpoint === undefined ? this.#startBlock : checkpoint.number + 1
  }

  /** Tells from a head at or below our checkpoint whether the chain replaced our blocks. Throws BehindError if it may just lag. */
  #hasReorged(head: Block): boolean {
    const { checkpoint, knownBlocks } = this.#position.state
    if (checkpoint === undefined) return false
    if (head.number === checkpoint.number) return head.hash !== checkpoint.hash
    const known = knownBlocks.find(({ number }) => number === head.number)
    if (known !== undefined && known.hash !== head.hash) return true
    if (this.#passesBehind >= MAX_PASSES_BEHIND) return true
    throw new BehindError(`an endpoint is at block ${head.number} and we are at ${checkpoint.number}`)
  }

  /** Reads final blocks by ranges that are as wide as the endpoint accepts. */
  async #readRange(rpc: RpcEndpoint, { head, finalized }: Heads, from: number) {
    const { checkpoint } = this.#position.state
    const requestedBlocks = Math.min(this.#size.blocks, finalized - from + 1)
    const to = from + requestedBlocks - 1
    const blockNumbers = checkpoint === undefined ? [to] : [to, checkpoint.number]
    let response: Awaited<ReturnType<ChainReader['range']>>
    try {
      response = await this.#reader.range(rpc, from, to, blockNumbers)
    } catch (error) {
      if (error instanceof RpcError && this.#size.shrink(from, requestedBlocks, error)) return NOTHING
      throw error
    }
    const { logs, blocks } = response
    const [end, previous] = blocks
    if (end === undefined) throw new RpcError(`an endpoint with head ${head.number} does not have block ${to}`)
    if (checkpoint !== undefined && previous?.hash !== checkpoint.hash) return this.#rollBack(rpc, { head, finalized })
    if (logs.some(({ blockNumber, blockHash }) => blockNumber === to && blockHash !== end.hash)) {
      throw new RpcError(`the logs and block ${to} of an endpoint belong to different versions of the chain`)
    }
    this.#size.grow(requestedBlocks, logs.length)
    const batch = takeWholeBlocks(logs, this.#limits.logsAtOnce)
    const last = batch.at(-1)
    const target: BlockId =
      batch.length < logs.length && last !== undefined
        ? { number: last.blockNumber, hash: last.blockHash }
        : { number: end.number, hash: end.hash }
    const gathered = await this.#gatherer.gather(rpc, batch)
    return this.#storeRead(rpc, gathered, [target], toProgress(head, finalized))
  }

  /** Reads blocks that may still change: each by its hash, and each must be the child of the one before. */
  async #readBlocks(rpc: RpcEndpoint, { head, finalized }: Heads, from: number) {
    const { checkpoint } = this.#position.state
    const count = Math.min(this.#limits.blocksAtOnce, head.number - from + 1)
    const listed = await this.#reader.blocks(
      rpc,
      Array.from({ length: count }, (_, index) => from + index),
    )
    if (listed[0] === undefined) throw new RpcError(`an endpoint with head ${head.number} does not have block ${from}`)
    if (checkpoint !== undefined && listed[0].parentHash !== checkpoint.hash)
      return this.#rollBack(rpc, { head, finalized })
    const linked: Block[] = []
    for (const block of listed) {
      if (block === undefined || (linked.length > 0 && block.parentHash !== linked.at(-1)!.hash)) break
      linked.push(block)
    }
    const logsByBlock = await this.#reader.logsOfBlocks(rpc, linked)
    const logs: EasLog[] = []
    const read: Block[] = []
    for (const [index, blockLogs] of logsByBlock.entries()) {
      // If a block has left the chain in the meantime, so have the blocks after it.
      if (blockLogs === undefined || (read.length > 0 && logs.length + blockLogs.length > this.#limits.logsAtOnce))
        break
      logs.push(...blockLogs)
      read.push(linked[index]!)
    }
    const last = read.at(-1)
    if (last === undefined) throw new RpcError(`an endpoint does not have the logs of block ${from}`)
    const gathered = await this.#gatherer.gather(rpc, logs)
    const blocks = read.map(({ number, hash }) => ({ number, hash }))
    return this.#storeRead(rpc, gathered, blocks, toProgress(head, finalized))
  }

  /** Stores what was read from an endpoint, up to the last of these blocks. */
  async #storeRead(rpc: RpcEndpoint, gathered: GatheredChanges, blocks: readonly BlockId[], progress: ChainProgress) {
    const { checkpoint } = this.#position.state
    const to = blocks.at(-1)!
    const applied = await this.#position.commit({ ...gathered, to, blocks, progress })
    this.#comparison.noteRead(rpc.index, checkpoint, to)
    return applied
  }

  /** Rolls back to the newest block that we and the chain have in common, however deep it is. */
  async #rollBack(rpc: RpcEndpoint, { head }: Heads) {
    const { checkpoint, knownBlocks, finalized } = this.#position.state
    await confirmChain(rpc, this.#chainId)
    const ancestor = await findCommonAncestor(rpc, this.#reader, knownBlocks, head.number)
    // At most one rollback per pass: an inconsistent endpoint could otherwise keep us and the store busy forever.
    if (this.#hasRolledBack || ancestor?.number === checkpoint!.number)
      throw new RpcError(
        `an endpoint contradicts itself about what follows block ${ancestor?.number ?? this.#startBlock - 1}`,
      )
    const number = ancestor?.number ?? this.#startBlock - 1
    if (number < finalized) await confirmRemoved(this.#rpcs, rpc, this.#reader, checkpoint!)
    const depth = checkpoint!.number - number
    const applied = await this.#position.commit({ rollBackTo: number, to: ancestor ?? null })
    this.#comparison.noteRollBack(ancestor)
    this.#passesBehind = 0
    this.#hasRolledBack = true
    this.#onProblem(
      `the chain was reorganised: rolled back ${depth} blocks to block ${number} and removed ${applied.rolledBack} records`,
    )
    return applied
  }
}

const NOTHING = { inserted: 0, revoked: 0, rolledBack: 0 }

type Counts = Pick<PassResult, 'inserted' | 'revoked' | 'rolledBack'>

/** The result of a running pass so far. */
type PassProgress = { -readonly [K in Exclude<keyof PassResult, 'block' | 'beganAt'>]: PassResult[K] }

function addCounts(progress: PassProgress, { inserted, revoked, rolledBack }: Counts): void {
  progress.inserted += inserted
  progress.revoked += revoked
  progress.rolledBack += rolledBack
}

function toProgress(head: Block, finalized: number) {
  return { head: head.number, headSeconds: head.timeSeconds, finalized }
}
