/**
 * Computes a file as a job from the command line, interrupts the command twice, and compares the results with those of the stream. With
 * 5,000,000 operations it takes long, so `JOB_OPERATIONS` sets another number.
 */
import { spawn } from 'node:child_process'
import { closeSync, createReadStream, existsSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import { fileURLToPath } from 'node:url'
import { JOB_ENVIRONMENT, JOBS, pieces, sendLines, untilStoreOpen } from './job-load.ts'
import { type BenchService, startService } from './service-process.ts'
import { makeStore } from './store-engines.ts'
import { type Marks, printCells, printHeader } from './tables.ts'

const COMMAND = fileURLToPath(new URL('../../scripts/trigpoint.mjs', import.meta.url))
const OPERATIONS = Number(process.env['JOB_OPERATIONS'] ?? 5_000_000)
/** Exit code of a command that Ctrl-C ended. */
const INTERRUPTED = 130

interface CommandRun {
  readonly exitCode: number | null
  readonly seconds: number
  /** The last line of its progress. */
  readonly progress: string
}

/** Prints and returns the runs of the command, and whether its results are those of the stream. */
export async function measureCommand(marks: Marks): Promise<object> {
  const files = await makeStore('postgres')
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-bench-'))
  const service = await startService(folder, { ...JOB_ENVIRONMENT, ...files.environment })
  const [input, output] = [join(folder, 'operations.ndjson'), join(folder, 'results.ndjson')]
  try {
    await untilStoreOpen(service)
    const file = openSync(input, 'w')
    for (const piece of pieces(OPERATIONS)) writeSync(file, piece)
    closeSync(file)
    printHeader([`${OPERATIONS.toLocaleString('en')} operations`, 'time', 'exit code', 'last progress'])
    const run = async (title: string, until?: () => Promise<boolean>) => {
      const result = await runCommand(service, input, output, until)
      printCells([title, `${result.seconds.toFixed(0)} s`, String(result.exitCode), result.progress])
      return result
    }
    const runs = [
      await run('Ctrl-C in the middle of the upload', async () => (await received(service)) > OPERATIONS / 3),
      await run('Ctrl-C in the middle of the results', async () => bytesOf(output) > (OPERATIONS / 3) * RESULT_BYTES),
      await run('to the end'),
    ]
    const different = await countDifferent(service, output)
    const codes = runs.map(({ exitCode }) => exitCode)
    const isRight = codes.join() === [INTERRUPTED, INTERRUPTED, 0].join() && different === 0
    marks.add('a command that is interrupted twice has the results of the stream', `${different} differ`, isRight)
    return { operations: OPERATIONS, runs, different }
  } finally {
    service.child.kill('SIGTERM')
    await new Promise((resolve) => service.child.once('exit', resolve))
    await files.remove()
    rmSync(folder, { recursive: true })
  }
}

/** About as long as one line of the output is. */
const RESULT_BYTES = 200

/** @param until the command is interrupted when this is true */
async function runCommand(
  { url, internalKey }: BenchService,
  input: string,
  output: string,
  until: (() => Promise<boolean>) | undefined,
): Promise<CommandRun> {
  const beginMs = performance.now()
  const server = ['--url', url, '--api-key', internalKey]
  const argv = ['batch', 'mixed', input, '-o', output, '--job', '--attest', 'none', ...server]
  const child = spawn(process.execPath, [COMMAND, ...argv], { stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  let progress = ''
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (/%|uploaded|\/s|^error/.test(line)) progress = line.trim()
  })
  const hasExited = () => child.exitCode !== null || child.signalCode !== null
  while (until !== undefined && !hasExited()) {
    if (await until()) {
      child.kill('SIGINT')
      break
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return { exitCode: await exited, seconds: (performance.now() - beginMs) / 1000, progress }
}

/** Returns how many operations the newest job has; 0 before there is one. */
async function received({ url, internalKey }: BenchService): Promise<number> {
  const response = await fetch(url + JOBS, { headers: { 'x-api-key': internalKey } })
  const { jobs } = (await response.json()) as { readonly jobs: readonly { readonly received: number }[] }
  return jobs[0]?.received ?? 0
}

function bytesOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0
}

/** Compares the lines of the output with the stream of the same operations, except for their timestamps. */
async function countDifferent(service: BenchService, output: string): Promise<number> {
  const response = await sendLines(service, '/compute/v0/batch?chainId=84532&attest=none', OPERATIONS)
  const expected = createInterface({ input: Readable.fromWeb(response.body as WebStream) })[Symbol.asyncIterator]()
  let different = 0
  for await (const line of createInterface({ input: createReadStream(output) })) {
    const { done, value } = await expected.next()
    if (done === true || comparable(line) !== comparable(value)) different++
  }
  while ((await expected.next()).done !== true) different++
  return different
}

/** The members of a result in the order of their names, without the time at which it was computed. */
function comparable(json: string): string {
  const members = Object.entries(JSON.parse(json) as object).filter(([name]) => name !== 'timestamp')
  return JSON.stringify(members.sort(([a], [b]) => (a < b ? -1 : 1)))
}
