import type { TextsResult } from '../batch-messages.ts'
import { type PackedBytes, pack } from '../packed-bytes.ts'
import { type BatchOptions, readBatchEnvelope, readBatchQuery } from '../validation/batch.ts'
import { type BatchParts, BatchRun } from './batch.ts'
import {
  answerEach,
  answerInSequence,
  answerUnderRoot,
  type BatchAnswerParts,
  type BatchTexts,
} from './batch-answers.ts'
import { checkSequence, headOf, largeEnvelope, noItems, tailOf } from './batch-envelope.ts'
import { areTexts, type BatchItems, textsOf, type UnsignedItems } from './batch-items.ts'
import { bytesOf, type Results, writeResults } from './batch-results.ts'
import { signTexts } from './batch-signing.ts'
import { Gate } from './gate.ts'
import { type SplitBatch, splitBatch } from './item-splitter.ts'
import { LineCutter } from './line-cutter.ts'
import { OrderedLane } from './ordered-lane.ts'
import type { BatchContext, BatchSink, LineStream, Services } from './services.ts'

export type BatchServiceParts = BatchParts & Omit<BatchAnswerParts, 'signing'>

/** Batches as JSON and as streams of lines: one line of work, two ways in and out. */
export function createBatchService(given: BatchServiceParts): Pick<Services, 'batch' | 'openBatch'> {
  const { limits } = given.config
  const parts = { ...given, signing: new Gate(SIGNED_CHUNKS) }
  // The signer takes longer for a chunk than the threads: what they do ahead of it only waits, in memory.
  const widthOf = ({ attest }: BatchOptions) => (attest === 'each' ? 2 : 2 * limits.largeThreads + 2)
  const assembling = new Gate(ASSEMBLED_BATCHES)

  return {
    async batch(body, context, sink) {
      const split = splitBatch(body, limits.maxBatchItems)
      // Without a list of items the envelope says what is missing.
      const envelope = split?.envelope ?? body
      if (envelope.length > limits.maxBatchEnvelopeBytes) {
        throw split === undefined ? noItems() : largeEnvelope(envelope.length, limits.maxBatchEnvelopeBytes)
      }
      const options = readBatchEnvelope(envelope, limits.maxJsonDepth)
      if (split === undefined) throw noItems()
      const isSequence = options.sequence === 'consecutive'
      if (isSequence) checkSequence(options, split.count)
      const run = new BatchRun(parts, options, context)
      run.reserve(split.count)
      if (options.attest === 'merkle') await writeTogether(run, body, split, sink, answerUnderRoot)
      else if (isSequence) await writeTogether(run, body, split, sink, answerInSequence)
      else await writeAsComputed(run, body, split, sink)
    },

    openBatch(query, context, sink, onRoom) {
      return openLines(new BatchRun(parts, readBatchQuery(query), context), context, sink, onRoom)
    },
  }

  /** What needs no look at the others is written as it comes. */
  async function writeAsComputed(run: BatchRun, body: Uint8Array, split: SplitBatch, sink: BatchSink): Promise<void> {
    let isStarted = false
    await inChunks(
      body,
      split,
      run.options,
      async (items, first) => {
        const found = await answered(run, await run.computeTexts(items, first), ',')
        return areTexts(found) ? bytesOf(found).subarray(0, -1) : found
      },
      async (results) => {
        const head = isStarted ? ',' : `${headOf(run.options)}"results":[`
        isStarted = true
        sink.addHeaders(run.tally.headers)
        await sink.write(head)
        await writeResults(sink, results, ',')
      },
    )
    await sink.write(`${isStarted ? '' : `${headOf(run.options)}"results":[`}${tailOf(run, split.count)}`)
  }

  /** @param separator behind each result that is bytes */
  function answered(
    run: BatchRun,
    found: BatchItems | UnsignedItems,
    separator: string,
  ): TextsResult | Promise<TextsResult | string[]> {
    if ('unsigned' in found) return signTexts(run, found, separator, parts)
    return areTexts(found) ? found : answerEach(run, found, parts)
  }

  /** What is signed together is written when all of it is there. */
  async function writeTogether(
    run: BatchRun,
    body: Uint8Array,
    split: SplitBatch,
    sink: BatchSink,
    answerAll: (run: BatchRun, chunks: readonly BatchItems[], parts: BatchAnswerParts) => Promise<BatchTexts>,
  ): Promise<void> {
    const { items, head } = await assembling.run(async () => {
      const chunks: BatchItems[] = []
      await inChunks(
        body,
        split,
        run.options,
        (items, first) => run.compute(items, first),
        (chunk) => void chunks.push(chunk),
      )
      return answerAll(run, chunks, parts)
    })
    sink.addHeaders(run.tally.headers)
    await sink.write(`${headOf(run.options)}${head}"results":[`)
    for (const piece of items) await sink.write(piece)
    await sink.write(tailOf(run, split.count))
  }

  async function inChunks<T>(
    body: Uint8Array,
    { starts, ends, count }: SplitBatch,
    options: BatchOptions,
    compute: (items: PackedBytes, first: number) => Promise<T>,
    write: (piece: T) => void | Promise<void>,
  ): Promise<void> {
    let begin = 0
    const lane = new OrderedLane<T>({ width: widthOf(options), write, onRoom: fill })
    function fill(): void {
      while (begin < count && !lane.isFull) {
        const first = begin
        begin = endOfChunk(starts, ends, first, count)
        const items = packItems(body, starts, ends, first, begin)
        lane.add(() => compute(items, first))
      }
    }
    fill()
    await lane.finish()
  }

  function openLines(
    run: BatchRun,
    context: BatchContext,
    sink: BatchSink,
    onRoom: (bytes: number) => void,
  ): LineStream {
    const cutter = new LineCutter(limits.maxBodyBytes)
    const sizes: number[] = []
    let begunBytes = 0
    const isFull = () => lane.isFull || begunBytes >= limits.maxStreamBytes / 2
    const lane = new OrderedLane<Results>({
      width: widthOf(run.options),
      write(results) {
        sink.addHeaders(run.tally.headers)
        return writeResults(sink, results, '')
      },
      onRoom() {
        const bytes = sizes.shift()!
        begunBytes -= bytes
        fill()
        onRoom(bytes)
      },
    })
    // Lines wait as bytes: cut, the shortest would take a hundred times their room.
    function fill(): void {
      while (!isFull()) {
        const group = cutter.next()
        if (group === undefined) return
        sizes.push(group.streamBytes)
        begunBytes += group.streamBytes
        lane.add(() => answerLines(run, context, group.lines))
      }
    }
    return {
      take(bytes) {
        cutter.take(bytes)
        fill()
      },
      get isFull() {
        return isFull()
      },
      async end(isCut) {
        if (!isCut) cutter.end()
        fill()
        await lane.finish()
      },
    }
  }

  /** @param lines a number stands for a line of so many bytes, which is too long */
  async function answerLines(
    run: BatchRun,
    context: BatchContext,
    lines: readonly (Uint8Array | number)[],
  ): Promise<Results> {
    const whole = lines.filter((line) => typeof line !== 'number')
    const found = whole.length === 0 ? [] : await answered(run, await run.computeTexts(pack(whole), undefined), '\n')
    if (areTexts(found) && whole.length === lines.length) return bytesOf(found)
    const answers = areTexts(found) ? textsOf(found.texts) : found
    let next = 0
    return lines.map((line) => `${typeof line === 'number' ? tooLong(context, line) : answers[next++]!}\n`)
  }

  function tooLong(context: BatchContext, bytes: number): string {
    context.countItems('payload-too-large', 1)
    const detail = `the line has ${bytes} bytes, more than ${limits.maxBodyBytes}`
    const place = { pointer: '#', detail, code: 'line-too-long', hint: 'send fewer vertices, or end lines with \\n' }
    return `{"error":${context.problemJson({ type: 'payload-too-large', detail, places: [place] })}}`
  }
}

/** Work for a thread that is worth a message. */
const CHUNK_ITEMS = 256
const CHUNK_BYTES = 32_768
/** Batches whose results are gathered until all of them are there, at one time: 10,000 are 20 MB of text. */
const ASSEMBLED_BATCHES = 2
/** Chunks at the signer at one time. */
const SIGNED_CHUNKS = 4

function endOfChunk(starts: Uint32Array, ends: Uint32Array, begin: number, count: number): number {
  let end = begin
  while (end < count && end - begin < CHUNK_ITEMS && ends[end]! - starts[begin]! <= CHUNK_BYTES) end++
  return Math.max(end, begin + 1)
}

function packItems(body: Uint8Array, starts: Uint32Array, ends: Uint32Array, begin: number, end: number): PackedBytes {
  return pack(Array.from({ length: end - begin }, (_, i) => body.subarray(starts[begin + i], ends[begin + i])))
}
