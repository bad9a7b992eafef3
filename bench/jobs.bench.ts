/**
 * Measures jobs against a stream of lines with the same operations, unsigned and signed, on the embedded store. A round runs each
 * once, and a ratio is taken within a round. The rate of a job is from the first byte of the upload to the last one of its results.
 * Processor time is that of the whole service, because both use all cores at times.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './rounds.ts'
import { type BenchService, startService, threadSeconds } from './service-process.ts'
import { Marks, printCells, printHeader } from './tables.ts'

const ROUNDS = 3
/** Signatures take most of the time of signed operations, so fewer of them take as long. */
const CASES = [
  { attest: 'none', operations: 200_000, minRatio: 0.6 },
  { attest: 'each', operations: 40_000, minRatio: 0.85 },
] as const
const PIECE_LINES = 10_000

interface Measured {
  /** Operations per second of time, and of processor time of the service. */
  readonly perSecond: number
  readonly perCpuSecond: number
}

/** Prints and returns the rates of jobs and streams, and their ratios. */
export async function run(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-bench-'))
  const service = await startService(folder, { RECORDS: '1', RATE_LIMIT_INTERNAL: '1000000000', JOB_POLL_MS: '50' })
  const marks = new Marks([])
  const results: Record<string, object> = {}
  try {
    await untilStoreOpen(service)
    await runJob(service, 'none', PIECE_LINES) // optimizing compilers finish here
    await runStream(service, 'none', PIECE_LINES)
    printHeader(['distances', 'stream', 'job', 'job ÷ stream', 'the same by processor time'])
    for (const { attest, operations, minRatio } of CASES) {
      const rounds: { readonly stream: Measured; readonly job: Measured }[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const stream = await measured(service, operations, () => runStream(service, attest, operations))
        rounds.push({ stream, job: await measured(service, operations, () => runJob(service, attest, operations)) })
      }
      const rate = (of: 'stream' | 'job') => Math.round(median(rounds.map((round) => round[of].perSecond)))
      const ratio = median(rounds.map(({ stream, job }) => job.perSecond / stream.perSecond))
      const cpuRatio = median(rounds.map(({ stream, job }) => job.perCpuSecond / stream.perCpuSecond))
      const shown = (value: number) => `${value.toLocaleString('en')}/s`
      printCells([`attest=${attest}`, shown(rate('stream')), shown(rate('job')), ratio.toFixed(2), cpuRatio.toFixed(2)])
      results[attest] = { streamPerSecond: rate('stream'), jobPerSecond: rate('job'), ratio, cpuRatio }
      marks.add(`job, attest=${attest}: ≥ ${minRatio} × stream`, `${ratio.toFixed(2)} ×`, ratio >= minRatio)
    }
  } finally {
    service.child.kill('SIGTERM')
    await new Promise((resolve) => service.child.once('exit', resolve))
    rmSync(folder, { recursive: true })
  }
  return { ...results, marks: marks.list }
}

/** The first start makes a database. */
async function untilStoreOpen({ url }: BenchService): Promise<void> {
  for (;;) {
    const health = (await (await fetch(`${url}/health`)).json()) as { database: string }
    if (health.database === 'connected') return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function measured({ child }: BenchService, operations: number, run: () => Promise<void>): Promise<Measured> {
  const cpu = () => [...threadSeconds(child.pid!).values()].reduce((sum, seconds) => sum + seconds, 0)
  const [beginMs, beginCpu] = [performance.now(), cpu()]
  await run()
  return {
    perSecond: (1000 * operations) / (performance.now() - beginMs),
    perCpuSecond: operations / (cpu() - beginCpu),
  }
}

async function runStream(service: BenchService, attest: string, operations: number): Promise<void> {
  const response = await send(service, `/compute/v0/batch?chainId=84532&attest=${attest}`, operations)
  await requireLines(response, operations)
}

async function runJob(service: BenchService, attest: string, operations: number): Promise<void> {
  const created = await send(service, `/compute/v0/jobs?chainId=84532&attest=${attest}`, operations)
  if (created.status !== 202) throw new Error(await created.text())
  const { id } = (await created.json()) as { id: string }
  const headers = { 'x-api-key': service.internalKey }
  const results = await fetch(`${service.url}/compute/v0/jobs/${id}/results?follow=true`, { headers })
  await requireLines(results, operations)
}

function send(service: BenchService, path: string, operations: number): Promise<Response> {
  return fetch(service.url + path, {
    method: 'POST',
    headers: { 'x-api-key': service.internalKey, 'content-type': 'application/x-ndjson' },
    body: ReadableStream.from(pieces(operations)),
    duplex: 'half',
  } as RequestInit)
}

function* pieces(operations: number): Generator<Uint8Array> {
  for (let first = 0; first < operations; first += PIECE_LINES) {
    const count = Math.min(PIECE_LINES, operations - first)
    const lines = Array.from({ length: count }, (_, offset) => {
      const index = first + offset
      const from = `{"type":"Point","coordinates":[${((index * 0.618) % 180).toFixed(6)},${((index * 0.382) % 90).toFixed(6)}]}`
      return `{"op":"distance","id":${index},"from":${from},"to":{"type":"Point","coordinates":[2.35,48.85]}}\n`
    })
    yield Buffer.from(lines.join(''))
  }
}

/** Reads results without holding them. @throws {Error} unless there is one for each operation, none of them a problem */
async function requireLines(response: Response, operations: number): Promise<void> {
  if (!response.ok) throw new Error(await response.text())
  let lines = 0
  let wasNewline = true
  for await (const piece of response.body! as unknown as AsyncIterable<Uint8Array>) {
    if (Buffer.from(piece.buffer, piece.byteOffset, piece.length).includes('"error":'))
      throw new Error('an operation failed')
    for (const byte of piece) {
      const isNewline = byte === 0x0a
      if (isNewline && !wasNewline) lines++ // blank lines only keep the connection open
      wasNewline = isNewline
    }
  }
  if (lines !== operations) throw new Error(`${lines} results of ${operations} operations`)
}
