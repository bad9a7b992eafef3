import { existsSync, statSync } from 'node:fs'
import type { BatchResult, ProblemDetails } from '../../types/generated.ts'
import { usage } from '../exit-codes.ts'
import type { ReadBytes } from '../inputs/byte-pieces.ts'
import { printable, type Terminal } from '../terminal.ts'
import type { Entry } from './feeder.ts'
import { type Checkpoint, Journal, NOTHING_DONE, type RunIdentity } from './journal.ts'
import { LineFile } from './line-file.ts'

/** The destination of a run's results and errors. */
export interface BatchWriter {
  /** The checkpoint from which this run started. */
  readonly from: Checkpoint
  /** The current progress. */
  readonly progress: Checkpoint
  /** False while the files are unchanged since an earlier run. */
  readonly hasBegun: boolean
  result(result: BatchResult): Promise<void>
  rejection(entry: Entry, problem: ProblemDetails): void
  /** @param isComplete whether all items are done */
  close(isComplete: boolean): void
}

/** Intervals between checkpoints. After a kill, at most this much work is repeated. */
const CHECKPOINT_MS = 1000
const CHECKPOINT_ITEMS = 10_000

/**
 * Writes results and errors to two files, and a journal from which an interrupted run can be resumed.
 *
 * @param read returns how much of the input was read
 */
export function createFileWriter(
  files: { readonly output: string; readonly errors: string },
  identity: RunIdentity,
  isRestart: boolean,
  now: () => number,
  read: () => ReadBytes | undefined,
): BatchWriter {
  const journal = new Journal(files.output, identity)
  const from = isRestart ? NOTHING_DONE : (journal.read() ?? NOTHING_DONE)
  if (from === NOTHING_DONE && !isRestart) {
    for (const file of [files.output, files.errors]) {
      if (existsSync(file) && statSync(file).size > 0) {
        throw usage(`${file} already exists: choose another file, or overwrite it with --restart`)
      }
    }
  }
  const hasInterruptedRun = isRestart && journal.hold()
  const output = new LineFile(files.output, from.outputBytes)
  const errors = new LineFile(files.errors, from.errorBytes)
  let { items, failed } = from
  let checkpointMs = now()
  let checkpointItems = items
  let hasBegun = false
  const begin = () => {
    hasBegun = true
    journal.write(from) // first, to claim the files for this run
    output.cut()
    errors.cut()
  }
  // A restart overwrites nothing before the first result, so that an unavailable service costs no earlier results.
  if (!isRestart) begin()
  const state = (): Checkpoint => ({ items, failed, outputBytes: output.bytes, errorBytes: errors.bytes })
  const currentCheckpoint = (): Checkpoint => {
    const readBytes = read()
    return { ...state(), ...(readBytes === undefined ? {} : { read: readBytes }) }
  }
  const checkpoint = () => {
    output.sync()
    errors.sync()
    journal.write(currentCheckpoint())
    checkpointMs = now()
    checkpointItems = items
  }
  const count = (hasResponse: boolean) => {
    items++
    const isMany = items - checkpointItems >= CHECKPOINT_ITEMS // bounds the invalid items in memory
    if (!hasBegun && (hasResponse || isMany)) begin()
    if (hasBegun && (isMany || now() - checkpointMs >= CHECKPOINT_MS)) checkpoint()
  }
  return {
    from,
    get progress() {
      return state()
    },
    get hasBegun() {
      return hasBegun
    },
    async result(result) {
      output.add(`${JSON.stringify(result)}\n`)
      count(true)
    },
    rejection(entry, problem) {
      errors.add(errorLine(entry, problem))
      failed++
      count(entry.item !== undefined)
    },
    close(isComplete) {
      if (isComplete && !hasBegun) begin()
      if (hasBegun) checkpoint()
      output.close()
      errors.close()
      if (isComplete || (!hasBegun && !hasInterruptedRun)) journal.remove()
    },
  }
}

/** Writes results to standard output and errors to standard error. Such a run cannot be resumed. */
export function createPipeWriter(terminal: Terminal): BatchWriter {
  let items = 0
  let failed = 0
  const state = (): Checkpoint => ({ items, failed, outputBytes: 0, errorBytes: 0 })
  return {
    from: NOTHING_DONE,
    get progress() {
      return state()
    },
    async result(result) {
      items++
      await terminal.out(`${JSON.stringify(result)}\n`)
    },
    rejection(entry, problem) {
      items++
      failed++
      terminal.err(printable(errorLine(entry, problem)))
    },
    hasBegun: true,
    close() {},
  }
}

function errorLine({ place, id }: Entry, problem: ProblemDetails): string {
  return `${JSON.stringify({ place, id, problem })}\n`
}
