/** Runs a verb on every item of a file: reads the file, writes results and errors in its order, and resumes after an interruption. */
import { createHash } from 'node:crypto'
import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BatchOperation } from '../../client/batch.ts'
import { sleep } from '../../client/transport.ts'
import type { ProblemDetails } from '../../types/generated.ts'
import { CommandError, EXIT, type ExitCode, exitCodeForStatus, exitForError, limitHints, usage } from '../exit-codes.ts'
import { countedBytes, peek, type ReadBytes } from '../inputs/pieces.ts'
import { readFileBytes, type SourceOptions, sourceFormat, sourceGroups } from '../inputs/source.ts'
import type { Format, SourceItem } from '../inputs/source-item.ts'
import { type ServerOptions, transportOptions } from '../options.ts'
import { createProgress, formatCount, groupDigits, type Terminal } from '../terminal.ts'
import { type AnswerLine, type Composer, type Entry, Feeder, notSentProblem } from './feeder.ts'
import { sha256OfJson } from './journal.ts'
import type { OutputFormat } from './output-format.ts'
import { SHORTER } from './packed-items.ts'
import { fetchResetTime, printSummary, warnAboutLimit } from './report.ts'
import { sendItems } from './sender.ts'
import { type BatchWriter, createPipeWriter, FileWriter } from './writer.ts'

/** Options of every verb that runs on the items of a file. */
export interface FileRunOptions extends ServerOptions, SourceOptions {
  readonly output: string
  readonly outputFormat?: OutputFormat['name']
  readonly errors?: string
  readonly restart?: boolean
  readonly json?: boolean
}

/** The file of a run. */
export interface InputFile {
  readonly file: string
  /** The file in messages. */
  readonly name: string
  readonly format: Format
  /** Size; undefined if it is not a file. */
  readonly bytes: number | undefined
  /** The first bytes of the file, at most `HEAD_BYTES`. */
  readonly head: Uint8Array
  /** The items at the beginning. The last of them may be cut off, which is no error here. */
  firstItems(): Promise<SourceItem[]>
  /** The whole file. */
  readonly pieces: AsyncIterable<Uint8Array>
}

const HEAD_BYTES = 65_536
/** How often the same item may fail temporarily (500, 503) before the run ends. The pauses double, starting at one second. */
const MAX_FAILURES = 5

/** @param bytes the content of the file */
export async function openInput(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
  options: SourceOptions,
  name = file === '-' ? 'standard input' : file,
): Promise<InputFile> {
  const { head: headPieces, pieces } = await peek(bytes, HEAD_BYTES)
  const head = Buffer.concat(headPieces).subarray(0, HEAD_BYTES)
  return {
    file,
    name,
    format: sourceFormat(file, head.toString(), options),
    bytes: file === '-' ? undefined : statSync(file).size,
    head,
    firstItems: () => firstItems(headPieces, name, options),
    pieces,
  }
}

async function firstItems(head: readonly Uint8Array[], name: string, options: SourceOptions): Promise<SourceItem[]> {
  const items: SourceItem[] = []
  async function* pieces() {
    yield* head
  }
  try {
    for await (const group of sourceGroups(pieces(), name, options)) items.push(...group)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
  }
  return items
}

/** What a verb does on a file. */
export interface FileTask {
  readonly format: OutputFormat
  /** Everything besides the file that affects the results. A run is resumed only with the same. */
  readonly identity: object
  /** Ends the first line of the error at the hourly limit. */
  readonly atLimit: string
  /** Writes the result or the error of every item after those of an earlier run. */
  process(run: FileRun): Promise<void>
}

/** A run on the items of a file. */
export interface FileRun {
  readonly input: Pick<InputFile, 'file' | 'name' | 'format'> & {
    readonly pieces: AsyncGenerator<Uint8Array, void, undefined>
  }
  readonly task: FileTask
  readonly writer: BatchWriter
  readonly options: FileRunOptions
  /** Shows the progress. */
  readonly show: () => void
  /** Shows how many items are uploaded. */
  readonly showUpload: (received: number) => void
  readonly terminal: Terminal
}

/** @returns 1 if items were rejected */
export async function runFile(
  input: InputFile,
  task: FileTask,
  options: FileRunOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { output } = options
  const isPiped = output === '-'
  const errors = errorsFile(options)
  let read: () => ReadBytes | undefined = () => undefined
  const writer = isPiped
    ? createPipeWriter(task.format, terminal)
    : new FileWriter(
        { output, errors, format: task.format },
        {
          request: sha256OfJson(task.identity),
          inputBytes: input.bytes,
          inputHead: createHash('sha256').update(input.head).digest('hex'),
        },
        options.restart === true,
        terminal.now,
        () => read(),
      )
  const startedMs = terminal.now()
  const { items: skipped, ahead = [] } = writer.from
  if (skipped + ahead.length > 0) {
    const more = ahead.length === 0 ? '' : `, with ${formatCount(ahead.length, 'later result')} of the earlier run`
    terminal.err(`resuming after item ${groupDigits(skipped)}${more}\n`)
  }
  const counted = countedBytes(input.pieces, writer.from.read, () => {
    throw usage(
      `${input.file}: not the input of the interrupted run: repeat it with that input, or start again with --restart`,
    )
  })
  read = counted.read
  const progress = createProgress(terminal, 'item')
  const show = () => {
    const { items, failed } = writer.progress
    const share = input.bytes === undefined || input.bytes === 0 ? undefined : counted.bytes() / input.bytes
    progress.update({ done: items - skipped, share, note: failed === 0 ? undefined : `${failed} rejected` })
  }
  const showUpload = (received: number) => progress.update({ done: received, share: undefined, note: 'uploaded' })
  const run = { input: { ...input, pieces: counted.pieces }, task, writer, options, show, showUpload, terminal }
  let isComplete = false
  try {
    await task.process(run)
    isComplete = true
  } catch (error) {
    await writer.drained()
    throw withHint(error, isPiped, writer, terminal)
  } finally {
    progress.stop()
    try {
      writer.close(isComplete)
    } finally {
      await counted.pieces.return()
    }
  }
  const { items, failed } = writer.progress
  const seconds = (terminal.now() - startedMs) / 1000
  const { firstRejection } = writer
  await printSummary({ items, failed, skipped, seconds, firstRejection }, { ...options, errors }, terminal)
  return failed === 0 ? EXIT.ok : EXIT.failed
}

function errorsFile({ output, errors }: FileRunOptions): string {
  return errors ?? `${output.replace(/\.[^./\\]+$/, '')}.errors.ndjson`
}

/** Checks that the input, the output and the errors are different files, so that none is overwritten while it is in use. */
export function requireDistinctFiles(input: string, options: FileRunOptions): void {
  const { output } = options
  if (output === '-') return
  const [inputPath, outputPath, errorsPath] = [
    input === '-' ? undefined : canonicalPath(input),
    canonicalPath(output),
    canonicalPath(errorsFile(options)),
  ]
  if (outputPath === errorsPath)
    throw usage(`${output}: used for both results and errors: choose another file for --errors`)
  if (inputPath === outputPath || inputPath === errorsPath)
    throw usage(`${input}: used for both input and output: choose another file for the output`)
}

/** Returns the same path for all names of a file. */
export function canonicalPath(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return resolve(file)
  }
}

/**
 * Processes items of any kind until each has a result or an error.
 *
 * @param compute gives each entry of the feeder its result, and calls `flush` to write those at its front
 * @param usesAhead false if results of later items that an earlier run kept are not used
 */
export async function processItems<Item = BatchOperation>(
  { input, writer, options, show }: FileRun,
  compose: Composer<Item>,
  compute: (feeder: Feeder<Item>, flush: () => Promise<void>) => Promise<void>,
  usesAhead = true,
): Promise<void> {
  const { items: skipped, ahead = [] } = writer.from
  const onFault = (entry: Entry<Item>) => writer.rejection(entry, notSentProblem(entry.fault ?? ''))
  const groups = sourceGroups(input.pieces, input.name, options)
  const feeder = new Feeder(groups, compose, onFault, new Map(usesAhead ? ahead : []))
  const flush = async () => {
    for (let entry = feeder.first; entry?.result !== undefined; entry = feeder.first) {
      if ('json' in entry.result) writer.result(entry, entry.result.json)
      else writer.rejection(entry, entry.result.error)
      feeder.settle()
    }
    show()
    await writer.drained()
  }
  try {
    if (!(await feeder.skip(skipped))) throw usage(`${input.name}: ${SHORTER}`)
    await compute(feeder, flush)
  } catch (error) {
    if (usesAhead) writer.saveAhead(feeder.answeredAhead)
    throw error
  } finally {
    await feeder.close()
  }
}

/** Returns the items of a file from the first one on. Those that are invalid are left out. */
export function openFeeder<Item>(
  file: string,
  compose: Composer<Item>,
  options: SourceOptions,
  terminal: Terminal,
): Feeder<Item> {
  return new Feeder(sourceGroups(readFileBytes(file, terminal), file, options), compose, () => {})
}

interface Sending<Item> {
  readonly compose: Composer<Item>
  /** Number of concurrent requests. */
  readonly concurrency: number
  /** Items per request. */
  readonly chunkItems: number
  /** Sends items in one request. */
  send(items: readonly Item[]): AsyncIterable<AnswerLine>
}

/** Sends items to a service. Items that failed temporarily are sent again. */
export async function sendAll<Item>(
  feeder: Feeder<Item>,
  flush: () => Promise<void>,
  sending: Sending<Item>,
  { input, writer, options, task, terminal }: FileRun,
): Promise<void> {
  // A pipe can be read only once.
  if (input.file !== '-' && statSync(input.file).isFile()) {
    const counter = openFeeder(input.file, sending.compose, options, terminal)
    await warnAboutLimit(counter, writer.from.items, transportOptions(options, terminal), terminal)
  }
  for (let failures = 0; ; ) {
    const { items } = writer.progress
    const failure = await sendItems(feeder, { ...sending, flush })
    if (failure === undefined) return
    if (writer.progress.items > items) failures = 0
    failures++
    if (failure.status === 429) throw await limitError(feeder, failure, { writer, options, task, terminal })
    if (failures > MAX_FAILURES)
      throw new CommandError(exitCodeForStatus(failure.status), `${failure.title}: ${failure.detail}`)
    await sleep(1000 * 2 ** (failures - 1), terminal.signal)
  }
}

/** Creates the error of a run that ends at the hourly limit: what is done, when and how to resume, and what raises the limit. */
async function limitError(
  feeder: Pick<Feeder<unknown>, 'answeredAhead'>,
  problem: ProblemDetails,
  { writer, options, task, terminal }: Pick<FileRun, 'writer' | 'options' | 'task' | 'terminal'>,
): Promise<CommandError> {
  const resetTime = await fetchResetTime(transportOptions(options, terminal), terminal.signal)
  const reset = resetTime === undefined ? '' : ` until ${resetTime}`
  const isPiped = options.output === '-'
  const doneItems = writer.progress.items + (isPiped ? 0 : feeder.answeredAhead.length)
  const done = formatCount(doneItems, 'item is', 'items are')
  const resume = isPiped ? 'a run into a file (-o) can be resumed' : `${RESUME}, after that time`
  const text = `the hourly limit is reached${reset}; ${done} done: ${resume}${task.atLimit}${limitHints(problem)}`
  return new CommandError(EXIT.rateLimited, text)
}

const RESUME = 'run the same command again to resume'

/** Adds to an error how to resume the run. */
function withHint(error: unknown, isPiped: boolean, writer: BatchWriter, terminal: Terminal): unknown {
  if (isPiped) return error
  const { items } = writer.progress
  const hint = writer.hasBegun
    ? `${formatCount(items, 'item is', 'items are')} done: ${RESUME}`
    : 'no results yet: the files are unchanged'
  if (terminal.signal.aborted) {
    terminal.err(`${hint}\n`)
    return error
  }
  const { exitCode, text } = exitForError(error)
  return exitCode === EXIT.usageError || exitCode === EXIT.internal || exitCode === EXIT.rateLimited
    ? error
    : new CommandError(exitCode, `${text}\n  ${hint}`, { cause: error })
}
