import { createHash } from 'node:crypto'
import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import type { BatchOperation, StreamOptions } from '../../client/batch.ts'
import type { InputLike } from '../../client/forms.ts'
import { sleep } from '../../client/transport.ts'
import type { ProblemDetails } from '../../types/generated.ts'
import { type Entry, Feeder, type ItemRule, splitFixed } from '../batch/feeder.ts'
import { type RunIdentity, sha256OfJson } from '../batch/journal.ts'
import { createLineComposer } from '../batch/line-text.ts'
import { JSON_LINES, type OutputFormat, selectOutputFormat } from '../batch/output-format.ts'
import { fetchResetTime, printSummary, warnAboutLimit } from '../batch/report.ts'
import { sendItems } from '../batch/sender.ts'
import { type BatchWriter, createPipeWriter, FileWriter } from '../batch/writer.ts'
import { CommandError, EXIT, type ExitCode, exitCodeForStatus, exitForError, usage } from '../exit-codes.ts'
import { countedBytes, peek, type ReadBytes } from '../inputs/pieces.ts'
import { readInput } from '../inputs/read-input.ts'
import { readFileBytes, type SourceOptions, sourceFormat, sourceGroups } from '../inputs/source.ts'
import {
  createServiceClient,
  DEFAULT_CHAIN_ID,
  type Operation,
  type ServerOptions,
  transportOptions,
} from '../options.ts'
import { createProgress, formatCount, type Terminal } from '../terminal.ts'

export interface BatchVerbOptions extends ServerOptions, SourceOptions {
  readonly output: string
  readonly outputFormat?: OutputFormat['name']
  readonly errors?: string
  readonly with?: string
  readonly radius?: number
  readonly chainId?: number
  readonly attest?: 'each' | 'none'
  readonly recipient?: string
  readonly concurrency: number
  readonly chunk: number
  readonly restart?: boolean
  readonly local?: boolean
  readonly data?: string
  readonly json?: boolean
}

/** How often the same item may fail temporarily (500, 503) before the run ends. The pauses double, starting at one second. */
const MAX_FAILURES = 5
const HEAD_BYTES = 65_536

/** Runs `trigpoint batch`. @returns 1 if items were rejected */
export async function runBatch(
  operation: Operation | 'mixed',
  file: string,
  givenOptions: BatchVerbOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const rule = await readItemRule(operation, givenOptions, terminal)
  const isPiped = givenOptions.output === '-'
  const { head: headPieces, pieces } = await peek(readFileBytes(file, terminal), HEAD_BYTES)
  const head = Buffer.concat(headPieces).subarray(0, HEAD_BYTES)
  const format = selectOutputFormat(givenOptions, sourceFormat(file, head.toString(), givenOptions))
  // A table has no signatures.
  const options: BatchVerbOptions = format.name === 'csv' ? { ...givenOptions, attest: 'none' } : givenOptions
  const inputBytes = file === '-' ? undefined : statSync(file).size
  const errors = options.errors ?? `${options.output.replace(/\.[^./\\]+$/, '')}.errors.ndjson`
  if (!isPiped) requireDistinctFiles(file, options.output, errors)
  let read: () => ReadBytes | undefined = () => undefined
  const writer = isPiped
    ? createPipeWriter(format, terminal)
    : new FileWriter(
        { output: options.output, errors, format },
        runIdentity(rule, options, format, head, inputBytes),
        options.restart === true,
        terminal.now,
        () => read(),
      )
  const startedMs = terminal.now()
  const { items: skipped, ahead = [] } = writer.from
  if (skipped + ahead.length > 0) {
    const more = ahead.length === 0 ? '' : `, with ${formatCount(ahead.length, 'later result')} of the earlier run`
    terminal.err(`resuming after item ${skipped.toLocaleString('en-US')}${more}\n`)
  }
  const counted = countedBytes(pieces, writer.from.read, () => {
    throw usage(
      `${file}: not the input of the interrupted run: repeat it with that input, or start again with --restart`,
    )
  })
  read = counted.read
  const keepsLines = options.local === true && options.attest === 'none' && format === JSON_LINES
  const source = sourceGroups(counted.pieces, file === '-' ? 'standard input' : file, { ...options, keepsLines })
  const onFault = (entry: Entry) => writer.rejection(entry, notSentProblem(entry.fault ?? ''))
  const composeLine = keepsLines ? createLineComposer(rule) : undefined
  const feeder = new Feeder(source, rule, onFault, new Map(ahead), composeLine)
  const progress = createProgress(terminal, 'item')
  const show = () => {
    const { items, failed } = writer.progress
    const share = inputBytes === undefined || inputBytes === 0 ? undefined : counted.bytes() / inputBytes
    progress.update({ done: items - skipped, share, note: failed === 0 ? undefined : `${failed} rejected` })
  }
  let isComplete = false
  try {
    if (!(await feeder.skip(skipped)))
      throw usage(`${file}: shorter than when the interrupted run read it: start again with --restart`)
    // A pipe can be read only once.
    if (file !== '-' && statSync(file).isFile() && options.local !== true) {
      const groups = sourceGroups(readFileBytes(file, terminal), file, options)
      await warnAboutLimit(new Feeder(groups, rule, () => {}), skipped, transportOptions(options, terminal), terminal)
    }
    await processAll(feeder, writer, options, show, terminal)
    isComplete = true
  } catch (error) {
    writer.saveAhead(feeder.answeredAhead)
    await writer.drained()
    throw withHint(error, isPiped, writer, terminal)
  } finally {
    progress.stop()
    try {
      writer.close(isComplete)
    } finally {
      await feeder.close()
    }
  }
  const { items, failed } = writer.progress
  const seconds = (terminal.now() - startedMs) / 1000
  await printSummary({ items, failed, skipped, seconds }, { ...options, errors }, terminal)
  return failed === 0 ? EXIT.ok : EXIT.failed
}

/** Checks that the input, the output and the errors are different files, so that none is overwritten while it is in use. */
function requireDistinctFiles(input: string, output: string, errors: string): void {
  const [inputPath, outputPath, errorsPath] = [
    input === '-' ? undefined : canonicalPath(input),
    canonicalPath(output),
    canonicalPath(errors),
  ]
  if (outputPath === errorsPath)
    throw usage(`${output}: used for both results and errors: choose another file for --errors`)
  if (inputPath === outputPath || inputPath === errorsPath)
    throw usage(`${input}: used for both input and output: choose another file for the output`)
}

/** Returns the same path for all names of a file. */
function canonicalPath(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return resolve(file)
  }
}

/** Sends items until each has a result or an error. Items that failed temporarily are sent again. */
async function processAll(
  feeder: Feeder,
  writer: BatchWriter,
  options: BatchVerbOptions,
  show: () => void,
  terminal: Terminal,
): Promise<void> {
  const flush = async () => {
    for (let entry = feeder.first; entry?.result !== undefined; entry = feeder.first) {
      if ('json' in entry.result) writer.result(entry, entry.result.json)
      else writer.rejection(entry, entry.result.error)
      feeder.settle()
    }
    show()
    await writer.drained()
  }
  const { chainId = DEFAULT_CHAIN_ID, recipient, attest, concurrency, chunk: chunkItems } = options
  if (options.local === true) {
    const { createLocalEngine } = await import('../local-engine.ts')
    const engine = createLocalEngine(terminal, options.data)
    const compute = async (entries: readonly Entry[]) => {
      if (entries.length === 0) return
      const texts = entries.map(({ text, item }) => (item === undefined ? text! : JSON.stringify(item)))
      const results = await engine.computeItems(texts, { chainId, recipient, attest: attest ?? 'each' })
      entries.forEach((entry, index) => {
        entry.result = results[index]
      })
    }
    for await (const entries of feeder.unanswered()) {
      await nextTick() // so that Ctrl-C is noticed
      if (terminal.signal.aborted) throw terminal.signal.reason
      await compute(entries)
      // Parsing a rejected line may find a fault in it, or an item that differs from the text.
      const rejected = entries.filter(({ text, result }) => text !== undefined && 'error' in result!)
      for (const entry of rejected) {
        feeder.readLine(entry)
        if (entry.fault !== undefined) entry.result = { error: notSentProblem(entry.fault) }
      }
      await compute(rejected.filter(({ fault }) => fault === undefined))
      await flush()
    }
    return flush()
  }
  const client = await createServiceClient(options, terminal, chainId)
  const call: StreamOptions = { recipient, attest, concurrency: 1, chunkItems, signal: terminal.signal }
  const send = (items: readonly BatchOperation[]) => client.batch.stream(items, call)
  for (let failures = 0; ; ) {
    const { items } = writer.progress
    const failure = await sendItems(feeder, { concurrency, chunkItems, send, flush })
    if (failure === undefined) return
    if (writer.progress.items > items) failures = 0
    failures++
    if (failure.status === 429) throw await limitError(feeder, writer, options, terminal)
    if (failures > MAX_FAILURES)
      throw new CommandError(exitCodeForStatus(failure.status), `${failure.title}: ${failure.detail}`)
    await sleep(1000 * 2 ** (failures - 1), terminal.signal)
  }
}

/** Creates the error of a run that ends at the hourly limit, in one line: what is done, when to resume, and how. */
async function limitError(
  feeder: Feeder,
  writer: BatchWriter,
  options: BatchVerbOptions,
  terminal: Terminal,
): Promise<CommandError> {
  const resetTime = await fetchResetTime(transportOptions(options, terminal), terminal.signal)
  const reset = resetTime === undefined ? '' : ` until ${resetTime}`
  const isPiped = options.output === '-'
  const doneItems = writer.progress.items + (isPiped ? 0 : feeder.answeredAhead.length)
  const done = formatCount(doneItems, 'item is', 'items are')
  const resume = isPiped ? 'a key (--api-key) raises the limit' : `${RESUME}, after that time or with a key (--api-key)`
  return new CommandError(EXIT.rateLimited, `the hourly limit is reached${reset}; ${done} done: ${resume}`)
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

async function readItemRule(
  operation: Operation | 'mixed',
  options: BatchVerbOptions,
  terminal: Terminal,
): Promise<ItemRule> {
  const fixed: Record<string, InputLike> = {}
  if (options.with !== undefined) {
    const [member, input] = splitFixed(options.with, operation)
    fixed[member] = await readInput(input, terminal)
  }
  if (options.radius !== undefined && operation !== 'within' && operation !== 'mixed')
    throw usage(`${operation} takes no --radius`)
  return { operation, fixed, radius: options.radius }
}

/** Returns everything that affects the results, but not where and how fast they are computed. */
function runIdentity(
  rule: ItemRule,
  options: BatchVerbOptions,
  outputFormat: OutputFormat,
  head: Uint8Array,
  inputBytes: number | undefined,
): RunIdentity {
  const { chainId = DEFAULT_CHAIN_ID, attest = 'each', recipient, format, columns, errors } = options
  const output = outputFormat.name === 'csv' ? { outputFormat: 'csv' } : {}
  return {
    request: sha256OfJson({ ...rule, chainId, attest, recipient, format, columns, errors, ...output }),
    inputBytes,
    inputHead: createHash('sha256').update(head).digest('hex'),
  }
}

function notSentProblem(detail: string): ProblemDetails {
  return { type: 'about:blank', title: 'Not sent', status: 400, detail }
}
