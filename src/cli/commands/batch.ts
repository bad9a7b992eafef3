import { createHash } from 'node:crypto'
import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BatchOperation, StreamOptions } from '../../client/batch.ts'
import type { InputLike } from '../../client/forms.ts'
import { sleep } from '../../client/transport.ts'
import { requireSecondInput, requireValidFixed } from '../batch/constant-input.ts'
import { type Entry, Feeder, type ItemRule, notSentProblem, splitFixed } from '../batch/feeder.ts'
import { computeInJob } from '../batch/job-run.ts'
import { type RunIdentity, sha256OfJson } from '../batch/journal.ts'
import { computeEntries, computePacked, type LocalRun } from '../batch/local-run.ts'
import { type OutputFormat, selectOutputFormat } from '../batch/output-format.ts'
import { SHORTER } from '../batch/packed-items.ts'
import { packLines } from '../batch/packed-lines.ts'
import { packRows } from '../batch/packed-rows.ts'
import { fetchResetTime, printSummary, warnAboutLimit } from '../batch/report.ts'
import { sendItems } from '../batch/sender.ts'
import { type BatchWriter, createPipeWriter, FileWriter } from '../batch/writer.ts'
import { CommandError, EXIT, type ExitCode, exitCodeForStatus, exitForError, usage } from '../exit-codes.ts'
import { countedBytes, decodeText, peek, type ReadBytes } from '../inputs/pieces.ts'
import { readInput } from '../inputs/read-input.ts'
import { readFileBytes, type SourceOptions, sourceFormat, sourceGroups, withFileName } from '../inputs/source.ts'
import type { Format, SourceItem } from '../inputs/source-item.ts'
import {
  createServiceClient,
  DEFAULT_CHAIN_ID,
  type MemberOptions,
  type Operation,
  optionMembers,
  type ServerOptions,
  transportOptions,
} from '../options.ts'
import { createProgress, formatCount, groupDigits, type Terminal } from '../terminal.ts'

export interface BatchVerbOptions extends ServerOptions, SourceOptions, MemberOptions {
  readonly output: string
  readonly outputFormat?: OutputFormat['name']
  readonly errors?: string
  readonly with?: string
  readonly chainId?: number
  readonly attest?: 'each' | 'none'
  readonly recipient?: string
  readonly concurrency: number
  readonly chunk: number
  readonly restart?: boolean
  readonly local?: boolean
  readonly job?: boolean
  readonly submit?: boolean
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
  if (givenOptions.job === true) requireJobFile(file, givenOptions)
  const rule = await readItemRule(operation, givenOptions, terminal)
  const isPiped = givenOptions.output === '-'
  const { head: headPieces, pieces } = await peek(readFileBytes(file, terminal), HEAD_BYTES)
  const head = Buffer.concat(headPieces).subarray(0, HEAD_BYTES)
  const inputFormat = sourceFormat(file, head.toString(), givenOptions)
  const format = selectOutputFormat(operation, givenOptions, inputFormat)
  // A table has no signatures.
  const options: BatchVerbOptions = format.name === 'csv' ? { ...givenOptions, attest: 'none' } : givenOptions
  if (options.submit === true) requireSubmittable(options)
  const inputBytes = file === '-' ? undefined : statSync(file).size
  const errors = options.errors ?? `${options.output.replace(/\.[^./\\]+$/, '')}.errors.ndjson`
  if (!isPiped) requireDistinctFiles(file, options.output, errors)
  const name = file === '-' ? 'standard input' : file
  if (options.with !== undefined) await requireValidWith(rule, options, terminal)
  else requireSecondInput(await firstItems(headPieces, name, options), name, rule)
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
    terminal.err(`resuming after item ${groupDigits(skipped)}${more}\n`)
  }
  const counted = countedBytes(pieces, writer.from.read, () => {
    throw usage(
      `${file}: not the input of the interrupted run: repeat it with that input, or start again with --restart`,
    )
  })
  read = counted.read
  const progress = createProgress(terminal, 'item')
  const show = () => {
    const { items, failed } = writer.progress
    const share = inputBytes === undefined || inputBytes === 0 ? undefined : counted.bytes() / inputBytes
    progress.update({ done: items - skipped, share, note: failed === 0 ? undefined : `${failed} rejected` })
  }
  const showUpload = (received: number) => progress.update({ done: received, share: undefined, note: 'uploaded' })
  const input = { file, name, format: inputFormat, pieces: counted.pieces }
  const parts = { input, rule, writer, format, options, show, showUpload, terminal }
  const canPack = options.local === true && options.attest === 'none' && ahead.length === 0
  const process = canPack && (inputFormat === 'ndjson' || inputFormat === 'csv') ? processPacked : processEntries
  let isComplete = false
  try {
    await process(parts)
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

/** A job is uploaded from a file that can be read again, after an interruption for example. */
function requireJobFile(file: string, { local }: BatchVerbOptions): void {
  if (local === true) throw usage('--job is computed by the service: leave out --local')
  if (file === '-' || !statSync(file).isFile()) throw usage(`${file}: --job needs a file, which can be read again`)
}

/** Only signed results of a job are submitted. */
function requireSubmittable({ job, attest }: BatchVerbOptions): void {
  if (job !== true) throw usage('--submit needs --job: the service submits the results of a job')
  if (attest === 'none') throw usage('--submit needs signed results: leave out --attest none, and choose no table')
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

/** A run of the verb. */
interface BatchRun {
  readonly input: {
    readonly file: string
    /** The file in messages. */
    readonly name: string
    readonly format: Format
    readonly pieces: AsyncGenerator<Uint8Array, void, undefined>
  }
  readonly rule: ItemRule
  readonly writer: BatchWriter
  readonly format: OutputFormat
  readonly options: BatchVerbOptions
  /** Shows the progress. */
  readonly show: () => void
  /** Shows how many operations are uploaded. */
  readonly showUpload: (received: number) => void
  readonly terminal: Terminal
}

/** Computes lines of JSON or rows of a table without signatures, in this process. */
async function processPacked({ input, rule, writer, format, options, show, terminal }: BatchRun): Promise<void> {
  const skippedItems = writer.from.items
  const groups =
    input.format === 'csv'
      ? packRows(decodeText(input.pieces), rule, {
          columns: options.columns,
          skippedItems,
          hasIds: format.name !== 'csv',
        })
      : packLines(input.pieces, rule, skippedItems)
  const flush = () => {
    show()
    return writer.drained()
  }
  await computePacked(withFileName(input.name, groups), { writer, format, flush }, await localRun(options, terminal))
}

/** Processes items of any kind, in this process or at a service, until each has a result or an error. */
async function processEntries(run: BatchRun): Promise<void> {
  const { input, rule, writer, options, show, terminal } = run
  const { items: skipped, ahead = [] } = writer.from
  const onFault = (entry: Entry) => writer.rejection(entry, notSentProblem(entry.fault ?? ''))
  // The service keeps the results of a job and sends them again in order, so none may be missing between them.
  const keptAhead = new Map(options.job === true ? [] : ahead)
  const feeder = new Feeder(sourceGroups(input.pieces, input.name, options), rule, onFault, keptAhead)
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
    if (options.local === true) await computeEntries(feeder, flush, await localRun(options, terminal))
    else if (options.job === true) await sendJob(feeder, flush, run)
    else await sendAll(feeder, flush, run)
  } catch (error) {
    if (options.job !== true) writer.saveAhead(feeder.answeredAhead)
    throw error
  } finally {
    await feeder.close()
  }
}

async function localRun(options: BatchVerbOptions, { env, now, signal }: Terminal): Promise<LocalRun> {
  const { chainId = DEFAULT_CHAIN_ID, recipient, attest = 'each' } = options
  const { createLocalEngine } = await import('../local-engine.ts')
  return { engine: createLocalEngine({ env, now }, options.data), call: { chainId, recipient, attest }, signal }
}

/** Has the items computed as a job. The same command, with the same unchanged file, finds the job again. */
async function sendJob(feeder: Feeder, flush: () => Promise<void>, run: BatchRun): Promise<void> {
  const { input, rule, writer, options, showUpload, terminal } = run
  const {
    chainId = DEFAULT_CHAIN_ID,
    recipient,
    attest,
    output,
    radius,
    pattern,
    with: fixed,
    format,
    columns,
    submit,
  } = options
  const { mtimeMs, size } = statSync(input.file)
  const facts = [
    canonicalPath(input.file),
    mtimeMs,
    size,
    rule.operation,
    { fixed, radius, pattern, ...rule.parameters, format, columns },
  ]
  const isNew = options.restart === true ? terminal.now() : 0
  const identity = { facts, chainId, recipient, attest, output: canonicalPath(output), isNew, submit }
  await computeInJob(feeder, flush, {
    client: await createServiceClient(options, terminal, chainId),
    call: {
      recipient,
      attest,
      submitOnchain: submit,
      idempotencyKey: `trigpoint-${sha256OfJson(identity)}`,
      signal: terminal.signal,
      onProgress: ({ received }) => showUpload(received),
    },
    openItems: () => new Feeder(sourceGroups(readFileBytes(input.file, terminal), input.name, options), rule, () => {}),
    skippedItems: writer.from.items,
    terminal,
  })
}

/** Sends items to a service. Items that failed temporarily are sent again. */
async function sendAll(feeder: Feeder, flush: () => Promise<void>, run: BatchRun): Promise<void> {
  const { input, rule, writer, options, terminal } = run
  const { chainId = DEFAULT_CHAIN_ID, recipient, attest, concurrency, chunk: chunkItems } = options
  // A pipe can be read only once.
  if (input.file !== '-' && statSync(input.file).isFile()) {
    const groups = sourceGroups(readFileBytes(input.file, terminal), input.file, options)
    const counter = new Feeder(groups, rule, () => {})
    await warnAboutLimit(counter, writer.from.items, transportOptions(options, terminal), terminal)
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
  const local =
    options.attest === 'none'
      ? 'or add --local, which has no limit'
      : 'or start again with --local --restart, which has no limit and signs with the development key'
  return new CommandError(EXIT.rateLimited, `the hourly limit is reached${reset}; ${done} done: ${resume}, ${local}`)
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
  const { radius, pattern } = options
  const others = Object.entries(optionMembers(operation, options, false)).filter(
    ([name]) => name !== 'radius' && name !== 'pattern',
  )
  return {
    operation,
    fixed,
    radius,
    pattern,
    ...(others.length === 0 ? {} : { parameters: Object.fromEntries(others) }),
  }
}

/** @throws {CommandError} if the input of `--with` is invalid */
async function requireValidWith(rule: ItemRule, options: BatchVerbOptions, { env, now }: Terminal): Promise<void> {
  const { createLocalEngine } = await import('../local-engine.ts')
  const isLocal = options.local === true
  // The settings of this process are not those of a service.
  const engine = createLocalEngine({ env: isLocal ? env : {}, now }, isLocal ? options.data : undefined)
  await requireValidFixed(rule, engine, !isLocal)
}

/** Reads the items at the beginning of a file. The last of them may be cut off, which is no error here. */
async function firstItems(head: readonly Uint8Array[], name: string, options: BatchVerbOptions): Promise<SourceItem[]> {
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

/** Returns everything that affects the results, but not where and how fast they are computed. */
function runIdentity(
  rule: ItemRule,
  options: BatchVerbOptions,
  outputFormat: OutputFormat,
  head: Uint8Array,
  inputBytes: number | undefined,
): RunIdentity {
  const { chainId = DEFAULT_CHAIN_ID, attest = 'each', recipient, format, columns, errors } = options
  const output = {
    ...(outputFormat.name === 'ndjson' ? {} : { outputFormat: outputFormat.name }),
    ...(options.job === true ? { job: true } : {}),
    ...(options.submit === true ? { submit: true } : {}),
    // A service and this machine sign with different keys.
    ...(options.local === true && attest !== 'none' ? { local: true } : {}),
  }
  return {
    request: sha256OfJson({ ...rule, chainId, attest, recipient, format, columns, errors, ...output }),
    inputBytes,
    inputHead: createHash('sha256').update(head).digest('hex'),
  }
}
