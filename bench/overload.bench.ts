/**
 * Measures how the built service behaves when more requests arrive than it can answer: how many it still answers, how long those
 * take, and what a refusal costs. There are two workloads: signed distances, the cheapest requests, and the mix of an honest client.
 * The service has one core and the generator another, where `taskset` and two cores are available, so that the arrivals do not slow
 * the service down.
 *
 * `BENCH_SECONDS` sets the length of one measurement, `BENCH_OVERLOAD` selects rows whose name contains the text, such as `uws, mix`.
 */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generateKey } from '../src/service/keys/key-text.ts'
import { createMix } from '../test/honest-client.ts'
import { type ArrivalRequest, type ArrivalResult, sendArrivals } from './open-loop.ts'
import { type BenchService, startService, threadSeconds } from './service-process.ts'
import { type Mark, Marks, printCells, printHeader } from './tables.ts'

const LEAD_SECONDS = 1
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5)
const ADAPTERS = ['uws', 'node'] as const
/** Steps of the search for the peak: the first rate, as a part of an estimate, by what it grows, and the most steps. */
const SEARCH = { begin: 0.8, growth: 1.15, steps: 10 }
/** Smallest accepted part of the requests of a kind, compared with the largest one, at the peak. */
const MIN_EVENNESS = 0.95
/** Part of the peak at which the service counts as unloaded. */
const UNLOADED = 0.2
const MIN_REQUESTS = 500
/** Enough for a response time of a fifth of a second at 30,000 arrivals a second. */
const CONNECTIONS = 6000
const CLOSED_LOOP_CONNECTIONS = 64

const SETTINGS = {
  COMPUTE_THREADS: '1',
  // All connections come from one address, whose share of them is smaller by default.
  MAX_CONNECTIONS_PER_ADDRESS: String(2 * CONNECTIONS),
}

/** The clients of the mix. Each has a key of its own, because a client has a share of the exports and of the store. */
const KEYS = Array.from({ length: 8 }, () => generateKey('internal'))

interface Workload {
  readonly name: string
  readonly settings: Readonly<Record<string, string>>
  /** Returns the function that makes the requests. */
  readonly prepare: (service: MeasuredServer) => Promise<() => ArrivalRequest>
}

const DISTANCES: Workload = {
  name: 'distances',
  settings: {},
  async prepare() {
    const body = JSON.stringify({
      chainId: 84532,
      from: { type: 'Point', coordinates: [2.2945, 48.8584] },
      to: { type: 'Point', coordinates: [2.3522, 48.8566] },
    })
    const request = { kind: 'distance', bytes: post('/compute/v0/distance', body), contains: '"signature":"0x' }
    return () => request
  },
}

const MIX: Workload = {
  name: 'mix',
  settings: {
    RECORDS: '1',
    SAMPLE_RECORDS: '1',
    API_KEYS: JSON.stringify(Object.fromEntries(KEYS.map((key) => [key, { tier: 'internal' }]))),
    RATE_LIMIT_INTERNAL: '1000000000',
  },
  async prepare({ url }) {
    const stepOf = await createMix(url)
    let sent = 0
    return () => {
      const { kind, path, body, contains } = stepOf(sent)
      const key = `X-API-Key: ${KEYS[sent++ % KEYS.length]}\r\n`
      const bytes = body === undefined ? get(path, key) : post(path, body, key)
      return { kind, bytes, contains }
    }
  },
}

/** @param fields more header lines, each with its line break */
function get(path: string, fields: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`)
}

function post(path: string, body: string, fields = ''): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
  return Buffer.from(`${head}\r\n${fields}\r\n${body}`)
}

const ROWS = [DISTANCES, MIX]
  .flatMap((workload) => ADAPTERS.map((adapter) => ({ workload, adapter, name: `${adapter}, ${workload.name}` })))
  .filter(({ name }) => name.includes(process.env['BENCH_OVERLOAD'] ?? ''))

interface Measured extends ArrivalResult {
  /** Processor time of the main thread, in seconds. */
  readonly mainSeconds: number
}

export async function run(): Promise<object> {
  const isPinned = availableParallelism() >= 2 && pin(process.pid, 1)
  if (!isPinned) console.log('The service and the generator share their cores: taskset or a second core is missing.')
  const rows: object[] = []
  const marks: Mark[] = []
  try {
    for (const { workload, adapter, name } of ROWS) {
      const folder = mkdtempSync(join(tmpdir(), 'trigpoint-overload-'))
      const service = await startService(folder, { ...SETTINGS, ...workload.settings, HTTP_ADAPTER: adapter })
      try {
        if (isPinned) pin(service.child.pid!, 0)
        const next = await workload.prepare(service)
        const { row, list } = await measureService(name, { service, next })
        const bareMicros = workload === DISTANCES ? await measureBareServer(adapter, next, isPinned) : undefined
        if (bareMicros !== undefined)
          console.log(`A bare server on ${adapter}, which only refuses: ${bareMicros.toFixed(0)} µs a request.\n`)
        rows.push({ ...row, bareMicros })
        marks.push(...list)
      } finally {
        service.child.kill('SIGTERM')
        rmSync(folder, { recursive: true, force: true })
      }
    }
  } finally {
    if (isPinned) pin(process.pid, `0-${availableParallelism() - 1}`)
  }
  return { rows, seconds: SECONDS, isPinned, marks }
}

/** Binds all threads of a process to cores. @returns false if that is not possible here */
function pin(pid: number, cores: number | string): boolean {
  return spawnSync('taskset', ['-a', '-c', '-p', String(cores), String(pid)]).status === 0
}

async function measureService(name: string, load: Load) {
  await measure(load, Number.POSITIVE_INFINITY, CLOSED_LOOP_CONNECTIONS) // warm-up
  const { acceptedPerSecond: estimate } = await measure(load, Number.POSITIVE_INFINITY, CLOSED_LOOP_CONNECTIONS)
  const peak = await findPeak(load, estimate)
  const at = (part: number) => measure(load, part * peak.acceptedPerSecond)
  const [unloaded, half, triple] = [await at(UNLOADED), await at(1.5), await at(3)]
  const rows = { unloaded, peak, half, triple }
  printRows(name, rows)
  printKinds(rows)
  const cost = refusalCost(peak, triple)
  const list = marksOf(name, rows, cost)
  return { row: { name, ...rows, cost }, list }
}

/**
 * Finds the highest rate of answers. Of a mix, each kind of request must have its part: otherwise the rate would be higher where costly
 * requests are refused.
 */
async function findPeak(load: Load, estimate: number): Promise<Measured> {
  let rate = SEARCH.begin * estimate
  let peak: Measured | undefined
  for (let step = 0; step < SEARCH.steps; step++) {
    const next = await measure(load, rate)
    const parts = Object.values(next.kinds).map(({ acceptedPart }) => acceptedPart)
    const isBest = next.acceptedPerSecond > (peak?.acceptedPerSecond ?? 0)
    const isEven = Math.min(...parts) >= MIN_EVENNESS * Math.max(...parts)
    if (isEven && isBest) peak = next
    else if (peak !== undefined) break
    rate *= peak === undefined ? 1 / SEARCH.growth : SEARCH.growth
  }
  if (peak === undefined)
    throw new Error('at each rate that was tried, some kinds of requests were refused more than others')
  return peak
}

/** Returns the processor time that the transport and the system take for a request without a service, in microseconds. */
async function measureBareServer(adapter: string, next: Load['next'], isPinned: boolean): Promise<number> {
  const script = fileURLToPath(new URL('bare-server.js', import.meta.url))
  const child = spawn(process.execPath, [script, adapter], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [port] = await once(child.stdout, 'data')
    if (isPinned) pin(child.pid!, 0)
    const load = { service: { child, url: `http://127.0.0.1:${Number(port)}` }, next }
    await measure(load, Number.POSITIVE_INFINITY, CLOSED_LOOP_CONNECTIONS) // warm-up
    const { mainSeconds, refused } = await measure(load, Number.POSITIVE_INFINITY, CLOSED_LOOP_CONNECTIONS)
    return (1e6 * mainSeconds) / refused
  } finally {
    child.kill('SIGTERM')
  }
}

type MeasuredServer = Pick<BenchService, 'child' | 'url'>

interface Load {
  readonly service: MeasuredServer
  readonly next: () => ArrivalRequest
}

async function measure({ service, next }: Load, perSecond: number, connections = CONNECTIONS): Promise<Measured> {
  // Enough requests for a p99.
  const seconds = Math.max(SECONDS, MIN_REQUESTS / perSecond)
  const pid = service.child.pid!
  const before = threadSeconds(pid).get(pid)!
  const result = await sendArrivals({
    url: service.url,
    next,
    perSecond,
    seconds,
    leadSeconds: LEAD_SECONDS,
    connections,
  })
  return { ...result, mainSeconds: threadSeconds(pid).get(pid)! - before }
}

/**
 * Processor time of the main thread for one accepted and for one refused request, in microseconds. The accepted ones under
 * overload are taken to cost as much as at the peak.
 */
function refusalCost(peak: Measured, overloaded: Measured): { acceptedMicros: number; refusedMicros: number } {
  const acceptedMicros = (1e6 * peak.mainSeconds) / peak.accepted
  const refusedMicros = (1e6 * overloaded.mainSeconds - overloaded.accepted * acceptedMicros) / overloaded.refused
  return { acceptedMicros, refusedMicros }
}

function printRows(title: string, rows: Readonly<Record<string, Measured>>): void {
  printHeader([
    title,
    'arrivals/s',
    'accepted/s',
    'p50, p99 ms',
    'refused',
    'without Retry-After',
    'p99 ms of refusals',
    'failed, unsent',
  ])
  for (const [name, row] of Object.entries(rows)) {
    printCells([
      name,
      row.perSecond.toFixed(0),
      row.acceptedPerSecond.toFixed(0),
      `${row.p50Ms.toFixed(1)}, ${row.p99Ms.toFixed(1)}`,
      String(row.refused),
      String(row.withoutRetryAfter),
      row.refusedP99Ms.toFixed(1),
      `${describeFailures(row)}, ${row.unsent}`,
    ])
  }
  console.log()
}

function describeFailures({ failures }: Measured): string {
  const kinds = Object.entries(failures).map(([reason, count]) => `${count} × ${reason}`)
  return kinds.length === 0 ? '0' : kinds.join(' ')
}

/** Prints which part of the requests of each kind was accepted, and how long those took, if there are several kinds. */
function printKinds({ unloaded, half, triple }: Readonly<Record<'unloaded' | 'half' | 'triple', Measured>>): void {
  const kinds = Object.keys(triple.kinds)
  if (kinds.length < 2) return
  printHeader(['accepted; p99 ms', ...kinds])
  for (const [name, row] of Object.entries({ unloaded, half, triple })) {
    const cells = kinds.map((kind) => row.kinds[kind] ?? { acceptedPart: Number.NaN, p99Ms: Number.NaN })
    printCells([name, ...cells.map(({ acceptedPart, p99Ms }) => `${acceptedPart.toFixed(2)}; ${p99Ms.toFixed(0)}`)])
  }
  console.log()
}

function marksOf(
  title: string,
  { unloaded, peak, half, triple }: Readonly<Record<'unloaded' | 'peak' | 'half' | 'triple', Measured>>,
  { acceptedMicros, refusedMicros }: ReturnType<typeof refusalCost>,
): readonly Mark[] {
  const marks = new Marks([])
  const ratio = (mark: string, value: number, isReached: boolean) =>
    marks.add(`${title}: ${mark}`, value.toFixed(2), isReached)
  for (const [name, row, least] of [['1.5', half, 0.85] as const, ['3', triple, 0.6] as const]) {
    const goodput = row.acceptedPerSecond / peak.acceptedPerSecond
    const slowdown = row.p99Ms / unloaded.p99Ms
    ratio(`${name} × the peak arrives: accepted, as part of the peak, ≥ ${least}`, goodput, goodput >= least)
    ratio('… p99 of the accepted ≤ 5 × unloaded', slowdown, slowdown <= 5)
    marks.add(
      `${title}: … every refusal has Retry-After, nothing fails`,
      `${row.withoutRetryAfter}, ${row.failed}`,
      row.withoutRetryAfter + row.failed === 0,
    )
  }
  // Of a mix, those that are accepted in an overload do not cost as much as at the peak.
  if (Object.keys(peak.kinds).length > 1) return marks.list
  const cost = refusedMicros / acceptedMicros
  ratio(
    `main thread: a refusal (${refusedMicros.toFixed(0)} µs) ≤ 0.25 of an accepted request (${acceptedMicros.toFixed(0)} µs)`,
    cost,
    cost <= 0.25,
  )
  return marks.list
}
