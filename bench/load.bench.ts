/**
 * Measures the built service under bounded loopback load from wrk, a separate process on the same cores: single requests, single
 * requests together with large ones, and batches. Prints rates, latencies and each thread's CPU time per request, in microseconds and
 * as multiples of one signature. A sample of the signatures under load is recovered, and a wrong one fails the run.
 *
 * With `--against=<base URL>` another implementation of the API answers the same requests alternately.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { proofOf, stampOf } from '../test/evidence.ts'
import { type LoadRow, loadMarks, type Multiples, NAMES } from './load-marks.ts'
import { median } from './rounds.ts'
import { type BenchService, cpuPerRequest, residentMiB, startService, threadSeconds } from './service-process.ts'
import { createSignatureTimer, meanTimes, type SignatureTimes } from './signature-anchor.ts'
import { sampleSignatures } from './signature-sample.ts'
import { printCells, printHeader } from './tables.ts'
import { isWrkInstalled, runWrk, startWrk, type WrkResult, writeScript } from './wrk.ts'

const SECONDS = 5
const ROUNDS = 3
const BATCH_ITEMS = 1000

const DISTANCE = {
  from: { type: 'Point', coordinates: [2.2945, 48.8584] },
  to: { type: 'Point', coordinates: [2.3522, 48.8566] },
}

interface Scenario {
  readonly name: string
  readonly path: string
  readonly body: string
  readonly connections: number
  /** Operations in one request. */
  readonly operations?: number
  /** Number of other connections that send 10,000-vertex polygons at the same time. */
  readonly beside?: number
}

const SCENARIOS: readonly Scenario[] = [
  single(NAMES.single1, 1),
  single(NAMES.single32, 32),
  single(NAMES.single256, 256),
  { ...single(NAMES.beside, 32), beside: 8 },
  area(NAMES.area7, 7),
  area(NAMES.area17, 17),
  batch(NAMES.none, 'none'),
  batch(NAMES.merkle, 'merkle'),
  batch(NAMES.each, 'each'),
  verify(NAMES.stamp, 'stamp', { stamp: stampOf() }),
  verify(NAMES.proof, 'proof', {
    proof: proofOf([stampOf(), stampOf('geoclue'), stampOf('witnesschain')]),
    chainId: 84532,
  }),
]

interface Round extends WrkResult, Pick<LoadRow, 'cpuMicros' | 'residentMiB'> {
  /** The mean of those just before and after the round. */
  readonly times: SignatureTimes
}

export async function run(): Promise<object> {
  if (!isWrkInstalled()) {
    console.log('skipped: wrk is not installed (Debian package wrk)')
    return { skipped: 'wrk is not installed' }
  }
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-load-'))
  try {
    const service = await startService(folder)
    try {
      return await measureAll(service, folder)
    } finally {
      service.child.kill('SIGTERM')
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureAll(service: BenchService, folder: string): Promise<object> {
  const against = process.env['BENCH_AGAINST']
  const large = writeScript(folder, 'large', '/compute/v0/area', polygonBody(10_000, 7))
  const finishSample = sampleSignatures(service.url)
  const timeSignatures = await createSignatureTimer(service.secp256k1)
  const rows: Record<string, LoadRow> = {}
  const others: Record<string, WrkResult> = {}
  for (const [index, scenario] of SCENARIOS.entries()) {
    const script = writeScript(folder, `scenario-${index}`, scenario.path, scenario.body)
    const load = { url: service.url, script, connections: scenario.connections, seconds: SECONDS }
    await runWrk({ ...load, seconds: 2 }) // warm-up, not measured
    const rounds: Round[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const before = timeSignatures()
      const polygonLoad =
        scenario.beside === undefined
          ? undefined
          : startWrk({ url: service.url, script: large, connections: scenario.beside, seconds: SECONDS + 1 })
      const measured = await measure(service, scenario, load)
      polygonLoad?.kill()
      rounds.push({ ...measured, times: meanTimes(before, timeSignatures()) })
      if (against !== undefined && scenario.operations === undefined) {
        others[scenario.name] = await runWrk({ ...load, url: against })
      }
    }
    rows[scenario.name] = summarize(scenario, rounds)
  }
  const checked = await finishSample()
  printTable(rows, others)
  console.log(`viem recovered ${checked} signatures made under load: all are the attester's`)
  const times = timeSignatures()
  const { secp256k1 } = service
  console.log(
    `backend "${secp256k1}": a signature now takes ${times.signMicros.toFixed(1)} µs, a recovery ${times.recoverMicros.toFixed(1)} µs`,
  )
  return { rows, others, checked, secp256k1, times, seconds: SECONDS, rounds: ROUNDS, marks: loadMarks(rows) }
}

async function measure(service: BenchService, { name, operations = 1 }: Scenario, load: Parameters<typeof runWrk>[0]) {
  const pid = service.child.pid!
  const before = threadSeconds(pid)
  const result = await runWrk(load)
  if (result.errors > 0) throw new Error(`${name}: ${result.errors} requests were not answered with 200`)
  const cpuMicros = cpuPerRequest(pid, before, result.requests * operations)
  return { ...result, cpuMicros, residentMiB: residentMiB(pid) }
}

/** Summarizes a scenario by the round with the median rate. */
function summarize({ operations = 1 }: Scenario, rounds: readonly Round[]): LoadRow {
  const ordered = [...rounds].sort((a, b) => a.requestsPerSecond - b.requestsPerSecond)
  const middle = ordered[Math.floor(ordered.length / 2)]!
  const fraction = (round: WrkResult) => Math.round((100 * round.requestsPerSecond) / middle.requestsPerSecond) / 100
  return {
    operationsPerSecond: middle.requestsPerSecond * operations,
    p50Ms: middle.p50Ms,
    p99Ms: middle.p99Ms,
    spread: [fraction(ordered[0]!), fraction(ordered.at(-1)!)],
    cpuMicros: middle.cpuMicros,
    signatures: multiples(rounds, ({ signMicros }) => signMicros),
    recoveries: multiples(rounds, ({ recoverMicros }) => recoverMicros),
    residentMiB: middle.residentMiB,
  }
}

/** @param unit what is counted, in microseconds */
function multiples(rounds: readonly Round[], unit: (times: SignatureTimes) => number): Multiples {
  const of = (select: (cpu: LoadRow['cpuMicros']) => number) =>
    Math.round(100 * median(rounds.map(({ cpuMicros, times }) => select(cpuMicros) / unit(times)))) / 100
  return { main: of(({ main }) => main), busiest: of(({ others }) => others[0] ?? 0), all: of(({ all }) => all) }
}

function printTable(rows: Record<string, LoadRow>, others: Record<string, WrkResult>): void {
  printHeader([
    'scenario',
    'operations/s',
    'spread',
    'p50, p99 ms',
    'CPU µs per operation: main, others, all',
    'in signatures: main, busiest, all',
    'MiB',
    'other service, requests/s',
  ])
  for (const [name, row] of Object.entries(rows)) {
    const { cpuMicros, signatures } = row
    printCells([
      name,
      String(row.operationsPerSecond),
      row.spread.join('–'),
      `${row.p50Ms}, ${row.p99Ms}`,
      `${cpuMicros.main}, ${cpuMicros.others.join(' ')}, ${cpuMicros.all}`,
      `${signatures.main}, ${signatures.busiest}, ${signatures.all}`,
      String(row.residentMiB),
      String(others[name]?.requestsPerSecond ?? '–'),
    ])
  }
}

function single(name: string, connections: number): Scenario {
  return { name, path: '/compute/v0/distance', body: JSON.stringify({ chainId: 84532, ...DISTANCE }), connections }
}

function area(name: string, decimals: number): Scenario {
  return { name, path: '/compute/v0/area', body: polygonBody(10_000, decimals), connections: 1 }
}

function batch(name: string, attest: string): Scenario {
  const items = Array.from({ length: BATCH_ITEMS }, () => ({ op: 'distance', ...DISTANCE }))
  const body = JSON.stringify({ chainId: 84532, attest, items })
  return { name, path: '/compute/v0/batch', body, connections: 8, operations: BATCH_ITEMS }
}

function verify(name: string, route: 'stamp' | 'proof', body: object): Scenario {
  return { name, path: `/verify/v0/${route}`, body: JSON.stringify(body), connections: 32 }
}

function polygonBody(vertices: number, decimals: number): string {
  const rounded = (value: number) => (decimals >= 17 ? value : Number(value.toFixed(decimals)))
  const ring = Array.from({ length: vertices }, (_, index) => {
    const angle = (2 * Math.PI * index) / vertices
    const radius = 0.5 + 0.01 * Math.sin(50 * angle)
    return [rounded(10 + radius * Math.cos(angle)), rounded(45 + radius * Math.sin(angle))]
  })
  ring.push(ring[0]!)
  return JSON.stringify({ chainId: 84532, geometry: { type: 'Polygon', coordinates: [ring] } })
}
