import { type PackedBytes, pack } from '../../base/bytes.ts'
import { type BatchOptions, readBatchEnvelope, readBatchQuery } from '../../validation/batch.ts'
import type { TextsResult } from '../../wire/batch-messages.ts'
import { Gate } from '../gate.ts'
import type { BatchContext, BatchSink, LineStream } from '../request.ts'
import type { Services } from '../services.ts'
import { attestEach, attestInSequence, attestUnderRoot, type BatchAttestParts, type BatchTexts } from './answers.ts'
import { type BatchParts, BatchRun } from './batch.ts'
import {
  checkSequence,
  envelopeTooLarge,
  missingItems,
  responseHead,
  responseTail,
  type SplitBatch,
  splitBatch,
} from './item-splitter.ts'
import { areTexts, type BatchItems, type UnsignedItems, unpackTexts } from './items.ts'
import { LineCutter } from './line-cutter.ts'
import { OrderedLane } from './ordered-lane.ts'
import { signTexts } from './signing.ts'
import { type Results, resultBytes, writeResults } from './tally.ts'

export type BatchServiceParts = BatchParts & Omit<BatchAttestParts, 'signing'>

/**
 * Makes the batch service. JSON batches and streams of lines share the same processing and differ only in how items come and go.
 */
export function createBatchService(serviceParts: BatchServiceParts): Pick<Services, 'batch' | 'openBatch'> {
  const { limits } = serviceParts.config
  const parts = { ...serviceParts, signing: new Gate(MAX_SIGNING_CHUNKS) }
  // The signer takes longer for a chunk than the compute threads. If they ran further ahead, results would only pile up in
  // memory.
  const laneWidth = ({ attest }: BatchOptions) => (attest === 'each' ? 2 : 2 * limits.largeThreads + 2)
  const assembling = new Gate(MAX_ASSEMBLING_BATCHES)

  return {
    async batch(body, context, sink) {
      const split = splitBatch(body, limits.maxBatchItems)
      // Without a list of items, check the whole body as an envelope: that reports other errors first.
      const envelope = split?.envelope ?? body
      if (envelope.length > limits.maxBatchEnvelopeBytes) {
        throw split === undefined ? missingItems() : envelopeTooLarge(envelope.length, limits.maxBatchEnvelopeBytes)
      }
      const options = readBatchEnvelope(envelope, limits.maxJsonDepth)
      if (split === undefined) throw missingItems()
      const isSequence = options.sequence === 'consecutive'
      if (isSequence) checkSequence(options, split.count)
      const run = new BatchRun(parts, options, context)
      run.reserve(split.count)
      if (options.attest === 'merkle') await writeTogether(run, body, split, sink, attestUnderRoot)
      else if (isSequence) await writeTogether(run, body, split, sink, attestInSequence)
      else await writeAsComputed(run, body, split, sink)
    },

    openBatch(query, context, sink, onRoom) {
      return openLines(new BatchRun(parts, readBatchQuery(query), context), context, sink, onRoom)
    },
  }

  /** Writes the results as they are computed, for batches whose items do not depend on each other. */
  async function writeAsComputed(run: BatchRun, body: Uint8Array, split: SplitBatch, sink: BatchSink): Promise<void> {
    let isStarted = false
    await inChunks(
      body,
      split,
      run.options,
      async (items, first) => {
        const results = await toResults(run, await run.computeTexts(items, first), ',')
        return areTexts(results) ? resultBytes(results).subarray(0, -1) : results
      },
      async (results) => {
        const head = isStarted ? ',' : `${responseHead(run.options)}"results":[`
        isStarted = true
        sink.addHeaders(run.tally.headers)
        await sink.write(head)
        await writeResults(sink, results, ',')
      },
    )
    await sink.write(`${isStarted ? '' : `${responseHead(run.options)}"results":[`}${responseTail(run, split.count)}`)
  }

  /**
   * Has the items signed where necessary and returns their finished JSON.
   *
   * @param separator follows each result that is returned as bytes
   */
  function toResults(
    run: BatchRun,
    items: BatchItems | UnsignedItems,
    separator: string,
  ): TextsResult | Promise<TextsResult | string[]> {
    if ('unsigned' in items) return signTexts(run, items, separator, parts)
    return areTexts(items) ? items : attestEach(run, items, parts)
  }

  /** Computes and signs all items before it writes the first result, for batches that are signed together. */
  async function writeTogether(
    run: BatchRun,
    body: Uint8Array,
    split: SplitBatch,
    sink: BatchSink,
    answerAll: (run: BatchRun, chunks: readonly BatchItems[], parts: BatchAttestParts) => Promise<BatchTexts>,
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
    await sink.write(`${responseHead(run.options)}${head}"results":[`)
    for (const piece of items) await sink.write(piece)
    await sink.write(responseTail(run, split.count))
  }

  async function inChunks<T>(
    body: Uint8Array,
    { starts, ends, count }: SplitBatch,
    options: BatchOptions,
    compute: (items: PackedBytes, first: number) => Promise<T>,
    write: (piece: T) => void | Promise<void>,
  ): Promise<void> {
    let begin = 0
    const lane = new OrderedLane<T>({ width: laneWidth(options), write, onRoom: fill })
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
    let startedBytes = 0
    const isFull = () => lane.isFull || startedBytes >= limits.maxStreamBytes / 2
    const lane = new OrderedLane<Results>({
      width: laneWidth(run.options),
      write(results) {
        sink.addHeaders(run.tally.headers)
        return writeResults(sink, results, '')
      },
      onRoom() {
        const bytes = sizes.shift()!
        startedBytes -= bytes
        fill()
        onRoom(bytes)
      },
    })
    // Lines wait as uncut bytes. Cut into lines, the shortest would take a hundred times the memory.
    function fill(): void {
      while (!isFull()) {
        const group = cutter.next()
        if (group === undefined) return
        sizes.push(group.streamBytes)
        startedBytes += group.streamBytes
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

  /** @param lines a number is the byte length of a line that was too long */
  async function answerLines(
    run: BatchRun,
    context: BatchContext,
    lines: readonly (Uint8Array | number)[],
  ): Promise<Results> {
    const acceptedLines = lines.filter((line) => typeof line !== 'number')
    const results =
      acceptedLines.length === 0
        ? []
        : await toResults(run, await run.computeTexts(pack(acceptedLines), undefined), '\n')
    if (areTexts(results) && acceptedLines.length === lines.length) return resultBytes(results)
    const texts = areTexts(results) ? unpackTexts(results.texts) : results
    let next = 0
    return lines.map((line) => `${typeof line === 'number' ? lineTooLongJson(context, line) : texts[next++]!}\n`)
  }

  function lineTooLongJson(context: BatchContext, bytes: number): string {
    context.countItems('payload-too-large', 1)
    const detail = `the line has ${bytes} bytes, more than ${limits.maxBodyBytes}`
    const entry = { pointer: '#', detail, code: 'line-too-long', hint: 'send fewer vertices, or end lines with \\n' }
    return `{"error":${context.problemJson({ type: 'payload-too-large', detail, places: [entry] })}}`
  }
}

/** Limits of a chunk: enough work to be worth a message to a thread. */
const MAX_CHUNK_ITEMS = 256
const MAX_CHUNK_BYTES = 32_768
/** Number of batches that may gather all their results in memory at one time: 10,000 results are 20 MB of JSON. */
const MAX_ASSEMBLING_BATCHES = 2
/** Number of chunks that may be at the signer at one time. */
const MAX_SIGNING_CHUNKS = 4

function endOfChunk(starts: Uint32Array, ends: Uint32Array, begin: number, count: number): number {
  let end = begin
  while (end < count && end - begin < MAX_CHUNK_ITEMS && ends[end]! - starts[begin]! <= MAX_CHUNK_BYTES) end++
  return Math.max(end, begin + 1)
}

function packItems(body: Uint8Array, starts: Uint32Array, ends: Uint32Array, begin: number, end: number): PackedBytes {
  return pack(Array.from({ length: end - begin }, (_, i) => body.subarray(starts[begin + i], ends[begin + i])))
}
