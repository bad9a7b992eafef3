/** Computes the items of a batch in this process, for `--local`. */
import { setImmediate as nextTick } from 'node:timers/promises'
import { pack } from '../../base/bytes.ts'
import type { LocalBatchOptions, LocalEngine, UnsignedResults } from '../local-engine.ts'
import { type Entry, type Feeder, type ItemResult, notSentProblem } from './feeder.ts'
import { JSON_LINES, type OutputFormat } from './output-format.ts'
import type { PackedGroup } from './packed-items.ts'
import type { BatchWriter } from './writer.ts'

export interface LocalRun {
  readonly engine: LocalEngine
  readonly call: LocalBatchOptions
  readonly signal: AbortSignal
}

/** Computes the items of a feeder, and calls `flush` after each group. */
export async function computeEntries(feeder: Feeder, flush: () => Promise<void>, run: LocalRun): Promise<void> {
  for await (const entries of feeder.unanswered()) {
    await requireRunning(run)
    const results = await computeItems(entries, run)
    entries.forEach((entry, index) => {
      entry.result = results[index]
    })
    await flush()
  }
  await flush()
}

/** Computes packed items, and calls `flush` after each group. The results stay bytes if the output has lines of JSON. */
export async function computePacked(
  groups: AsyncIterable<PackedGroup>,
  { writer, format, flush }: { writer: BatchWriter; format: OutputFormat; flush: () => Promise<void> },
  run: LocalRun,
): Promise<void> {
  const writeLines = (group: PackedGroup, { lines }: UnsignedResults, begin: number, end: number) => {
    const start = lines.offsets[begin]!
    const bytes = Buffer.from(lines.buffer, start, lines.offsets[end]! - start)
    if (begin === end) return
    if (format === JSON_LINES) return writer.results(end - begin, bytes)
    for (let index = begin; index < end; index++) {
      const text = bytes.toString('utf8', lines.offsets[index]! - start, lines.offsets[index + 1]! - start)
      writer.result(group.shown(group.positions[index]!), text)
    }
  }
  for await (const group of groups) {
    await requireRunning(run)
    const results = run.engine.computeUnsigned(group.items, run.call, format === JSON_LINES, group.composer)
    const rejected = results.rejected.map((item) => group.positions[item]!)
    let done = 0
    for (const index of [...group.faults, ...rejected].sort((first, second) => first - second)) {
      let item = done
      while (item < group.positions.length && group.positions[item]! < index) item++
      writeLines(group, results, done, item)
      await writeRejected(group.read(index), writer, run)
      done = group.positions[item] === index ? item + 1 : item
    }
    writeLines(group, results, done, group.items.offsets.length - 1)
    await flush()
  }
}

/** Writes an item that has a fault, or computes it again, parsed: as it was packed, the engine rejected it. */
async function writeRejected(entry: Entry, writer: BatchWriter, run: LocalRun): Promise<void> {
  if (entry.fault !== undefined) return writer.rejection(entry, notSentProblem(entry.fault))
  const [result] = await computeItems([entry], run)
  if ('json' in result!) writer.result(entry, result.json)
  else writer.rejection(entry, result!.error)
}

async function computeItems(entries: readonly Entry[], { engine, call }: LocalRun): Promise<ItemResult[]> {
  const { lines, others } = await engine.computeItems(
    pack(entries.map(({ item }) => Buffer.from(JSON.stringify(item)))),
    call,
  )
  const bytes = Buffer.from(lines.buffer)
  return entries.map((_, index) => {
    // A line feed follows each result.
    const [start, end] = [lines.offsets[index]!, lines.offsets[index + 1]! - 1]
    return others.get(index) ?? { json: bytes.toString('utf8', start, end) }
  })
}

/** Lets the process notice Ctrl-C. @throws the reason of the signal if it is aborted */
async function requireRunning({ signal }: LocalRun): Promise<void> {
  await nextTick()
  if (signal.aborted) throw signal.reason
}
