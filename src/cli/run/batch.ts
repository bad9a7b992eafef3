import { createHash } from 'node:crypto'
import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BatchOperation, StreamOptions } from '../../client/batch.ts'
import type { InputLike } from '../../client/inputs.ts'
import type { BatchResult, ProblemDetails } from '../../types/generated.ts'
import { type ItemRule, splitFixed } from '../batch/compose.ts'
import { Feeder } from '../batch/feeder.ts'
import { digestOf, type RunIdentity } from '../batch/journal.ts'
import { noticeLimit } from '../batch/limit-notice.ts'
import { localStream } from '../batch/local-stream.ts'
import { printSummary } from '../batch/summary.ts'
import { type BatchWriter, createFileWriter, createPipeWriter } from '../batch/writer.ts'
import { CommandError, EXIT, type ExitCode, endingOf, exitOfStatus, usage } from '../exit-codes.ts'
import { countedBytes, peekBytes, type ReadBytes } from '../inputs/byte-pieces.ts'
import { readInput } from '../inputs/read-input.ts'
import { bytesOf, type SourceOptions, sourceItems } from '../inputs/source.ts'
import type { Operation } from '../operation-names.ts'
import { clientOf, DEFAULT_CHAIN_ID, type ServerOptions, transportOf } from '../options.ts'
import { pause } from '../pause.ts'
import { createProgress } from '../progress.ts'
import { counted, type Terminal } from '../terminal.ts'

export interface BatchVerbOptions extends ServerOptions, SourceOptions {
  readonly output: string
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

/** How often the same item may be refused for a moment (500, 503) before the run ends; the pauses double from one second. */
const MAX_SETBACKS = 5
const HEAD_BYTES = 65_536

/** `trigpoint batch`. @returns 1 when items were refused */
export async function runBatch(
  operation: Operation | 'mixed',
  file: string,
  options: BatchVerbOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const rule = await ruleOf(operation, options, terminal)
  const isPiped = options.output === '-'
  const { head, pieces } = await peekBytes(bytesOf(file, terminal), HEAD_BYTES)
  const inputBytes = file === '-' ? undefined : statSync(file).size
  const errors = options.errors ?? `${options.output.replace(/\.[^./\\]+$/, '')}.errors.ndjson`
  if (!isPiped) requireApart(file, options.output, errors)
  let read: () => ReadBytes | undefined = () => undefined
  const writer = isPiped
    ? createPipeWriter(terminal)
    : createFileWriter(
        { output: options.output, errors },
        identityOf(rule, options, head, inputBytes),
        options.restart === true,
        terminal.now,
        () => read(),
      )
  const startedMs = terminal.now()
  const { items: skipped } = writer.from
  if (skipped > 0) terminal.err(`going on after item ${skipped.toLocaleString('en-US')}\n`)
  const counted = countedBytes(pieces, writer.from.read, () => {
    throw usage(`${file}: is another one than the interrupted run read: repeat that one, or begin anew with --restart`)
  })
  read = counted.read
  const source = sourceItems(counted.pieces, file === '-' ? 'standard input' : file, options)
  const feeder = new Feeder(source, rule, (entry) => writer.refusal(entry, notSent(entry.fault ?? '')))
  const progress = createProgress(terminal, 'item')
  const show = () => {
    const { items, failed } = writer.now
    const share = inputBytes === undefined || inputBytes === 0 ? undefined : counted.bytes() / inputBytes
    progress.update({ done: items - skipped, share, note: failed === 0 ? undefined : `${failed} refused` })
  }
  let isComplete = false
  try {
    if (!(await feeder.skip(skipped)))
      throw usage(`${file}: is shorter than when the interrupted run read it: begin anew with --restart`)
    // What comes from a pipe can be read only once.
    if (file !== '-' && statSync(file).isFile() && options.local !== true) {
      const items = sourceItems(bytesOf(file, terminal), file, options)
      await noticeLimit(new Feeder(items, rule, () => {}), skipped, transportOf(options, terminal), terminal)
    }
    await answerAll(feeder, writer, await streamOf(options, terminal), show, terminal)
    isComplete = true
  } catch (error) {
    throw withRemedy(error, isPiped, writer, terminal)
  } finally {
    progress.stop()
    try {
      writer.close(isComplete)
    } finally {
      await feeder.close()
    }
  }
  const { items, failed } = writer.now
  const seconds = (terminal.now() - startedMs) / 1000
  await printSummary({ items, failed, skipped, seconds }, { ...options, errors }, terminal)
  return failed === 0 ? EXIT.ok : EXIT.failed
}

/** One file in two places would be overwritten by itself. */
function requireApart(input: string, output: string, errors: string): void {
  const [from, to, refusals] = [input === '-' ? undefined : pathOf(input), pathOf(output), pathOf(errors)]
  if (to === refusals) throw usage(`${output}: is named for the results and for the refusals: name another --errors`)
  if (from === to || from === refusals) throw usage(`${input}: is the input itself: name another file for the output`)
}

/** The same for every name of a file. */
function pathOf(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return resolve(file)
  }
}

type Stream = (items: AsyncIterable<BatchOperation>) => AsyncGenerator<BatchResult, void, undefined>

async function streamOf(options: BatchVerbOptions, terminal: Terminal): Promise<Stream> {
  const { chainId = DEFAULT_CHAIN_ID, recipient, attest, concurrency, chunk } = options
  if (options.local === true) {
    const { createLocalEngine } = await import('../local-engine.ts')
    const engine = await createLocalEngine(terminal, options.data)
    return (items) => localStream(items, engine, { chainId, recipient, attest, signal: terminal.signal })
  }
  const client = await clientOf(options, terminal, chainId)
  const call: StreamOptions = { recipient, attest, concurrency, chunkItems: chunk, signal: terminal.signal }
  return (items) => client.batch.stream(items, call)
}

/** Until every item has its answer: what a moment's trouble leaves without one is sent again. */
async function answerAll(
  feeder: Feeder,
  writer: BatchWriter,
  stream: Stream,
  show: () => void,
  terminal: Terminal,
): Promise<void> {
  for (let setbacks = 0; ; ) {
    let trouble: ProblemDetails | undefined
    for await (const result of stream(feeder.items())) {
      const entry = feeder.first
      if (entry === undefined) throw new RangeError('there are more results than items')
      if (result.error === undefined) await writer.result(result)
      else if (isPassing(result.error.status)) {
        trouble = result.error
        break
      } else writer.refusal(entry, result.error)
      feeder.settle()
      setbacks = 0
      show()
    }
    if (trouble === undefined) return
    setbacks++
    if (trouble.status === 429 || setbacks > MAX_SETBACKS) {
      throw new CommandError(exitOfStatus(trouble.status), `${trouble.title}: ${trouble.detail}`)
    }
    await pause(1000 * 2 ** (setbacks - 1), terminal.signal)
  }
}

/** Says nothing of the item. */
function isPassing(status: number): boolean {
  return status === 429 || status >= 500
}

/** What ends a run says how it goes on. */
function withRemedy(error: unknown, isPiped: boolean, writer: BatchWriter, terminal: Terminal): unknown {
  if (isPiped) return error
  const { items } = writer.now
  const remedy = writer.hasBegun
    ? `${counted(items, 'item is', 'items are')} done: the same command goes on from there`
    : 'nothing is answered: the files are as they were'
  if (terminal.signal.aborted) {
    terminal.err(`${remedy}\n`)
    return error
  }
  const { exitCode, text } = endingOf(error)
  return exitCode === EXIT.usage || exitCode === EXIT.internal
    ? error
    : new CommandError(exitCode, `${text}\n  ${remedy}`, { cause: error })
}

async function ruleOf(
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
    throw usage(`${operation} has no --radius`)
  return { operation, fixed, radius: options.radius }
}

/** Everything a result depends on, but not where and how fast it is computed. */
function identityOf(
  rule: ItemRule,
  options: BatchVerbOptions,
  head: Uint8Array,
  inputBytes: number | undefined,
): RunIdentity {
  const { chainId = DEFAULT_CHAIN_ID, attest = 'each', recipient, format, columns, errors } = options
  return {
    request: digestOf({ ...rule, chainId, attest, recipient, format, columns, errors }),
    inputBytes,
    inputHead: createHash('sha256').update(head).digest('hex'),
  }
}

function notSent(detail: string): ProblemDetails {
  return { type: 'about:blank', title: 'Not sent', status: 400, detail }
}
