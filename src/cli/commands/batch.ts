import { statSync } from 'node:fs'
import type { BatchOperation, StreamOptions } from '../../client/batch.ts'
import type { InputLike } from '../../client/forms.ts'
import { requireSecondInput, requireValidFixed } from '../batch/constant-input.ts'
import { type Feeder, type ItemRule, operationComposer, splitFixed } from '../batch/feeder.ts'
import {
  canonicalPath,
  type FileRun,
  type FileRunOptions,
  type FileTask,
  openFeeder,
  openInput,
  processItems,
  requireDistinctFiles,
  runFile,
  sendAll,
} from '../batch/file-run.ts'
import { computeInJob } from '../batch/job-run.ts'
import { sha256OfJson } from '../batch/journal.ts'
import { computeEntries, computePacked, type LocalRun } from '../batch/local-run.ts'
import { type OutputFormat, selectOutputFormat } from '../batch/output-format.ts'
import { packLines } from '../batch/packed-lines.ts'
import { packRows } from '../batch/packed-rows.ts'
import { type ExitCode, usage } from '../exit-codes.ts'
import { decodeText } from '../inputs/pieces.ts'
import { readInput } from '../inputs/read-input.ts'
import { readFileBytes, withFileName } from '../inputs/source.ts'
import { createServiceClient, DEFAULT_CHAIN_ID, type MemberOptions, type Operation, optionMembers } from '../options.ts'
import type { Terminal } from '../terminal.ts'

export interface BatchVerbOptions extends FileRunOptions, MemberOptions {
  readonly with?: string
  readonly chainId?: number
  readonly attest?: 'each' | 'none'
  readonly recipient?: string
  readonly concurrency: number
  readonly chunk: number
  readonly local?: boolean
  readonly job?: boolean
  readonly submit?: boolean
  readonly data?: string
}

/** Runs `trigpoint batch`. @returns 1 if items were rejected */
export async function runBatch(
  operation: Operation | 'mixed',
  file: string,
  givenOptions: BatchVerbOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  if (givenOptions.job === true) requireJobFile(file, givenOptions)
  const rule = await readItemRule(operation, givenOptions, terminal)
  const input = await openInput(file, readFileBytes(file, terminal), givenOptions)
  const format = selectOutputFormat(operation, givenOptions, input.format)
  // A table has no signatures.
  const options: BatchVerbOptions = format.name === 'csv' ? { ...givenOptions, attest: 'none' } : givenOptions
  if (options.submit === true) requireSubmittable(options)
  requireDistinctFiles(file, options)
  if (options.with !== undefined) await requireValidWith(rule, options, terminal)
  else requireSecondInput(await input.firstItems(), input.name, rule)
  const task: FileTask = {
    format,
    identity: runIdentity(rule, options, format),
    atLimit:
      options.attest === 'none'
        ? ', or add --local, which has no limit'
        : ', or start again with --local --restart, which has no limit and signs with the development key',
    process: (run) => processBatch(run, rule, options),
  }
  return runFile(input, task, options, terminal)
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

async function processBatch(run: FileRun, rule: ItemRule, options: BatchVerbOptions): Promise<void> {
  const { input, writer, terminal } = run
  const { ahead = [] } = writer.from
  const canPack = options.local === true && options.attest === 'none' && ahead.length === 0
  if (canPack && (input.format === 'ndjson' || input.format === 'csv')) return processPacked(run, rule, options)
  const compute = async (feeder: Feeder, flush: () => Promise<void>) => {
    if (options.local === true) await computeEntries(feeder, flush, await localRun(options, terminal))
    else if (options.job === true) await sendJob(feeder, flush, run, rule, options)
    else await sendBatch(feeder, flush, run, rule, options)
  }
  // The service keeps the results of a job and sends them again in order, so none may be missing between them.
  await processItems(run, operationComposer(rule), compute, options.job !== true)
}

/** Computes lines of JSON or rows of a table without signatures, in this process. */
async function processPacked(
  { input, writer, task: { format }, show, terminal }: FileRun,
  rule: ItemRule,
  options: BatchVerbOptions,
): Promise<void> {
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

async function localRun(options: BatchVerbOptions, { env, now, signal }: Terminal): Promise<LocalRun> {
  const { chainId = DEFAULT_CHAIN_ID, recipient, attest = 'each' } = options
  const { createLocalEngine } = await import('../local-engine.ts')
  return { engine: createLocalEngine({ env, now }, options.data), call: { chainId, recipient, attest }, signal }
}

/** Has the items computed as a job. The same command, with the same unchanged file, finds the job again. */
async function sendJob(
  feeder: Feeder,
  flush: () => Promise<void>,
  { input, writer, showUpload, terminal }: FileRun,
  rule: ItemRule,
  options: BatchVerbOptions,
): Promise<void> {
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
    openItems: () => openFeeder(input.file, operationComposer(rule), options, terminal),
    skippedItems: writer.from.items,
    terminal,
  })
}

async function sendBatch(
  feeder: Feeder,
  flush: () => Promise<void>,
  run: FileRun,
  rule: ItemRule,
  options: BatchVerbOptions,
): Promise<void> {
  const { chainId = DEFAULT_CHAIN_ID, recipient, attest, concurrency, chunk: chunkItems } = options
  const client = await createServiceClient(options, run.terminal, chainId)
  const call: StreamOptions = { recipient, attest, concurrency: 1, chunkItems, signal: run.terminal.signal }
  const send = (items: readonly BatchOperation[]) => client.batch.stream(items, call)
  await sendAll(feeder, flush, { compose: operationComposer(rule), concurrency, chunkItems, send }, run)
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

/** Returns everything that affects the results, but not where and how fast they are computed. */
function runIdentity(rule: ItemRule, options: BatchVerbOptions, outputFormat: OutputFormat): object {
  const { chainId = DEFAULT_CHAIN_ID, attest = 'each', recipient, format, columns, errors } = options
  return {
    ...rule,
    chainId,
    attest,
    recipient,
    format,
    columns,
    errors,
    ...(outputFormat.name === 'ndjson' ? {} : { outputFormat: outputFormat.name }),
    ...(options.job === true ? { job: true } : {}),
    ...(options.submit === true ? { submit: true } : {}),
    // A service and this machine sign with different keys.
    ...(options.local === true && attest !== 'none' ? { local: true } : {}),
  }
}
