import { type PackedBytes, pack } from '../packed-bytes.ts'
import { problemAt } from '../problem.ts'
import { type BatchOptions, readBatchEnvelope, readBatchQuery } from '../validation/batch.ts'
import { type BatchParts, BatchRun } from './batch.ts'
import { Gate } from './gate.ts'
import { splitBatch } from './item-splitter.ts'
import { LineCutter } from './line-cutter.ts'
import { OrderedLane } from './ordered-lane.ts'
import type { BatchContext, LineStream, Services, TextSink } from './services.ts'

/** Batches as JSON and as streams of lines: one line of work, two ways in and out. */
export function createBatchService(parts: Omit<BatchParts, 'signing'>): Pick<Services, 'batch' | 'openBatch'> {
  const { limits } = parts.config
  const width = 2 * limits.largeThreads + 2
  // Whatever the number of batches: single requests find room at the signer.
  const signing = new Gate(SIGNED_CHUNKS)

  return {
    async batch(body, context, sink) {
      const split = splitBatch(body, limits.maxBatchItems)
      // Without a list of items the envelope says what is missing.
      const options = readBatchEnvelope(split?.envelope ?? body, limits.maxJsonDepth)
      if (split === undefined) throw noItems()
      const run = new BatchRun({ ...parts, signing }, options, context)
      await writeJson(run, options, split.count, sink, (begin) => {
        const end = endOfChunk(split.starts, split.ends, begin, split.count)
        return [end, packItems(body, split.starts, split.ends, begin, end)]
      })
    },

    openBatch(query, context, sink, onRoom) {
      return openLines(new BatchRun({ ...parts, signing }, readBatchQuery(query), context), context, sink, onRoom)
    },
  }

  async function writeJson(
    run: BatchRun,
    options: BatchOptions,
    count: number,
    sink: TextSink,
    next: (begin: number) => readonly [end: number, items: PackedBytes],
  ): Promise<void> {
    let begin = 0
    let isStarted = false
    const lane = new OrderedLane({
      width,
      write(text) {
        const head = isStarted ? ',' : `{"chainId":${options.chainId},"attest":"${options.attest}","results":[`
        isStarted = true
        return sink.write(head + text)
      },
      onRoom: fill,
    })
    function fill(): void {
      while (begin < count && !lane.isFull) {
        const [end, items] = next(begin)
        const first = begin
        lane.add(async () => (await run.run(items, first)).join(','))
        begin = end
      }
    }
    fill()
    await lane.finish()
    const empty = isStarted ? '' : `{"chainId":${options.chainId},"attest":"${options.attest}","results":[`
    await sink.write(`${empty}],"count":${count},"failed":${run.failed}}`)
  }

  function openLines(
    run: BatchRun,
    context: BatchContext,
    sink: TextSink,
    onRoom: (bytes: number) => void,
  ): LineStream {
    const sizes: number[] = []
    const lane = new OrderedLane({
      width,
      write: (text) => sink.write(text),
      onRoom: () => onRoom(sizes.shift()!),
    })
    const cutter = new LineCutter(limits.maxBodyBytes, ({ lines, streamBytes }) => {
      sizes.push(streamBytes)
      lane.add(() => answerLines(run, context, lines))
    })
    return {
      take: (bytes) => cutter.take(bytes),
      get isFull() {
        return lane.isFull
      },
      async end() {
        cutter.end()
        await lane.finish()
      },
    }
  }

  /** @param lines a number stands for a line of so many bytes, which is too long */
  async function answerLines(
    run: BatchRun,
    context: BatchContext,
    lines: readonly (Uint8Array | number)[],
  ): Promise<string> {
    const whole = lines.filter((line) => typeof line !== 'number')
    const answers = whole.length === 0 ? [] : await run.run(pack(whole), undefined)
    let next = 0
    return lines.map((line) => `${typeof line === 'number' ? tooLong(context, line) : answers[next++]!}\n`).join('')
  }

  function tooLong(context: BatchContext, bytes: number): string {
    const detail = `the line has ${bytes} bytes, more than ${limits.maxBodyBytes}`
    return `{"error":${context.problemJson({ type: 'payload-too-large', detail })}}`
  }
}

/** Work for a thread that is worth a message. */
const CHUNK_ITEMS = 256
const CHUNK_BYTES = 32_768
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

function noItems() {
  return problemAt('invalid-input', ['items'], 'must be a list of operations', {
    code: 'wrong-type',
    hint: 'send {"chainId": …, "items": [{"op": "distance", "from": …, "to": …}]}',
  })
}
