import type {
  ChunkItem,
  ChunkResult,
  ComputeChunk,
  MerkleResult,
  OpenItem,
  TextsResult,
  UnsignedResult,
} from '../batch-messages.ts'
import type { Config } from '../config.ts'
import { freeBuffer } from '../free-buffer.ts'
import type { ComputeResult } from '../messages.ts'
import { type PackedBytes, unpack } from '../packed-bytes.ts'
import { type ProblemData, ProblemError, underPath } from '../problem.ts'
import type { ComputePool } from '../threads/compute-pool.ts'
import type { ChunkJob } from '../threads/jobs.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import { type BatchOptions, batchItemIdOf } from '../validation/batch.ts'
import { ChunkMaker, copyOf } from './batch-chunks.ts'
import {
  type BatchItem,
  type BatchItems,
  type FoundItem,
  foundItems,
  isFinal,
  pathOf,
  type UnsignedItems,
  withProofInputs,
} from './batch-items.ts'
import { BatchTally } from './batch-tally.ts'
import type { ChainPolicy } from './chain-policy.ts'
import type { InputResolver } from './inputs.ts'
import type { BatchContext } from './services.ts'

type Unresolved = Extract<ComputeResult, { ok: 'unresolved' }>

export interface BatchParts {
  readonly config: Config
  readonly pool: ComputePool
  readonly chains: ChainPolicy
  readonly resolver: InputResolver
  readonly signer: SignerClient
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Runs the items of one caller's batch, chunk by chunk. Every item becomes a result, or the text of its problem. */
export class BatchRun {
  readonly #parts: BatchParts
  readonly options: BatchOptions
  readonly #context: BatchContext
  readonly timestampSeconds: number
  /** True once anything was computed: from then on what fails is said in the place of its items. */
  #isStarted = false
  /** Of a batch whose items were counted at once: how many more of them may be computed. */
  #reserved: number | undefined
  readonly tally: BatchTally
  readonly #chunks: ChunkMaker

  constructor(parts: BatchParts, options: BatchOptions, context: BatchContext) {
    this.#parts = parts
    this.options = options
    this.#context = context
    this.tally = new BatchTally(context)
    this.timestampSeconds = Math.floor(parts.now() / 1000)
    this.#chunks = new ChunkMaker(parts, options, context.quotaProblem, this.timestampSeconds)
  }

  /**
   * @param firstIndex of the items in the batch; undefined for lines of a stream
   * @returns in order, what was computed or the finished text
   * @throws {ProblemError} `overloaded` when nothing of the chunk can be computed now
   */
  compute(items: PackedBytes, firstIndex: number | undefined): Promise<BatchItems> {
    return this.#compute(items, firstIndex, undefined) as Promise<BatchItems>
  }

  /** The same; where each result is signed by itself, the texts before their signatures. */
  computeTexts(items: PackedBytes, firstIndex: number | undefined): Promise<BatchItems | UnsignedItems> {
    const attester = this.options.attest === 'each' ? this.#parts.signer.address : undefined
    return this.#compute(items, firstIndex, attester)
  }

  async #compute(
    items: PackedBytes,
    firstIndex: number | undefined,
    attester: string | undefined,
  ): Promise<BatchItems | UnsignedItems> {
    const count = items.offsets.length - 1
    const chunk = this.#chunks.whole(items, firstIndex, this.#grant(count), attester)
    const given = await this.#runChunk(chunk)
    if ('unsigned' in given) {
      freeBuffer(items.buffer)
      return { ...given, firstIndex }
    }
    if ('texts' in given) {
      // Those under a root are counted when it is signed.
      if (given.leaves.length === 0) this.tally.finished(count)
      freeBuffer(items.buffer)
      return given
    }
    return this.#settleAll(given, chunk)
  }

  #settleAll(found: readonly FoundItem[], chunk: ComputeChunk): BatchItem[] | Promise<BatchItem[]> {
    const settled = found.map((item, index) => (isFinal(item) ? item : this.#settle(item, chunk, index)))
    this.tally.finished(countOfTexts(found))
    return settled.some((item) => item instanceof Promise) ? Promise.all(settled) : (settled as BatchItem[])
  }

  /** Counts all items of a batch at once, so that its head can say what is left of the caller's limit. */
  reserve(items: number): void {
    this.#reserved = this.#context.takeQuota(items)
  }

  #grant(items: number): number {
    if (this.#reserved === undefined) return this.#context.takeQuota(items)
    const granted = Math.min(items, this.#reserved)
    this.#reserved -= granted
    return granted
  }

  /** A chunk whose thread died goes again item by item: one of them may have killed it, the others get their answers. */
  async #runChunk(chunk: ComputeChunk): Promise<FoundItem[] | TextsResult | UnsignedResult> {
    try {
      const given = await this.#submit(chunk)
      this.#isStarted = true
      return 'items' in given ? foundItems(given) : given
    } catch (error) {
      if (error instanceof ProblemError) {
        if (!this.#isStarted) throw error
        return Array.from({ length: chunk.items.offsets.length - 1 }, (_, index) =>
          this.#refusal(error.data, chunk, index),
        )
      }
      const alone = this.#chunks.eachOf(chunk).map(async (item, index): Promise<FoundItem> => {
        try {
          return await this.#runAlone(item)
        } catch (cause) {
          return this.#refusal(cause instanceof ProblemError ? cause.data : NOT_COMPUTED, chunk, index)
        }
      })
      return Promise.all(alone)
    }
  }

  /** What stands in the place of an item that no thread has answered. */
  #refusal(problem: ProblemData, chunk: ComputeChunk, index: number): ChunkItem {
    const { maxJsonDepth, maxBatchEnvelopeBytes } = this.#parts.config.limits
    const bytes = unpack(chunk.items, index)
    // No more is read on this thread than of an envelope.
    const id = bytes.length > maxBatchEnvelopeBytes ? '' : batchItemIdOf(bytes, maxJsonDepth)
    return { id, result: { ok: false, problem: underPath(problem, pathOf(chunk, index)) } }
  }

  async #runAlone(item: ComputeChunk): Promise<FoundItem> {
    const given = await this.#submit(item)
    if ('unsigned' in given) throw new RangeError('an item alone is for main to look at')
    return foundItems(given)[0]!
  }

  #submit(chunk: ComputeChunk): Promise<ChunkResult> {
    return this.#parts.pool.runChunk(this.#job({ ...chunk, items: copyOf(chunk.items) }))
  }

  /**
   * The tree over the results, and its items with their proofs.
   *
   * @throws {ProblemError} `overloaded` when it cannot be built now
   */
  async merkleTree(pieces: readonly TextsResult[]): Promise<MerkleResult> {
    const job = () => this.#job({ pieces: pieces.map((piece) => ({ ...piece, texts: copyOf(piece.texts) })) })
    try {
      const result = await this.#parts.pool.runTree(job())
      for (const { texts } of pieces) freeBuffer(texts.buffer)
      return result
    } catch (error) {
      if (error instanceof ProblemError) throw error
      return this.#parts.pool.runTree(job()) // its thread died of somebody else's work
    }
  }

  #job<Work>(chunk: Work): ChunkJob<Work> {
    const { now, config } = this.#parts
    // Each chunk has the time of a request: a stream may last for hours.
    const deadlineMs = now() + config.limits.requestDeadlineMs
    return { chunk, deadlineMs, isAborted: () => this.#context.aborted }
  }

  #settle(
    item: OpenItem | ProblemData,
    chunk: ComputeChunk,
    index: number,
    proofInputs: readonly string[] = [],
  ): BatchItem | Promise<BatchItem> {
    if (!('result' in item)) return this.tally.refuse('', item)
    const { id, result, leaf } = item
    if (result.ok === false) return this.tally.refuse(id, result.problem)
    if (result.ok === 'unresolved') return this.#resolve(item, result, chunk, index)
    return { id, computed: result, proofInputs, leaf, path: pathOf(chunk, index) }
  }

  /** References are looked up here, and the item goes again by itself. */
  async #resolve(
    { id }: OpenItem,
    { chainId, inputs }: Unresolved,
    chunk: ComputeChunk,
    index: number,
  ): Promise<BatchItem> {
    const { chains, resolver } = this.#parts
    try {
      chains.require(chainId)
      const open = inputs.map(({ input }) => input)
      const { resolved, proofInputs } = await resolver.resolve(chainId, open, {
        aborted: this.#context.aborted,
        deadlineMs: this.#parts.now() + this.#parts.config.limits.requestDeadlineMs,
      })
      const again = await this.#runAlone(this.#chunks.alone(chunk, index, [resolved]))
      this.tally.finished(countOfTexts([again]))
      if (isFinal(again)) return withProofInputs(again, proofInputs)
      if (again.result.ok === 'unresolved') throw new RangeError('an input stayed unresolved')
      return this.#settle(again, chunk, index, proofInputs)
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      return this.tally.refuse(id, underPath(error.data, pathOf(chunk, index)))
    }
  }
}

/** A text alone is an answer that nobody signs; the others wait for their signature. */
function countOfTexts(found: readonly FoundItem[]): number {
  return found.filter((item) => typeof item === 'string').length
}

const NOT_COMPUTED: ProblemData = { type: 'internal', detail: 'the item could not be computed' }
