import { type PackedBytes, pack, unpack } from '../../base/bytes.ts'
import type { ProblemData } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import { type BatchOptions, readBatchQuery } from '../../validation/batch.ts'
import { EarlierResultError } from '../chains/submissions.ts'
import type { ResponseSigner } from '../compute/signed-answer.ts'
import { Gate } from '../gate.ts'
import type { BatchContext, BatchSink, LineStream } from '../request.ts'
import type { Services } from '../services.ts'
import { type BatchParts, BatchRun, type ComputedChunk } from './batch.ts'
import { LineCutter, type SplitBatch } from './item-cutters.ts'
import { readJsonBatch } from './json-batch.ts'
import { rejectUnused } from './named-inputs.ts'
import { OrderedQueue } from './ordered-queue.ts'
import { attestInSequence, attestUnderRoot, type BatchTexts, signEach } from './sign.ts'
import { requireSubmitted, rootSubmissionMember, type SubmitParts, storeRoot, submitEach } from './submit.ts'

export interface BatchServiceParts extends BatchParts, SubmitParts {
  readonly answers: ResponseSigner
}

/** What all batches share: the parts of the service, and the limits of what batches do at the same time. */
export interface SharedParts extends BatchServiceParts {
  readonly signing: Gate
  readonly assembling: Gate
}

/** Limits of a chunk: enough work to be worth a message to a thread. */
const MAX_CHUNK_ITEMS = 256
const MAX_CHUNK_BYTES = 32_768
/** Number of batches that may gather all their results in memory at one time, and of those of one client: 10,000 results are 20 MB of JSON. */
const ASSEMBLING_BATCHES = { all: 3, ofOneClient: 2 }
/** Number of chunks that may be at the signer at one time, and of those of one client. */
const SIGNING_CHUNKS = { all: 4, ofOneClient: 3 }

/** Adds the limits that all batches and jobs of the service share. */
export function shareLimits(parts: BatchServiceParts): SharedParts {
  return {
    ...parts,
    signing: new Gate(SIGNING_CHUNKS.all, SIGNING_CHUNKS.ofOneClient),
    assembling: new Gate(ASSEMBLING_BATCHES.all, ASSEMBLING_BATCHES.ofOneClient),
  }
}

/**
 * Makes the batch service. JSON batches and streams of lines share the same processing and differ only in how items arrive and
 * how results are written.
 */
export function createBatchService(parts: SharedParts): Pick<Services, 'batch' | 'openBatch'> {
  const createRun = (options: BatchOptions, context: BatchContext) => {
    // Only a stream may leave the chain to its lines.
    if (options.chainId !== undefined) parts.chains.requireForBatch(options.chainId)
    return new BatchRun(parts, options, context)
  }
  return {
    async batch(body, context, sink) {
      const { options, split, names } = await readJsonBatch(body, parts.config.limits, context)
      const run = createRun(options, context)
      await rejectUnused(names, body, split, context)
      if (options.submitOnchain) requireSubmitted(run, split.count, parts)
      await run.reserve(split.count)
      await run.readNames(names)
      await answerJson(new JsonBatch(parts, run, body, split, sink))
    },

    openBatch(query, context, sink, onRoom) {
      return new LineBatch(parts, createRun(readBatchQuery(query), context), sink, onRoom)
    },
  }
}

/** Answers a batch; as of an earlier time if its `Idempotency-Key` stands for the root of that time. */
async function answerJson(batch: JsonBatch): Promise<void> {
  try {
    await batch.answer()
  } catch (error) {
    if (!(error instanceof EarlierResultError)) throw error
    await batch.asOf(error.timestampSeconds).answer()
  }
}

/** A batch that is one JSON document. */
class JsonBatch {
  readonly #parts: SharedParts
  readonly #run: BatchRun
  readonly #body: Uint8Array
  readonly #split: SplitBatch
  readonly #sink: BatchSink

  constructor(parts: SharedParts, run: BatchRun, body: Uint8Array, split: SplitBatch, sink: BatchSink) {
    this.#parts = parts
    this.#run = run
    this.#body = body
    this.#split = split
    this.#sink = sink
  }

  /** Returns the same batch, to be computed as of another time. */
  asOf(timestampSeconds: number): JsonBatch {
    return new JsonBatch(this.#parts, this.#run.asOf(timestampSeconds), this.#body, this.#split, this.#sink)
  }

  answer(): Promise<void> {
    const { attest, sequence, submitOnchain } = this.#run.options
    if (submitOnchain && attest === 'each') return this.#writeSubmitted()
    if (attest === 'merkle') return this.#writeTogether((chunks) => attestUnderRoot(this.#run, chunks, this.#parts))
    if (sequence === 'consecutive') {
      return this.#writeTogether((chunks) => attestInSequence(this.#run, chunks, this.#parts))
    }
    return this.#writeAsComputed()
  }

  /** Writes the results as they are computed, for batches whose items do not depend on each other. */
  async #writeAsComputed(): Promise<void> {
    const run = this.#run
    const sink = this.#sink
    let isStarted = false
    await this.#inChunks<Uint8Array>(
      async (items, first) =>
        resultBytes(await signEach(run, await run.compute(items, first), ',', this.#parts)).subarray(0, -1),
      async (results) => {
        const head = isStarted ? ',' : this.#head()
        isStarted = true
        sink.addHeaders(run.tally.headers)
        await sink.write(head)
        await sink.write(results)
      },
    )
    await sink.write(`${isStarted ? '' : this.#head()}${this.#tail()}`)
  }

  /** Computes and signs all items before it writes the first result, for batches that are signed together. */
  async #writeTogether(signAll: (chunks: readonly ComputedChunk[]) => Promise<BatchTexts>): Promise<void> {
    const run = this.#run
    const { items, head, stored } = await this.#parts.assembling.run(run.client, async () => {
      const chunks = await this.#computeAll()
      if (run.isSubmittedWhole) run.requireRepeatable()
      const texts = await signAll(chunks)
      const isSubmitted = run.isSubmittedWhole && texts.payload !== undefined
      return { ...texts, stored: isSubmitted ? await storeRoot(run, texts.payload, this.#parts) : undefined }
    })
    this.#sink.addHeaders(run.tally.headers)
    await this.#sink.write(this.#head(head))
    for (const piece of items) await this.#sink.write(piece)
    // The wait for the block comes last, so that the results do not fill memory meanwhile.
    await this.#sink.write(this.#tail(stored && (await rootSubmissionMember(run, stored, this.#parts))))
  }

  /** Computes all items, then submits each result and writes all of them. */
  async #writeSubmitted(): Promise<void> {
    const chunks = await this.#parts.assembling.run(this.#run.client, () => this.#computeAll())
    const computeOne = (run: BatchRun, index: number) =>
      run.compute(packItems(this.#body, this.#split, index, index + 1), index)
    const items = await submitEach(this.#run, chunks, computeOne, this.#parts)
    this.#sink.addHeaders(this.#run.tally.headers)
    await this.#sink.write(`${this.#head()}${items.join(',')}${this.#tail()}`)
  }

  async #computeAll(): Promise<readonly ComputedChunk[]> {
    const chunks: ComputedChunk[] = []
    await this.#inChunks(
      (items, first) => this.#run.compute(items, first),
      (computed) => void chunks.push(computed),
    )
    return chunks
  }

  /** Computes the items chunk by chunk, several chunks at a time, and writes the chunks in order. */
  async #inChunks<T>(
    compute: (items: PackedBytes, first: number) => Promise<T>,
    write: (piece: T) => void | Promise<void>,
  ): Promise<void> {
    const body = this.#body
    const split = this.#split
    let begin = 0
    const queue = new OrderedQueue<T>({ width: queueWidth(this.#run.options, this.#parts.config), write, onRoom: fill })
    function fill(): void {
      while (begin < split.count && !queue.isFull) {
        const first = begin
        begin = endOfChunk(split, first)
        const items = packItems(body, split, first, begin)
        queue.add(() => compute(items, first))
      }
    }
    fill()
    await queue.finish()
  }

  /** Returns the response up to its first result. @param members JSON members, each followed by a comma */
  #head(members = ''): string {
    const { chainId, attest } = this.#run.options
    return `{"chainId":${chainId},"attest":"${attest}",${members}"results":[`
  }

  /** Returns the end of the response. @param members JSON members, each with a comma before it */
  #tail(members = ''): string {
    return `],"count":${this.#split.count},"failed":${this.#run.tally.failed}${members}}`
  }
}

/** A batch whose items and results are lines. */
class LineBatch implements LineStream {
  readonly #parts: SharedParts
  readonly #run: BatchRun
  readonly #cutter: LineCutter
  readonly #queue: OrderedQueue<Uint8Array>
  readonly #onRoom: (bytes: number) => void
  /** Stream bytes of each group that was started and not yet written, and their sum. */
  readonly #sizes: number[] = []
  #startedBytes = 0

  constructor(parts: SharedParts, run: BatchRun, sink: BatchSink, onRoom: (bytes: number) => void) {
    this.#parts = parts
    this.#run = run
    this.#onRoom = onRoom
    this.#cutter = new LineCutter(parts.config.limits.maxBodyBytes)
    this.#queue = new OrderedQueue<Uint8Array>({
      width: queueWidth(run.options, parts.config),
      write(results) {
        sink.addHeaders(run.tally.headers)
        return sink.write(results)
      },
      onRoom: () => this.#releaseGroup(),
    })
  }

  take(bytes: Uint8Array): void {
    this.#cutter.take(bytes)
    this.#fill()
  }

  get isFull(): boolean {
    return this.#queue.isFull || this.#startedBytes >= this.#parts.config.limits.maxStreamBytes / 2
  }

  async end(isCut: boolean): Promise<void> {
    if (!isCut) this.#cutter.end()
    this.#fill()
    await this.#queue.finish()
  }

  /**
   * Starts groups of lines. Waiting lines stay uncut bytes, because one object for each short line takes a hundred times the
   * memory.
   */
  #fill(): void {
    while (!this.isFull) {
      const group = this.#cutter.next()
      if (group === undefined) return
      this.#sizes.push(group.streamBytes)
      this.#startedBytes += group.streamBytes
      this.#queue.add(() =>
        answerLines(this.#run, group.lines, this.#parts.config.limits, (chunk) =>
          signEach(this.#run, chunk, '\n', this.#parts),
        ),
      )
    }
  }

  /** Called after the oldest group was written. */
  #releaseGroup(): void {
    const bytes = this.#sizes.shift()!
    this.#startedBytes -= bytes
    this.#fill()
    this.#onRoom(bytes)
  }
}

/**
 * Answers lines of a stream or of a job.
 *
 * @param lines a number is the byte length of a line that was too long
 * @param finish attests the results of the lines that were not too long, and returns each with a newline
 * @returns the results, each followed by a newline
 */
export async function answerLines(
  run: BatchRun,
  lines: readonly (Uint8Array | number)[],
  { maxBodyBytes }: Pick<Config['limits'], 'maxBodyBytes'>,
  finish: (chunk: ComputedChunk) => Promise<PackedBytes>,
): Promise<Uint8Array> {
  const accepted = lines.filter((line) => typeof line !== 'number')
  const results = accepted.length === 0 ? undefined : await finish(await run.compute(pack(accepted), undefined))
  if (results !== undefined && accepted.length === lines.length) return resultBytes(results)
  let next = 0
  return Buffer.concat(
    lines.map((line) =>
      typeof line === 'number'
        ? Buffer.from(`${run.tally.fail('', lineTooLong(line, maxBodyBytes))}\n`)
        : unpack(results!, next++),
    ),
  )
}

function lineTooLong(bytes: number, maxBodyBytes: number): ProblemData {
  const detail = `the line has ${bytes} bytes, more than ${maxBodyBytes}`
  const entry = { pointer: '#', detail, code: 'line-too-long', hint: 'send fewer vertices, or end lines with \\n' }
  return { type: 'payload-too-large', detail, invalidParts: [entry] }
}

/** Returns the number of chunks of one batch that may be in progress. */
export function queueWidth({ attest }: BatchOptions, { limits }: Config): number {
  // The signer takes longer for a chunk than the compute threads. If they ran further ahead, results would only pile up in
  // memory.
  return attest === 'each' ? 2 : 2 * limits.largeThreadsPerClient + 2
}

function endOfChunk({ starts, ends, count }: SplitBatch, begin: number): number {
  let end = begin
  while (end < count && end - begin < MAX_CHUNK_ITEMS && ends[end]! - starts[begin]! <= MAX_CHUNK_BYTES) end++
  return Math.max(end, begin + 1)
}

function packItems(body: Uint8Array, { starts, ends }: SplitBatch, begin: number, end: number): PackedBytes {
  return pack(Array.from({ length: end - begin }, (_, i) => body.subarray(starts[begin + i], ends[begin + i])))
}

/** Returns the bytes of all results, each followed by its separator. */
function resultBytes({ buffer, offsets }: PackedBytes): Uint8Array {
  return new Uint8Array(buffer, 0, offsets[offsets.length - 1])
}
