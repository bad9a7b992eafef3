import { freeBuffer, type PackedBytes, unpack } from '../../base/bytes.ts'
import { type ProblemData, ProblemError, underPath } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { ChunkJob, ComputePool } from '../../threads/compute-pool.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import { type BatchOptions, readBatchItemId } from '../../validation/batch.ts'
import type {
  ChunkItem,
  ChunkResult,
  ComputeChunk,
  MerkleResult,
  OpenItem,
  TextsResult,
  UnsignedResult,
} from '../../wire/batch-messages.ts'
import type { ComputeResult } from '../../wire/compute-messages.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import type { InputResolver } from '../compute/inputs.ts'
import type { BatchContext } from '../request.ts'
import {
  type BatchItem,
  type BatchItems,
  ChunkMaker,
  copyPacked,
  isFinal,
  itemPath,
  type ReturnedItem,
  splitItems,
  type UnsignedItems,
  withProofInputs,
} from './items.ts'
import { BatchTally } from './tally.ts'

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

/** Runs the items of one batch, chunk by chunk. Every item becomes a result, or the JSON of its problem. */
export class BatchRun {
  readonly #parts: BatchParts
  readonly options: BatchOptions
  readonly #context: BatchContext
  readonly timestampSeconds: number
  /**
   * True once a chunk has been computed. From then on, a failed chunk gives each of its items a problem; before, it fails the
   * batch.
   */
  #isStarted = false
  /** Quota reserved by `reserve` and not yet used, in items; undefined if each chunk takes its own quota. */
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
   * Computes a chunk.
   *
   * @param firstIndex index of the first item in the batch; undefined for lines of a stream
   * @returns in order, unsigned results and finished JSON
   * @throws {ProblemError} `overloaded` if the first chunk of a batch cannot be computed now
   */
  compute(items: PackedBytes, firstIndex: number | undefined): Promise<BatchItems> {
    return this.#compute(items, firstIndex, undefined) as Promise<BatchItems>
  }

  /** The same, but if each result gets its own signature, returns the JSON of the results up to there. */
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
    const chunk = this.#chunks.chunk(items, firstIndex, this.#grant(count), attester)
    const chunkResult = await this.#runChunk(chunk)
    if ('unsigned' in chunkResult) {
      freeBuffer(items.buffer)
      return { ...chunkResult, firstIndex }
    }
    if ('texts' in chunkResult) {
      // Results under a Merkle root are counted when the root is signed.
      if (chunkResult.leaves.length === 0) this.tally.countUnsigned(count)
      freeBuffer(items.buffer)
      return chunkResult
    }
    return this.#settleAll(chunkResult, chunk)
  }

  #settleAll(items: readonly ReturnedItem[], chunk: ComputeChunk): BatchItem[] | Promise<BatchItem[]> {
    const settled = items.map((item, index) => (isFinal(item) ? item : this.#settle(item, chunk, index)))
    this.tally.countUnsigned(countTexts(items))
    return settled.some((item) => item instanceof Promise) ? Promise.all(settled) : (settled as BatchItem[])
  }

  /** Reserves quota for the whole batch up front, because the response headers report what remains. */
  reserve(items: number): void {
    this.#reserved = this.#context.takeQuota(items)
  }

  #grant(items: number): number {
    if (this.#reserved === undefined) return this.#context.takeQuota(items)
    const granted = Math.min(items, this.#reserved)
    this.#reserved -= granted
    return granted
  }

  /**
   * Runs a chunk. If its thread dies, runs its items one by one: one of them may have killed the thread, the others still get
   * results.
   */
  async #runChunk(chunk: ComputeChunk): Promise<ReturnedItem[] | TextsResult | UnsignedResult> {
    try {
      const chunkResult = await this.#submit(chunk)
      this.#isStarted = true
      return 'items' in chunkResult ? splitItems(chunkResult) : chunkResult
    } catch (error) {
      if (error instanceof ProblemError) {
        if (!this.#isStarted) throw error
        return Array.from({ length: chunk.items.offsets.length - 1 }, (_, index) =>
          this.#failedItem(error.data, chunk, index),
        )
      }
      const singles = this.#chunks.singleItems(chunk).map(async (item, index): Promise<ReturnedItem> => {
        try {
          return await this.#runSingle(item)
        } catch (cause) {
          return this.#failedItem(cause instanceof ProblemError ? cause.data : NOT_COMPUTED, chunk, index)
        }
      })
      return Promise.all(singles)
    }
  }

  /** Makes the problem of an item for which no thread returned a result. */
  #failedItem(problem: ProblemData, chunk: ComputeChunk, index: number): ChunkItem {
    const { maxJsonDepth, maxBatchEnvelopeBytes } = this.#parts.config.limits
    const bytes = unpack(chunk.items, index)
    // This thread reads no more bytes for an id than it reads for an envelope.
    const id = bytes.length > maxBatchEnvelopeBytes ? '' : readBatchItemId(bytes, maxJsonDepth)
    return { id, result: { ok: false, problem: underPath(problem, itemPath(chunk, index)) } }
  }

  async #runSingle(item: ComputeChunk): Promise<ReturnedItem> {
    const chunkResult = await this.#submit(item)
    if ('unsigned' in chunkResult) throw new RangeError('a single item must come back as an object, not as bytes')
    return splitItems(chunkResult)[0]!
  }

  #submit(chunk: ComputeChunk): Promise<ChunkResult> {
    return this.#parts.pool.runChunk(this.#job({ ...chunk, items: copyPacked(chunk.items) }))
  }

  /**
   * Builds the Merkle tree over the results and returns its items with their proofs.
   *
   * @throws {ProblemError} `overloaded` if it cannot be built now
   */
  async merkleTree(pieces: readonly TextsResult[]): Promise<MerkleResult> {
    const job = () => this.#job({ pieces: pieces.map((piece) => ({ ...piece, texts: copyPacked(piece.texts) })) })
    try {
      const result = await this.#parts.pool.runTree(job())
      for (const { texts } of pieces) freeBuffer(texts.buffer)
      return result
    } catch (error) {
      if (error instanceof ProblemError) throw error
      return this.#parts.pool.runTree(job()) // the thread died from other work: try once more
    }
  }

  #job<Work>(chunk: Work): ChunkJob<Work> {
    const { now, config } = this.#parts
    // A stream may last for hours, so each chunk gets the deadline of a single request.
    const deadlineMs = now() + config.limits.requestDeadlineMs
    return { chunk, deadlineMs, isAborted: () => this.#context.aborted }
  }

  #settle(
    item: OpenItem | ProblemData,
    chunk: ComputeChunk,
    index: number,
    proofInputs: readonly string[] = [],
  ): BatchItem | Promise<BatchItem> {
    if (!('result' in item)) return this.tally.fail('', item)
    const { id, result, leaf } = item
    if (result.ok === false) return this.tally.fail(id, result.problem)
    if (result.ok === 'unresolved') return this.#resolve(item, result, chunk, index)
    return { id, computed: result, proofInputs, leaf, path: itemPath(chunk, index) }
  }

  /** Resolves the references of an item and runs it again, separately. */
  async #resolve(
    { id }: OpenItem,
    { chainId, inputs }: Unresolved,
    chunk: ComputeChunk,
    index: number,
  ): Promise<BatchItem> {
    const { chains, resolver } = this.#parts
    try {
      chains.require(chainId)
      const unresolvedInputs = inputs.map(({ input }) => input)
      const { resolved, proofInputs } = await resolver.resolve(chainId, unresolvedInputs, {
        aborted: this.#context.aborted,
        deadlineMs: this.#parts.now() + this.#parts.config.limits.requestDeadlineMs,
      })
      const retried = await this.#runSingle(this.#chunks.singleItem(chunk, index, [resolved]))
      this.tally.countUnsigned(countTexts([retried]))
      if (isFinal(retried)) return withProofInputs(retried, proofInputs)
      if (retried.result.ok === 'unresolved') throw new RangeError('an input stayed unresolved')
      return this.#settle(retried, chunk, index, proofInputs)
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      return this.tally.fail(id, underPath(error.data, itemPath(chunk, index)))
    }
  }
}

/** Counts the plain strings: finished, unsigned results. Other items still await a signature. */
function countTexts(items: readonly ReturnedItem[]): number {
  return items.filter((item) => typeof item === 'string').length
}

const NOT_COMPUTED: ProblemData = { type: 'internal', detail: 'the item could not be computed' }
