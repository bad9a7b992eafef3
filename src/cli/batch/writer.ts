import { existsSync, statSync } from 'node:fs'
import type { BatchResult, ProblemDetails } from '../../types/generated.ts'
import { usage } from '../exit-codes.ts'
import type { ReadBytes } from '../inputs/byte-pieces.ts'
import { printable, type Terminal } from '../terminal.ts'
import type { Entry } from './feeder.ts'
import { type Checkpoint, Journal, NOTHING_DONE, type RunIdentity } from './journal.ts'
import { LineFile } from './line-file.ts'

/** Where the answers of a run go. */
export interface BatchWriter {
  /** Where it began: what an earlier run has done. */
  readonly from: Checkpoint
  readonly now: Checkpoint
  /** False while the files are still as an earlier run left them. */
  readonly hasBegun: boolean
  result(result: BatchResult): Promise<void>
  refusal(entry: Entry, problem: ProblemDetails): void
  /** @param isComplete nothing is left to be done */
  close(isComplete: boolean): void
}

/** What is done again at most after a kill: the work of so long, or so many items. */
const CHECKPOINT_MS = 1000
const CHECKPOINT_ITEMS = 10_000

/**
 * Results and refusals into two files, with a journal beside them from which an interrupted run goes on.
 *
 * @param read how far the input is read
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
        throw usage(`${file} is there already: name another file, or --restart to write over it`)
      }
    }
  }
  const isLeft = isRestart && journal.hold()
  const output = new LineFile(files.output, from.outputBytes)
  const errors = new LineFile(files.errors, from.errorBytes)
  let { items, failed } = from
  let keptMs = now()
  let keptItems = items
  let hasBegun = false
  const begin = () => {
    hasBegun = true
    journal.write(from) // before the first line: what is in the files without it is another's, and nobody else may begin
    output.cut()
    errors.cut()
  }
  // A service that is down must not cost what is to be written over.
  if (!isRestart) begin()
  const state = (): Checkpoint => ({ items, failed, outputBytes: output.bytes, errorBytes: errors.bytes })
  const kept = (): Checkpoint => {
    const found = read()
    return { ...state(), ...(found === undefined ? {} : { read: found }) }
  }
  const checkpoint = () => {
    output.sync()
    errors.sync()
    journal.write(kept())
    keptMs = now()
    keptItems = items
  }
  const count = (isAnswer: boolean) => {
    items++
    const isMany = items - keptItems >= CHECKPOINT_ITEMS // what was refused without being sent is not held without end
    if (!hasBegun && (isAnswer || isMany)) begin()
    if (hasBegun && (isMany || now() - keptMs >= CHECKPOINT_MS)) checkpoint()
  }
  return {
    from,
    get now() {
      return state()
    },
    get hasBegun() {
      return hasBegun
    },
    async result(result) {
      output.add(`${JSON.stringify(result)}\n`)
      count(true)
    },
    refusal(entry, problem) {
      errors.add(errorLine(entry, problem))
      failed++
      count(entry.item !== undefined)
    },
    close(isComplete) {
      if (isComplete && !hasBegun) begin()
      if (hasBegun) checkpoint()
      output.close()
      errors.close()
      if (isComplete || (!hasBegun && !isLeft)) journal.remove()
    },
  }
}

/** Results on standard output, refusals on standard error: nothing goes on after an end. */
export function createPipeWriter(terminal: Terminal): BatchWriter {
  let items = 0
  let failed = 0
  const state = (): Checkpoint => ({ items, failed, outputBytes: 0, errorBytes: 0 })
  return {
    from: NOTHING_DONE,
    get now() {
      return state()
    },
    async result(result) {
      items++
      await terminal.out(`${JSON.stringify(result)}\n`)
    },
    refusal(entry, problem) {
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
