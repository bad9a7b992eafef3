import { copyPacked, freeBuffer, type PackedBytes, pack, unpack } from '../../base/bytes.ts'
import type { QueueClient } from '../../base/fair-queue.ts'
import { type ProblemData, ProblemError, type ProblemType, problemAt, underPath } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { ChunkJob, ComputePool } from '../../threads/compute-pool.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import { type BatchOptions, readBatchItemId } from '../../validation/batch.ts'
import type { ChunkResult, ComputeChunk, MerklePiece, MerkleResult, UnfinishedItem } from '../../wire/batch-messages.ts'
import type { ComputeResult, ResolvedInput } from '../../wire/compute-messages.ts'
import type { Hex } from '../../wire/values.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import type { InputResolver } from '../compute/inputs.ts'
import { NONCE_SOURCE, unsignedJson } from '../compute/signed-answer.ts'
import type { BatchContext, RequestContext, SubmissionCaller } from '../request.ts'
import { type MentionedGeometries, NOTHING_MENTIONED, type StoredShapes } from '../stored/geometries.ts'
import { type NamedInputs, type NamedJson, NO_NAMES, readNames } from './named-inputs.ts'

type Computed = Extract<ComputeResult, { type: 'computed' }>
type Unresolved = Extract<ComputeResult, { type: 'unresolved' }>

/** A chunk, and the references in it that its client has not stored. */
interface CheckedChunk extends ComputeChunk {
  readonly missing: ReadonlySet<Hex>
}

/** A result that awaits its attestation. */
export interface ComputedItem {
  /** `"id":…,` as JSON, empty if the item has none. */
  readonly id: string
  readonly computed: Computed
  /** JSON summary of each authenticated proof among the inputs (decision 86). */
  readonly proofInputs: readonly string[]
  /** Leaf for a Merkle tree, 32 bytes; undefined in other batches. */
  readonly leaf: Uint8Array | undefined
  /** Pointer of the item in the body. */
  readonly path: readonly (string | number)[]
}

/** An item that the main thread handled: its finished JSON, or the result that is to be attested. */
export type HandledItem = string | ComputedItem

/** The results of a chunk before they are attested. */
export interface ComputedChunk extends Omit<ChunkResult, 'unfinished'>, Pick<ComputeChunk, 'firstIndex'> {
  /** By index in the chunk; their texts are empty. */
  readonly handled: ReadonlyMap<number, HandledItem>
}

export interface BatchParts {
  readonly config: Config
  readonly pool: ComputePool
  readonly chains: ChainPolicy
  readonly resolver: InputResolver
  readonly storedShapes: Pick<StoredShapes, 'findMentioned' | 'require'>
  readonly signer: SignerClient
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * Pause for each chunk of a stream whose lines are all beyond a limit. A stream has no end, so without it a client could make the
 * service refuse a million lines a second, for hours.
 */
const REFUSED_LINES_MS = 100
const NOBODY: SubmissionCaller = { account: undefined, tier: 'public', idempotencyKey: undefined }

/**
 * Runs the items of one batch, chunk by chunk. Every item becomes a result, or the JSON of its problem. Both kinds of batch and
 * all ways of signing share it.
 */
export class BatchRun {
  readonly #parts: BatchParts
  readonly #context: BatchContext
  readonly options: BatchOptions
  readonly timestampSeconds: number
  readonly tally: BatchTally
  /** Members that all chunks of this batch share. */
  readonly #common: Omit<
    ComputeChunk,
    'items' | 'firstIndex' | 'itemsInQuota' | 'quotaProblem' | 'returnsObjects' | 'resolved'
  >
  /**
   * True once a chunk has been computed. From then on, a failed chunk gives each of its items a problem; before, it fails the
   * batch.
   */
  #isStarted = false
  /** The inputs that items may name; undefined in a stream of lines and in a job. */
  #named: NamedInputs | undefined
  /** Quota reserved by `reserve` and not yet used, in items; undefined if each chunk takes its own quota. */
  #reserved: number | undefined
  /** What `reserve` got. */
  #granted: number | undefined

  /** @param timestampSeconds as of when results are computed; now by default */
  constructor(parts: BatchParts, options: BatchOptions, context: BatchContext, timestampSeconds?: number) {
    const { config, chains, signer, now } = parts
    const { chainId, recipient, attest, submitOnchain } = options
    this.#parts = parts
    this.#context = context
    this.options = options
    this.timestampSeconds = timestampSeconds ?? Math.floor(now() / 1000)
    this.tally = new BatchTally(context)
    this.#common = {
      type: 'chunk',
      chainId,
      recipient,
      attest,
      attester: attest === 'each' ? signer.address : undefined,
      maxItemBytes: config.limits.maxBodyBytes,
      submitOnchain,
      signsResults: context.signsResults === true,
      schemas: { numeric: chains.defaultSchema('numeric'), boolean: chains.defaultSchema('boolean') },
      timestampSeconds: this.timestampSeconds,
    }
  }

  /** True if what is signed one by one are the results without a nonce, not attestations. */
  get signsResults(): boolean {
    return this.#common.signsResults === true
  }

  /** Returns a run of the same batch as of another time. It has the quota of this one, and its items are not counted again. */
  asOf(timestampSeconds: number): BatchRun {
    const context = Object.create(this.#context, { countItems: { value: () => {} } }) as BatchContext
    const run = new BatchRun(this.#parts, this.options, context, timestampSeconds)
    run.#reserved = this.#granted
    run.#granted = this.#granted
    run.#named = this.#named
    return run
  }

  /** For whom results are submitted. */
  get caller(): SubmissionCaller {
    return this.#context.caller ?? NOBODY
  }

  /** Returns the context of submissions. They have the deadline of a request that begins now, and prolong the batch by their wait. */
  submissionContext(): RequestContext {
    const context = this.#context
    const { client, costs } = context
    return {
      client,
      costs,
      deadlineMs: this.#requestContext().deadlineMs,
      get aborted() {
        return context.aborted
      },
      set extraMs(ms: number) {
        context.extraMs = ms
      },
    }
  }

  /** Who sent the batch. */
  get client(): QueueClient {
    return this.#context.client
  }

  /** True if the service submits one attestation of all results, which has to be the same when the batch is repeated. */
  get isSubmittedWhole(): boolean {
    const { submitOnchain, attest } = this.options
    return submitOnchain && attest === 'merkle'
  }

  /**
   * Reserves quota for the whole batch up front, because the response headers report what remains.
   *
   * @throws {ProblemError} `rate-limited` if the quota does not cover all items and the root of all is submitted
   */
  async reserve(items: number): Promise<void> {
    const granted = await this.#context.takeQuota(items, this.isSubmittedWhole)
    if (this.isSubmittedWhole && granted < items) {
      const { quotaProblem } = this.#context
      const hint = quotaProblem.invalidParts?.[0]?.hint
      throw problemAt(
        'rate-limited',
        ['items'],
        `has ${items} items, more than this hour's limit still allows; a root is submitted only if the limit covers all items`,
        { code: 'limit', ...(hint === undefined ? {} : { hint }) },
      )
    }
    this.#granted = granted
    this.#reserved = granted
  }

  /**
   * Rejects the batch if an item failed for a reason that may be gone when the batch is repeated: the repeated batch would have
   * another root (decision 169).
   */
  requireRepeatable(): void {
    const { transient } = this.tally
    if (transient === undefined) return
    const detail = `${transient.detail}; the root was not submitted: send the same request again later`
    throw new ProblemError({ ...transient, detail })
  }

  /** Logs an error that is no problem of an item. Returns the problem that its client sees. */
  report(error: unknown): ProblemData {
    this.#context.report(error)
    return NOT_FINISHED
  }

  /**
   * Reads the inputs that items name, once for all items of a JSON batch. Reads none if all items are beyond the client's quota.
   *
   * @throws {ProblemError} for the first that cannot be used
   */
  async readNames(names: readonly NamedJson[]): Promise<void> {
    this.#named = NO_NAMES
    if (names.length === 0 || this.#reserved === 0) return
    const { pool, storedShapes, config } = this.#parts
    this.#named = await readNames(names, config.limits, {
      prepare: (task) => pool.runPrepare(this.#job(task)),
      requireStored: (inputs) => storedShapes.require(inputs, this.#context.account, this.#requestContext()),
    })
  }

  /**
   * Computes a chunk.
   *
   * @param firstIndex index of the first item in the batch; undefined for lines of a stream
   * @throws {ProblemError} `overloaded` if the first chunk of a batch cannot be computed now
   */
  async compute(items: PackedBytes, firstIndex: number | undefined): Promise<ComputedChunk> {
    const { attest, sequence, submitOnchain } = this.options
    const count = items.offsets.length - 1
    const costProblem = this.#context.costProblem(count)
    const granted = costProblem === undefined ? this.#grant(count) : 0
    const mentioned = this.#findMentioned(items)
    const { shapes, missing } = mentioned instanceof Promise ? await mentioned : mentioned
    const chunk: CheckedChunk = {
      ...this.#common,
      stored: [...shapes, ...(this.#named?.stored ?? [])],
      named: this.#named?.inputs,
      missing,
      items,
      firstIndex,
      itemsInQuota: typeof granted === 'number' ? granted : await granted,
      quotaProblem: costProblem ?? this.#context.quotaProblem,
      returnsObjects: sequence === 'consecutive' || (submitOnchain && attest === 'each' && !this.signsResults),
      resolved: [],
    }
    if (firstIndex === undefined && chunk.itemsInQuota === 0)
      await new Promise((resolve) => setTimeout(resolve, REFUSED_LINES_MS))
    const { unfinished, ...computed } = await this.#runChunk(chunk)
    // Signed results are counted when they are signed.
    if (attest === 'none') this.tally.countUnsigned(count - unfinished.size)
    const handled = await Promise.all(
      [...unfinished].map(async ([index, item]) => [index, await this.#handle(item, chunk, index)] as const),
    )
    freeBuffer(items.buffer)
    return { ...computed, firstIndex, handled: new Map(handled) }
  }

  #grant(items: number): number | Promise<number> {
    if (this.#reserved === undefined) return this.#context.takeQuota(items)
    const granted = Math.min(items, this.#reserved)
    this.#reserved -= granted
    return granted
  }

  /**
   * Runs a chunk. If its thread dies, runs its items one by one: one of them may have killed the thread, the others still get
   * results.
   */
  async #runChunk(chunk: ComputeChunk): Promise<ChunkResult> {
    try {
      const chunkResult = await this.#submit(chunk)
      this.#isStarted = true
      return chunkResult
    } catch (error) {
      const length = chunk.items.offsets.length - 1
      if (error instanceof ProblemError) {
        if (!this.#isStarted) throw error
        return unfinishedChunk(Array.from({ length }, (_, index) => this.#failedItem(error.data, chunk, index)))
      }
      const singles = Array.from({ length }, async (_, index) => {
        try {
          return await this.#runSingle(chunk, index, [])
        } catch (cause) {
          return this.#failedItem(cause instanceof ProblemError ? cause.data : NOT_COMPUTED, chunk, index)
        }
      })
      return unfinishedChunk(await Promise.all(singles))
    }
  }

  /** Makes the problem of an item for which no thread returned a result. */
  #failedItem(problem: ProblemData, chunk: ComputeChunk, index: number): UnfinishedItem {
    const { maxJsonDepth, maxBatchEnvelopeBytes } = this.#parts.config.limits
    const bytes = unpack(chunk.items, index)
    // This thread reads no more bytes for an id than it reads for an envelope.
    const id = bytes.length > maxBatchEnvelopeBytes ? '' : readBatchItemId(bytes, maxJsonDepth)
    return { id, result: { type: 'problem', problem: underPath(problem, itemPath(chunk, index)) } }
  }

  /** Runs one item of a chunk separately. */
  async #runSingle(chunk: ComputeChunk, index: number, resolved: readonly ResolvedInput[]): Promise<UnfinishedItem> {
    const { unfinished } = await this.#submit({
      ...this.#common,
      items: pack([unpack(chunk.items, index)]),
      firstIndex: chunk.firstIndex === undefined ? undefined : chunk.firstIndex + index,
      itemsInQuota: index < chunk.itemsInQuota ? 1 : 0,
      quotaProblem: chunk.quotaProblem,
      returnsObjects: true,
      resolved: [resolved],
      stored: chunk.stored ?? [],
      named: chunk.named,
    })
    return unfinished.get(0)!
  }

  #submit(chunk: ComputeChunk): Promise<ChunkResult> {
    return this.#parts.pool.runChunk(this.#job({ ...chunk, items: copyPacked(chunk.items) }))
  }

  /**
   * Builds the Merkle tree over the results and returns its items with their proofs.
   *
   * @throws {ProblemError} `overloaded` if it cannot be built now
   */
  async merkleTree(pieces: readonly MerklePiece[]): Promise<MerkleResult> {
    const job = () =>
      this.#job({
        type: 'merkle' as const,
        pieces: pieces.map((piece) => ({ ...piece, texts: copyPacked(piece.texts) })),
      })
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
    const deadlineMs = now() + (this.#context.chunkMs ?? config.limits.requestDeadlineMs)
    const { client, costs } = this.#context
    return { chunk, client, costs, deadlineMs, isAborted: () => this.#context.aborted }
  }

  #handle(
    item: UnfinishedItem,
    chunk: CheckedChunk,
    index: number,
    proofInputs: readonly string[] = [],
  ): HandledItem | Promise<HandledItem> {
    const { id, result, leaf } = item
    switch (result.type) {
      case 'problem':
        return this.tally.fail(id, result.problem)
      case 'unresolved':
        return this.#resolve(id, result, chunk, index)
      case 'computed':
        if (this.options.attest !== 'none')
          return { id, computed: result, proofInputs, leaf, path: itemPath(chunk, index) }
        this.tally.countUnsigned(1)
        return unsignedJson(result, proofInputs, id)
      case 'unsigned':
        this.tally.countUnsigned(1)
        return unsignedJson(result, proofInputs, id)
    }
  }

  /** Finds the stored geometries whose hashes are in items. If the store does not answer, each of those items gets that problem later. */
  #findMentioned(items: PackedBytes): MentionedGeometries | Promise<MentionedGeometries> {
    const bytes = new Uint8Array(items.buffer)
    const mentioned = this.#parts.storedShapes.findMentioned(bytes, this.#context.account, this.#requestContext())
    if (!(mentioned instanceof Promise)) return mentioned
    return mentioned.catch((error) => {
      if (!(error instanceof ProblemError)) throw error
      return NOTHING_MENTIONED
    })
  }

  /** The context of a single request of this client. */
  #requestContext(): RequestContext {
    const { client, costs, aborted } = this.#context
    return { client, costs, aborted, deadlineMs: this.#parts.now() + this.#parts.config.limits.requestDeadlineMs }
  }

  /** Resolves the references of an item and runs it again, separately. */
  async #resolve(
    id: string,
    { chainId, inputs }: Unresolved,
    chunk: CheckedChunk,
    index: number,
  ): Promise<HandledItem> {
    const { chains, resolver } = this.#parts
    try {
      chains.require(chainId)
      const unresolvedInputs = inputs.map(({ input }) => input)
      const { account } = this.#context
      const { missing, stored: shapes = [] } = chunk
      const owner = { account, missing }
      const context = this.#requestContext()
      const { resolved, stored, proofInputs } = await resolver.resolve(chainId, unresolvedInputs, context, owner)
      const retried = await this.#runSingle({ ...chunk, stored: [...shapes, ...stored] }, index, resolved)
      if (retried.result.type === 'unresolved') throw new RangeError('an input stayed unresolved')
      return this.#handle(retried, chunk, index, proofInputs)
    } catch (error) {
      // Any other error means that a thread died.
      const problem = error instanceof ProblemError ? error.data : NOT_COMPUTED
      return this.tally.fail(id, underPath(problem, itemPath(chunk, index)))
    }
  }
}

/** Makes a chunk result that leaves every item to the main thread. */
function unfinishedChunk(items: readonly UnfinishedItem[]): ChunkResult {
  return {
    type: 'chunk',
    texts: { buffer: new ArrayBuffer(0), offsets: new Uint32Array(items.length + 1) },
    leaves: new Uint8Array(0),
    idLengths: new Uint32Array(0),
    payloads: { buffer: new ArrayBuffer(0), offsets: new Uint32Array(items.length + 1) },
    unfinished: new Map(items.entries()),
  }
}

/** Returns the path of an item: `items` and its index in a JSON batch, an empty path in a stream of lines. */
export function itemPath(
  { firstIndex }: Pick<ComputeChunk, 'firstIndex'>,
  index: number,
): readonly (string | number)[] {
  return firstIndex === undefined ? [] : ['items', firstIndex + index]
}

/** Returns the problem of an item with the path of the item. @throws any other error as it is */
export function problemFrom(error: unknown, path: readonly (string | number)[]): ProblemData {
  if (error instanceof ProblemError) return underPath(error.data, path)
  throw error
}

const NOT_COMPUTED: ProblemData = { type: 'internal', detail: 'the item could not be computed' }
const NOT_FINISHED: ProblemData = {
  type: 'internal',
  detail:
    'something failed on our side, perhaps after the result was stored; the same request with the same Idempotency-Key is submitted only once',
}
/** Problems that an item may not have when it is computed again later. */
const TRANSIENT: ReadonlySet<ProblemType> = new Set(['rate-limited', 'internal', 'database', 'overloaded'])

/** Counts the outcomes of the items of one batch, and collects the response headers. */
export class BatchTally {
  readonly #context: Pick<BatchContext, 'countItems' | 'problemJson'>
  failed = 0
  /** The first problem that an item may not have when it is computed again later. */
  transient: ProblemData | undefined
  /** Items that have a result without a signature. */
  unsigned = 0
  /** Response headers: the source of nonces that were not just read from the chain (decision 100). */
  headers: Readonly<Record<string, string>> = {}
  /** The last problem of items beyond a limit, and its JSON. */
  #limit: { readonly detail: string; readonly json: string } | undefined

  constructor(context: Pick<BatchContext, 'countItems' | 'problemJson'>) {
    this.#context = context
  }

  /**
   * @param headers as for a single response; if both occur, a default nonce is reported rather than a cached one, because it is
   * less likely to be valid
   */
  countSigned(items: number, headers: Readonly<Record<string, string>>): void {
    this.#context.countItems('ok', items)
    if (this.headers[NONCE_SOURCE] !== 'default') this.headers = { ...this.headers, ...headers }
  }

  /** Counts results that are not signed. */
  countUnsigned(items: number): void {
    this.unsigned += items
    this.#context.countItems('ok', items)
  }

  /**
   * Counts an item that failed.
   *
   * @param id `"id":…,` as JSON, or empty
   * @returns the JSON of the item
   */
  fail(id: string, problem: ProblemData): string {
    this.failed++
    if (TRANSIENT.has(problem.type)) this.transient ??= problem
    this.#context.countItems(problem.type, 1)
    if (problem.type !== 'rate-limited') return `{${id}"error":${this.#context.problemJson(problem)}}`
    // Cached because thousands of items in a row may be beyond a limit, and rejecting an item must not cost more than computing
    // it. Compared by value, because problems come back from a thread as copies.
    const { detail } = problem
    if (this.#limit?.detail !== detail) this.#limit = { detail, json: this.#context.problemJson(problem) }
    return `{${id}"error":${this.#limit.json}}`
  }
}
