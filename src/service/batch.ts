import type { Config } from '../config.ts'
import type { ChunkItem, ComputeChunk, ComputeResult } from '../messages.ts'
import { type PackedBytes, pack } from '../packed-bytes.ts'
import { type ProblemData, ProblemError, underPath } from '../problem.ts'
import type { ComputePool } from '../threads/compute-pool.ts'
import type { BatchOptions } from '../validation/batch.ts'
import type { ChainPolicy } from './chain-policy.ts'
import type { Gate } from './gate.ts'
import type { InputResolver } from './inputs.ts'
import type { BatchContext } from './services.ts'
import type { SignedAnswers } from './signed-answer.ts'

export interface BatchParts {
  readonly config: Config
  readonly pool: ComputePool
  readonly chains: ChainPolicy
  readonly resolver: InputResolver
  readonly answers: SignedAnswers
  /** Of all batches together. */
  readonly signing: Gate
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

type OpenItem = Exclude<ChunkItem, string>
type Unresolved = Extract<ComputeResult, { ok: 'unresolved' }>

/** Runs the items of one caller's batch, chunk by chunk. Every item has a text in the end: its answer or its problem. */
export class BatchRun {
  readonly #parts: BatchParts
  readonly #options: BatchOptions
  readonly #context: BatchContext
  readonly #timestampSeconds: number
  failed = 0
  /** True once anything was computed: from then on what fails is said in the place of its items. */
  #isStarted = false

  constructor(parts: BatchParts, options: BatchOptions, context: BatchContext) {
    this.#parts = parts
    this.#options = options
    this.#context = context
    this.#timestampSeconds = Math.floor(parts.now() / 1000)
  }

  /**
   * @param firstIndex of the items in the batch; undefined for lines of a stream
   * @returns one JSON text for each item, in order
   * @throws {ProblemError} `overloaded` when nothing of the chunk can be computed now
   */
  async run(items: PackedBytes, firstIndex: number | undefined): Promise<string[]> {
    const granted = this.#context.takeQuota(items.offsets.length - 1)
    const chunk = this.#chunkOf(items, firstIndex, [])
    const found = await this.#compute(chunk, granted)
    if (found.every((item) => typeof item === 'string')) return found
    const finish = () =>
      Promise.all(found.map((item, index) => (typeof item === 'string' ? item : this.#finish(item, chunk, index))))
    return this.#parts.signing.run(finish)
  }

  #chunkOf(items: PackedBytes, firstIndex: number | undefined, resolved: ComputeChunk['resolved']): ComputeChunk {
    const { chainId, recipient, attest } = this.#options
    return { items, firstIndex, chainId, recipient, attest, resolved, timestampSeconds: this.#timestampSeconds }
  }

  /** @param granted items that the caller's limit still allows; the others are refused in place */
  async #compute(chunk: ComputeChunk, granted: number): Promise<(ChunkItem | ProblemData)[]> {
    const count = chunk.items.offsets.length - 1
    const allowed = granted < count ? { ...chunk, items: firstOf(chunk.items, granted) } : chunk
    const found: (ChunkItem | ProblemData)[] = granted === 0 ? [] : await this.#runChunk(allowed)
    while (found.length < count) found.push(this.#context.quotaProblem)
    return found
  }

  /** A chunk whose thread died goes again item by item: one of them may have killed it, the others get their answers. */
  async #runChunk(chunk: ComputeChunk): Promise<ChunkItem[]> {
    try {
      const items = await this.#submit(chunk)
      this.#isStarted = true
      return items
    } catch (error) {
      if (error instanceof ProblemError) {
        if (!this.#isStarted) throw error
        return Array.from({ length: chunk.items.offsets.length - 1 }, (_, index) => refusal(error.data, chunk, index))
      }
      const alone = this.#itemsOf(chunk).map(async (item, index): Promise<ChunkItem> => {
        try {
          const [result] = await this.#submit(item)
          return result!
        } catch (cause) {
          return refusal(cause instanceof ProblemError ? cause.data : NOT_COMPUTED, chunk, index)
        }
      })
      return Promise.all(alone)
    }
  }

  #submit(chunk: ComputeChunk): Promise<ChunkItem[]> {
    const { now, config } = this.#parts
    // The bytes travel away with the chunk; a copy stays for a second try.
    const copy = { buffer: chunk.items.buffer.slice(0), offsets: chunk.items.offsets }
    return this.#parts.pool.runChunk({
      chunk: { ...chunk, items: copy },
      // Each chunk has the time of a request: a stream may last for hours.
      deadlineMs: now() + config.limits.requestDeadlineMs,
      isAborted: () => this.#context.aborted,
    })
  }

  #itemsOf(chunk: ComputeChunk): ComputeChunk[] {
    const { buffer, offsets } = chunk.items
    return Array.from({ length: offsets.length - 1 }, (_, index) =>
      this.#alone(chunk, index, new Uint8Array(buffer).slice(offsets[index], offsets[index + 1]), []),
    )
  }

  #alone(
    { firstIndex }: ComputeChunk,
    index: number,
    body: Uint8Array,
    resolved: ComputeChunk['resolved'],
  ): ComputeChunk {
    return this.#chunkOf(pack([body]), firstIndex === undefined ? undefined : firstIndex + index, resolved)
  }

  async #finish(item: OpenItem | ProblemData, chunk: ComputeChunk, index: number): Promise<string> {
    if (!('operation' in item)) return this.#refused('', item)
    const { id, operation, result } = item
    if (result.ok === false) return this.#refused(id, result.problem)
    try {
      if (result.ok === 'unresolved') return await this.#resolve(item, result, chunk, index)
      const { json } = await this.#parts.answers.answer(operation, result, this.#timestampSeconds, [], id)
      return json
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      return this.#refused(id, placed(error.data, chunk, index))
    }
  }

  /** References are looked up here, and the item goes again by itself. */
  async #resolve(item: OpenItem, { chainId, inputs }: Unresolved, chunk: ComputeChunk, index: number): Promise<string> {
    const { chains, resolver, answers } = this.#parts
    chains.require(chainId)
    const open = inputs.map(({ input }) => input)
    const { resolved, proofInputs } = await resolver.resolve(chainId, open)
    const { buffer, offsets } = chunk.items
    const body = new Uint8Array(buffer).slice(offsets[index], offsets[index + 1])
    const [again] = await this.#submit(this.#alone(chunk, index, body, [resolved]))
    if (typeof again === 'string') return again
    const { id, operation, result } = again!
    if (result.ok === false) return this.#refused(id, result.problem)
    if (result.ok === 'unresolved') throw new RangeError(`an input of ${item.operation} stayed unresolved`)
    const { json } = await answers.answer(operation, result, this.#timestampSeconds, proofInputs, id)
    return json
  }

  #refused(id: string, problem: ProblemData): string {
    this.failed++
    return `{${id}"error":${this.#context.problemJson(problem)}}`
  }
}

const NOT_COMPUTED: ProblemData = { type: 'internal', detail: 'the item could not be computed' }

function refusal(problem: ProblemData, chunk: ComputeChunk, index: number): ChunkItem {
  return { id: '', operation: 'distance', result: { ok: false, problem: placed(problem, chunk, index) } }
}

/** In a list of items, places begin at the list. */
function placed(problem: ProblemData, { firstIndex }: ComputeChunk, index: number): ProblemData {
  return firstIndex === undefined ? problem : underPath(problem, ['items', firstIndex + index])
}

function firstOf({ buffer, offsets }: PackedBytes, count: number): PackedBytes {
  return { buffer: buffer.slice(0, offsets[count]), offsets: offsets.slice(0, count + 1) }
}
