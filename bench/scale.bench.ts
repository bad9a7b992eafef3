/**
 * Measures what each process of the service costs for a signed distance, with one HTTP process and with several, in turn. On few
 * cores, rates say nothing about more cores, but processor time does: what runs once on a machine limits the machine when it needs
 * a whole core. Also measures the limit of a client over ten processes, and the replacement of all processes under load.
 *
 * `BENCH_SECONDS` sets the length of one measurement, `BENCH_PROCESSES` the numbers of HTTP processes, such as `1,2,4`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { childrenOf } from '../test/children.ts'
import { DISTANCE_BODY, type SteadyLoad, startLoad } from '../test/steady-load.ts'
import { median } from './rounds.ts'
import { threadSeconds, withService } from './service-process.ts'
import { Marks, printCells, printHeader } from './tables.ts'
import { isWrkInstalled, runWrk, writeScript } from './wrk.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5)
const ROUNDS = 3
const CONNECTIONS_PER_PROCESS = 32
const ADAPTERS = ['uws', 'node'] as const
const HOURLY_LIMIT = 100
/** Requests that one client sends against its limit, each over a connection of its own. */
const ATTEMPTS = 1000
const LIMIT_PROCESSES = 10

/** Processor time for one request in microseconds, by what spends it. */
interface Cost {
  readonly perSecond: number
  readonly all: number
  readonly supervisor: number
  readonly data: number
  /** The main threads of the HTTP processes. */
  readonly main: number
}

export async function run(): Promise<object> {
  if (!isWrkInstalled()) {
    console.log('skipped: wrk is not installed (Debian package wrk)')
    return { skipped: 'wrk is not installed' }
  }
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-scale-'))
  try {
    const costs = await measureCosts(folder)
    const answered = await measureLimit(folder)
    const replacements = []
    for (const adapter of ADAPTERS) replacements.push(await measureReplacement(folder, adapter))
    return { costs, answered, replacements, seconds: SECONDS, marks: marksOf(costs, answered, replacements) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the numbers of HTTP processes: with two cores 1 and 2, then all powers of two that give each process two cores. */
function processNumbers(): readonly number[] {
  const chosen = process.env['BENCH_PROCESSES']
  if (chosen !== undefined) return chosen.split(',').map(Number)
  return [1, 2, 4, 8, 16].filter((number) => number <= Math.max(2, availableParallelism() / 2))
}

async function measureCosts(folder: string): Promise<ReadonlyMap<number, Cost>> {
  const numbers = processNumbers()
  const samples = new Map<number, Cost[]>(numbers.map((number) => [number, []]))
  for (let round = 0; round < ROUNDS; round++)
    for (const number of numbers) samples.get(number)!.push(await measureCost(folder, number))
  const costs = new Map(numbers.map((number) => [number, medianCost(samples.get(number)!)]))
  printHeader(['HTTP processes', 'signed/s', 'µs for a request', 'main threads', 'supervisor', 'data process'])
  for (const [number, cost] of costs) {
    const cells = [cost.all, cost.main, cost.supervisor, cost.data].map((micros) => micros.toFixed(1))
    printCells([String(number), cost.perSecond.toFixed(0), ...cells])
  }
  return costs
}

async function measureCost(folder: string, processes: number): Promise<Cost> {
  return withService(folder, { PROCESSES: String(processes) }, async ({ url, child }) => {
    const script = writeScript(folder, 'distance', '/compute/v0/distance', DISTANCE_BODY)
    const load = { url, script, connections: CONNECTIONS_PER_PROCESS * processes, seconds: SECONDS }
    await runWrk({ ...load, seconds: 2 }) // warm-up
    const supervisor = child.pid!
    const [data, ...http] = processes === 1 ? [undefined, supervisor] : childrenOf(supervisor)
    const before = [supervisor, data, ...http].map(secondsOf)
    const { requests, requestsPerSecond, errors } = await runWrk(load)
    if (errors > 0) throw new Error(`${errors} requests were not answered with 200`)
    const [ofSupervisor, ofData, ...ofHttp] = [supervisor, data, ...http].map((pid, index) => {
      const after = secondsOf(pid)
      return { all: after.all - before[index]!.all, main: after.main - before[index]!.main }
    })
    const micros = (seconds: number) => (1e6 * seconds) / requests
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
    const once = processes === 1 ? { supervisor: 0, data: 0 } : { supervisor: ofSupervisor!.all, data: ofData!.all }
    return {
      perSecond: requestsPerSecond,
      all: micros(sum(ofHttp.map(({ all }) => all)) + once.supervisor + once.data),
      supervisor: micros(once.supervisor),
      data: micros(once.data),
      main: micros(sum(ofHttp.map(({ main }) => main))),
    }
  })
}

function secondsOf(pid: number | undefined): { readonly all: number; readonly main: number } {
  if (pid === undefined) return { all: 0, main: 0 }
  const seconds = threadSeconds(pid)
  return { all: [...seconds.values()].reduce((sum, value) => sum + value, 0), main: seconds.get(pid) ?? 0 }
}

function medianCost(samples: readonly Cost[]): Cost {
  const of = (key: keyof Cost) => median(samples.map((sample) => sample[key]))
  return {
    perSecond: of('perSecond'),
    all: of('all'),
    supervisor: of('supervisor'),
    data: of('data'),
    main: of('main'),
  }
}

/** @returns how many of many requests of one client ten processes answer, with one hourly limit */
async function measureLimit(folder: string): Promise<number> {
  const settings = {
    PROCESSES: String(LIMIT_PROCESSES),
    COMPUTE_THREADS: '1',
    RATE_LIMIT_PUBLIC: String(HOURLY_LIMIT),
    // With a proxy to trust, requests from this machine have no larger limit than others.
    TRUSTED_PROXIES: '192.0.2.1',
  }
  return withService(folder, settings, async ({ url }) => {
    let answered = 0
    for (let sent = 0; sent < ATTEMPTS; sent++) {
      const response = await fetch(`${url}/compute/v0/distance`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: DISTANCE_BODY,
      })
      await response.arrayBuffer()
      if (response.status === 200) answered++
    }
    console.log(
      `\nA client with ${HOURLY_LIMIT} requests an hour got ${answered} answers from ${LIMIT_PROCESSES} processes.`,
    )
    return answered
  })
}

interface Replacement {
  readonly adapter: string
  readonly rounds: number
  readonly answered: number
  readonly failed: number
}

/** Replaces the HTTP processes three times while clients send requests. */
async function measureReplacement(folder: string, adapter: string): Promise<Replacement> {
  return withService(folder, { PROCESSES: '2', HTTP_ADAPTER: adapter }, async ({ url, child }) => {
    const load = startLoad(url, 16)
    for (let round = 0; round < ROUNDS; round++) await replaceProcesses(child.pid!, load)
    await load.stop()
    const { answered, failures } = load
    console.log(
      `Replaced all processes over ${adapter} ${ROUNDS} times: ${answered} requests answered, ${failures.length} failed.`,
    )
    return { adapter, rounds: ROUNDS, answered, failed: failures.length }
  })
}

async function replaceProcesses(supervisor: number, load: SteadyLoad): Promise<void> {
  const before = childrenOf(supervisor).slice(1)
  const answeredBefore = load.answered
  process.kill(supervisor, 'SIGHUP')
  const deadlineMs = performance.now() + 120_000
  const isReplaced = () => {
    const now = childrenOf(supervisor).slice(1)
    return now.length === before.length && now.every((pid) => !before.includes(pid))
  }
  while (!isReplaced() || load.answered < answeredBefore + 100) {
    if (performance.now() > deadlineMs) throw new Error('the processes were not replaced within two minutes')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function marksOf(costs: ReadonlyMap<number, Cost>, answered: number, replacements: readonly Replacement[]) {
  const marks = new Marks([])
  const single = costs.get(1)
  const most = Math.max(...costs.keys())
  const several = costs.get(most)!
  const once = (several.supervisor + several.data) / several.all
  marks.add('what runs once on a machine: ≤ 5 % of a signed distance', `${(100 * once).toFixed(1)} %`, once <= 0.05)
  if (single !== undefined) {
    const part = single.all / several.all
    const mark = `a signed distance with one process costs ≥ 0.85 of one with ${most}`
    marks.add(mark, part.toFixed(2), part >= 0.85)
  }
  marks.add(
    `limit of ${HOURLY_LIMIT} over ${LIMIT_PROCESSES} processes: ≤ ${Math.round(1.1 * HOURLY_LIMIT)} answers`,
    String(answered),
    answered >= HOURLY_LIMIT && answered <= 1.1 * HOURLY_LIMIT,
  )
  for (const { adapter, failed, answered } of replacements)
    marks.add(`processes replaced over ${adapter}: 0 failed`, `${failed} of ${answered}`, failed === 0)
  return marks.list
}
