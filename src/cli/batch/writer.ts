import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import type { ProblemDetails } from '../../types/generated.ts'
import { usage } from '../exit-codes.ts'
import type { ReadBytes } from '../inputs/pieces.ts'
import { printable, type Terminal } from '../terminal.ts'
import type { AnswerLine, Entry, ItemResult, ShownItem } from './feeder.ts'
import { type Checkpoint, Journal, NOTHING_DONE, type RunIdentity } from './journal.ts'
import type { OutputFormat } from './output-format.ts'

const BUFFER_BYTES = 262_144

/** A file to which lines are appended. Lines stay in memory until `cut` is called; before that the file is not changed. */
class LineFile {
  readonly #file: string
  readonly #descriptor: number
  readonly #initialBytes: number
  #writtenBytes: number
  #isCut = false
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  #bufferedBytes = 0

  /**
   * @param bytes number of bytes of the existing file to keep
   * @throws {CommandError} if the file cannot be written or is shorter than that
   */
  constructor(file: string, bytes: number) {
    this.#file = file
    try {
      this.#descriptor = openSync(file, bytes === 0 ? constants.O_WRONLY | constants.O_CREAT : 'r+')
    } catch (error) {
      throw usage(`${file}: cannot write the file (${(error as NodeJS.ErrnoException).code})`, error)
    }
    const { size } = fstatSync(this.#descriptor)
    if (size < bytes) throw usage(`${file}: shorter than the interrupted run left it: start again with --restart`)
    this.#initialBytes = bytes
    this.#writtenBytes = bytes
  }

  /** Truncates the file to the bytes to keep. From then on lines are written. */
  cut(): void {
    // A device has no size and cannot be truncated.
    if (fstatSync(this.#descriptor).size > this.#initialBytes) ftruncateSync(this.#descriptor, this.#initialBytes)
    this.#isCut = true
  }

  /** Size of the file, including lines that are not written yet. */
  get bytes(): number {
    return this.#writtenBytes + this.#bufferedBytes
  }

  addText(text: string): void {
    this.#reserve(3 * text.length)
    this.#bufferedBytes += this.#buffer.write(text, this.#bufferedBytes)
  }

  addBytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#buffer.set(bytes, this.#bufferedBytes)
    this.#bufferedBytes += bytes.length
  }

  /** Writes all lines to disk before it returns, if `cut` was called. */
  sync(): void {
    this.#write()
    fdatasyncSync(this.#descriptor)
  }

  close(): void {
    this.#write()
    closeSync(this.#descriptor)
  }

  /** Removes the file, after `close`, if it is empty. A device stays. */
  removeIfEmpty(): void {
    // A symbolic link stays.
    const found = lstatSync(this.#file, { throwIfNoEntry: false })
    if (found?.isFile() === true && found.size === 0) rmSync(this.#file)
  }

  #reserve(bytes: number): void {
    if (this.#bufferedBytes + bytes <= this.#buffer.length) return
    this.#write()
    if (this.#bufferedBytes + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(2 * (this.#bufferedBytes + bytes))
    this.#buffer.copy(larger, 0, 0, this.#bufferedBytes)
    this.#buffer = larger
  }

  #write(): void {
    if (this.#bufferedBytes === 0 || !this.#isCut) return
    const bytes = this.#buffer.subarray(0, this.#bufferedBytes)
    try {
      for (let done = 0; done < bytes.length; )
        done += writeSync(this.#descriptor, bytes, done, bytes.length - done, this.#writtenBytes + done)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw usage(
        `${this.#file}: cannot write the file (${code}): make room, then run the same command to resume`,
        error,
      )
    }
    this.#writtenBytes += bytes.length
    this.#bufferedBytes = 0
  }
}

type RejectedItem = ShownItem & Pick<Entry, 'place' | 'fault'>

/** The destination of a run's results and errors. */
export interface BatchWriter {
  /** The checkpoint from which this run started. */
  readonly from: Checkpoint
  /** The current progress. */
  readonly progress: Checkpoint
  /** False while the files are unchanged since an earlier run. */
  readonly hasBegun: boolean
  /** The first rejection of this run, as text. */
  readonly firstRejection: string | undefined
  /** @param json the result as JSON text */
  result(item: ShownItem, json: string): void
  /** @param lines results as lines of JSON, for the format that has them */
  results(items: number, lines: Uint8Array): void
  rejection(item: RejectedItem, problem: ProblemDetails): void
  /** Saves a checkpoint if it is due, or flushes the output of a pipe. Resolves when there is room for more. */
  drained(): Promise<void>
  /** Saves the results of items that wait for an earlier item, so that the next run does not compute them again. */
  saveAhead(entries: readonly Entry<unknown>[]): void
  /** @param isComplete whether all items are done */
  close(isComplete: boolean): void
}

/** Interval between checkpoints. After a kill, at most this much work is repeated. */
const CHECKPOINT_MS = 1000
/** Number of invalid items that are in memory before any item has a response. */
const MAX_WAITING_ITEMS = 10_000

/** Writes results and errors to two files, and a journal from which an interrupted run can be resumed. */
export class FileWriter implements BatchWriter {
  readonly from: Checkpoint
  hasBegun = false
  firstRejection: string | undefined
  readonly #journal: Journal
  readonly #output: LineFile
  readonly #errors: LineFile
  readonly #format: OutputFormat
  readonly #now: () => number
  readonly #read: () => ReadBytes | undefined
  /** True if this run replaces an interrupted one. The old journal stays until this run writes, so that the old run can be resumed. */
  readonly #hasInterruptedRun: boolean
  #items: number
  #failed: number
  #ahead: NonNullable<Checkpoint['ahead']>
  #checkpointMs: number

  /**
   * @param read returns how much of the input was read
   * @throws {CommandError} if the files belong to another run or cannot be written
   */
  constructor(
    { format, ...files }: { readonly output: string; readonly errors: string; readonly format: OutputFormat },
    identity: RunIdentity,
    isRestart: boolean,
    now: () => number,
    read: () => ReadBytes | undefined,
  ) {
    this.#journal = new Journal(files.output, identity)
    this.from = isRestart ? NOTHING_DONE : (this.#journal.read() ?? NOTHING_DONE)
    if (this.from === NOTHING_DONE && !isRestart) {
      for (const file of [files.output, files.errors]) {
        if (existsSync(file) && statSync(file).size > 0) {
          throw usage(`${file} already exists: choose another file, or overwrite it with --restart`)
        }
      }
    }
    this.#hasInterruptedRun = isRestart && this.#journal.hold()
    this.#output = new LineFile(files.output, this.from.outputBytes)
    this.#errors = new LineFile(files.errors, this.from.errorBytes)
    this.#format = format
    this.#now = now
    this.#read = read
    this.#items = this.from.items
    this.#failed = this.from.failed
    this.#ahead = this.from.ahead ?? []
    this.#checkpointMs = now()
    // A restart overwrites nothing before the first result, so that earlier results survive if the service is unavailable.
    if (!isRestart) this.#begin()
  }

  get progress(): Checkpoint {
    const [outputBytes, errorBytes] = [this.#output.bytes, this.#errors.bytes]
    return { items: this.#items, failed: this.#failed, outputBytes, errorBytes }
  }

  result(item: ShownItem, json: string): void {
    this.#addOutput(item, this.#format.result(item, json))
    this.#count(1, true)
  }

  results(items: number, lines: Uint8Array): void {
    this.#output.addBytes(lines)
    this.#count(items, true)
  }

  async drained(): Promise<void> {
    if (this.hasBegun && this.#now() - this.#checkpointMs >= CHECKPOINT_MS) this.#checkpoint()
  }

  rejection(item: RejectedItem, problem: ProblemDetails): void {
    this.firstRejection ??= rejectionText(item, problem)
    this.#addOutput(item, this.#format.rejection(item, problem))
    this.#errors.addText(errorLine(item, problem))
    this.#failed++
    this.#count(1, item.fault === undefined)
  }

  saveAhead(entries: readonly Entry<unknown>[]): void {
    if (entries.length === 0) return
    // An earlier run may have read further than this one, so its results stay.
    const ahead = new Map(this.#ahead)
    for (const { number, result } of entries) ahead.set(number, toAnswerLine(result!))
    this.#ahead = [...ahead].sort(([first], [second]) => first - second)
    if (!this.hasBegun) this.#begin()
  }

  close(isComplete: boolean): void {
    if (isComplete && !this.hasBegun) this.#begin()
    if (this.hasBegun) this.#checkpoint()
    this.#output.close()
    this.#errors.close()
    if (isComplete) this.#errors.removeIfEmpty()
    if (isComplete || (!this.hasBegun && !this.#hasInterruptedRun)) this.#journal.remove()
  }

  #addOutput(item: ShownItem, text: string): void {
    if (text === '') return
    if (this.#output.bytes === 0) this.#output.addText(this.#format.head(item))
    this.#output.addText(text)
  }

  #begin(): void {
    this.hasBegun = true
    this.#journal.write(this.from) // first, to claim the files for this run
    this.#output.cut()
    this.#errors.cut()
  }

  #count(items: number, hasResponse: boolean): void {
    this.#items += items
    const isMany = this.#items - this.from.items >= MAX_WAITING_ITEMS
    if (!this.hasBegun && (hasResponse || isMany)) this.#begin()
  }

  #checkpoint(): void {
    this.#output.sync()
    this.#errors.sync()
    const read = this.#read()
    this.#ahead = this.#ahead.filter(([number]) => number > this.#items)
    const ahead = this.#ahead.length === 0 ? {} : { ahead: this.#ahead }
    this.#journal.write({ ...this.progress, ...(read === undefined ? {} : { read }), ...ahead })
    this.#checkpointMs = this.#now()
  }
}

/** Writes results to standard output and errors to standard error. Such a run cannot be resumed. */
export function createPipeWriter(format: OutputFormat, terminal: Terminal): BatchWriter {
  let items = 0
  let failed = 0
  let text = ''
  const add = (item: ShownItem, itemText: string) => {
    if (items === 0) text = format.head(item)
    text += itemText
    items++
  }
  const state = (): Checkpoint => ({ items, failed, outputBytes: 0, errorBytes: 0 })
  return {
    from: NOTHING_DONE,
    get progress() {
      return state()
    },
    result(item, json) {
      add(item, format.result(item, json))
    },
    results(count, lines) {
      text += Buffer.from(lines).toString()
      items += count
    },
    rejection(item, problem) {
      add(item, format.rejection(item, problem))
      failed++
      if (format.hasProblems !== true) terminal.err(printable(errorLine(item, problem)))
    },
    async drained() {
      const written = text
      text = ''
      if (written !== '') await terminal.out(written)
    },
    hasBegun: true,
    firstRejection: undefined, // the errors are on the terminal
    saveAhead() {},
    close() {},
  }
}

/** Converts a result to the form of the journal. */
function toAnswerLine(result: ItemResult): AnswerLine {
  return 'error' in result ? ({ error: result.error } as AnswerLine) : JSON.parse(result.json)
}

function rejectionText({ place, id }: RejectedItem, { detail, errors }: ProblemDetails): string {
  const hint = errors?.[0]?.hint
  return `${place}, id ${JSON.stringify(id)}: ${detail}${hint === undefined ? '' : `; ${hint}`}`
}

function errorLine({ place, id }: RejectedItem, problem: ProblemDetails): string {
  return `${JSON.stringify({ place, id, problem })}\n`
}
