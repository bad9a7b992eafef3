/**
 * Measures the built service under bounded loopback load from wrk, a separate process on the same cores: single requests, single
 * requests together with large ones, and batches. Prints rates, latencies and each thread's CPU time per request, compared with
 * the committed baseline. A sample of the signatures under load is recovered, and a wrong one fails the run.
 *
 * With `--against=<base URL>` another implementation of the API answers the same requests alternately.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { proofOf, stampOf } from '../test/evidence.ts'
import { type LoadRow, loadMarks, NAMES } from './load-marks.ts'
import { type BenchService, cpuPerRequest, residentMiB, startService, threadSeconds } from './service-process.ts'
import { createSignatureTimer, TARGET_SIGNATURE_MICROS } from './signature-anchor.ts'
import { sampleSignatures } from './signature-sample.ts'
import { isWrkInstalled, runWrk, startWrk, type WrkResult, writeScript } from './wrk.ts'

const SECONDS = 5
const ROUNDS = 3
const BATCH_ITEMS = 1000
const BASELINE = fileURLToPath(new URL('../../bench/baseline/load.json', import.meta.url))

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
  const timeSignatures = await createSignatureTimer()
  const rows: Record<string, LoadRow> = {}
  const others: Record<string, WrkResult> = {}
  for (const [index, scenario] of SCENARIOS.entries()) {
    const script = writeScript(folder, `scenario-${index}`, scenario.path, scenario.body)
    const load = { url: service.url, script, connections: scenario.connections, seconds: SECONDS }
    await runWrk({ ...load, seconds: 2 }) // warm-up, not measured
    const rounds: (WrkResult & Pick<LoadRow, 'cpuMicros' | 'residentMiB'>)[] = []
    for (let round = 0; round < ROUNDS; round++) {
      timeSignatures()
      const polygonLoad =
        scenario.beside === undefined
          ? undefined
          : startWrk({ url: service.url, script: large, connections: scenario.beside, seconds: SECONDS + 1 })
      rounds.push(await measure(service, scenario, load))
      polygonLoad?.kill()
      if (against !== undefined && scenario.operations === undefined) {
        others[scenario.name] = await runWrk({ ...load, url: against })
      }
    }
    rows[scenario.name] = summarize(scenario, rounds)
  }
  const checked = await finishSample()
  printTable(rows, others)
  console.log(`viem recovered ${checked} signatures made under load: all are the attester's`)
  const signatureMicros = timeSignatures()
  const { secp256k1 } = service
  console.log(
    `the service signed with secp256k1 backend "${secp256k1}"; between the rounds a single signature by "native" took ${signatureMicros} µs ` +
      `(${TARGET_SIGNATURE_MICROS} µs on the machine for which the targets were set)`,
  )
  return { rows, others, checked, secp256k1, signatureMicros, seconds: SECONDS, rounds: ROUNDS, marks: loadMarks(rows) }
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
function summarize(
  { operations = 1 }: Scenario,
  rounds: (WrkResult & Pick<LoadRow, 'cpuMicros' | 'residentMiB'>)[],
): LoadRow {
  const ordered = [...rounds].sort((a, b) => a.requestsPerSecond - b.requestsPerSecond)
  const median = ordered[Math.floor(ordered.length / 2)]!
  const fraction = (round: WrkResult) => Math.round((100 * round.requestsPerSecond) / median.requestsPerSecond) / 100
  return {
    operationsPerSecond: median.requestsPerSecond * operations,
    p50Ms: median.p50Ms,
    p99Ms: median.p99Ms,
    spread: [fraction(ordered[0]!), fraction(ordered.at(-1)!)],
    cpuMicros: median.cpuMicros,
    residentMiB: median.residentMiB,
  }
}

function printTable(rows: Record<string, LoadRow>, others: Record<string, WrkResult>): void {
  const baseline: { rows: Record<string, LoadRow> } | undefined = existsSync(BASELINE)
    ? JSON.parse(readFileSync(BASELINE, 'utf8')).load
    : undefined
  console.log(
    '| scenario | operations/s | spread | p50 ms | p99 ms | CPU µs per request: main, others, all | MiB | × baseline | other service, requests/s |',
  )
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- |')
  for (const [name, row] of Object.entries(rows)) {
    const { main, others: rest, all } = row.cpuMicros
    const baselineRow = baseline?.rows[name]
    const ratio =
      baselineRow === undefined ? '–' : (row.operationsPerSecond / baselineRow.operationsPerSecond).toFixed(2)
    const other = others[name]?.requestsPerSecond
    console.log(
      `| ${name} | ${row.operationsPerSecond} | ${row.spread.join('–')} | ${row.p50Ms} | ${row.p99Ms} | ${main}, ${rest.join(' ')}, ${all} | ` +
        `${row.residentMiB} | ${ratio} | ${other ?? '–'} |`,
    )
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
