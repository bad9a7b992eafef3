/**
 * Measures jobs against a stream of lines with the same operations, unsigned and signed, on either engine. A round runs each once, and
 * a ratio is taken within a round. The rate of a job is from the first byte of the upload to the last one of its results. Processor
 * time is that of the service, without a PostgreSQL server. Then it measures the memory of a node and the loss of one.
 *
 * `JOBS_PARTS=rates`, `nodes` or `memory` measures only these. `JOBS_PARTS=command` interrupts the command line.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureCommand } from './job-command.ts'
import {
  createJob,
  JOB_ENVIRONMENT,
  PIECE_LINES,
  readLines,
  readResults,
  sendLines,
  untilStoreOpen,
} from './job-load.ts'
import { measureMemory } from './job-memory.ts'
import { measureKill } from './job-nodes.ts'
import { median } from './rounds.ts'
import { type BenchService, startService, threadSeconds } from './service-process.ts'
import { ENGINES, makeStore } from './store-engines.ts'
import { Marks, printCells, printHeader } from './tables.ts'

const ROUNDS = 3
/** Signatures take most of the time of signed operations, so fewer of them take as long. */
const CASES = [
  { attest: 'none', operations: 200_000, minRatio: 0.6 },
  { attest: 'each', operations: 40_000, minRatio: 0.85 },
] as const

interface Measured {
  /** Operations per second of time, and of processor time of the service. */
  readonly perSecond: number
  readonly perCpuSecond: number
}

/** Prints and returns the rates of jobs and streams and their ratios, and what the other parts measure. */
export async function run(): Promise<object> {
  const marks = new Marks([])
  const parts = process.env['JOBS_PARTS']?.split(',')
  const isMeasured = (part: string) => parts === undefined || parts.includes(part)
  const results: Record<string, object> = {}
  if (isMeasured('rates')) for (const engine of ENGINES) results[engine] = await measureRates(engine, marks)
  if (ENGINES.includes('postgres')) {
    if (isMeasured('nodes')) results['nodes'] = await measureKill(marks)
    if (isMeasured('memory')) results['memory'] = await measureMemory(marks)
    if (parts?.includes('command') === true) results['command'] = await measureCommand(marks)
  }
  return { ...results, marks: marks.list }
}

/** The targets are those of PostgreSQL. */
async function measureRates(engine: (typeof ENGINES)[number], marks: Marks): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-bench-'))
  const files = await makeStore(engine)
  const service = await startService(folder, { ...JOB_ENVIRONMENT, ...files.environment })
  const results: Record<string, object> = {}
  try {
    await untilStoreOpen(service)
    await runJob(service, 'none', PIECE_LINES) // optimizing compilers finish here
    await runStream(service, 'none', PIECE_LINES)
    printHeader([`distances, ${engine}`, 'stream', 'job', 'job ÷ stream', 'the same by processor time'])
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
      if (engine === 'postgres')
        marks.add(`job, attest=${attest}: ≥ ${minRatio} × stream`, `${ratio.toFixed(2)} ×`, ratio >= minRatio)
    }
  } finally {
    service.child.kill('SIGTERM')
    await new Promise((resolve) => service.child.once('exit', resolve))
    await files.remove()
    rmSync(folder, { recursive: true })
  }
  return results
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
  const response = await sendLines(service, `/compute/v0/batch?chainId=84532&attest=${attest}`, operations)
  requireAll(await readLines(response, operations))
}

async function runJob(service: BenchService, attest: string, operations: number): Promise<void> {
  const id = await createJob(service, attest, operations)
  requireAll(await readResults(service, id, operations, '?follow=true'))
}

function requireAll({ lost, doubled }: { readonly lost: number; readonly doubled: number }): void {
  if (lost + doubled > 0) throw new Error(`${lost} results are lost, and ${doubled} are doubled`)
}
