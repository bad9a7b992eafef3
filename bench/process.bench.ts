/**
 * Measures one process of the service with the embedded database: how long the first requests take after `/ready` has answered 200, compared
 * with later ones of the same client, and its memory while clients request signed distances and lists of records.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DISTANCE_BODY, requestDistance } from '../test/steady-load.ts'
import { median } from './rounds.ts'
import { peakMiB, residentMiB, withService } from './service-process.ts'
import { Marks, printCells, printHeader } from './tables.ts'
import { isWrkInstalled, runWrk, writeScript } from './wrk.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 10)
const STARTS = 5
const REQUESTS = 500
const CLIENTS = 4
/** Requests before the service counts as warm. */
const WARM_UP_REQUESTS = 10_000
const MAX_RATIO = 3
/** Number of sample records. */
const SAMPLES = 5000
const MAX_MB = 500
/** Only then the service warms itself up. */
const PRODUCTION = { NODE_ENV: 'production', ALLOW_DEV_KEY: '1', EMBEDDED_DB: '1' }
const BYTES_PER_MIB = 1_048_576

export async function run(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-process-'))
  try {
    const marks = new Marks([])
    const starts = await measureFirstRequests(folder, marks)
    const memory = isWrkInstalled() ? await measureMemory(folder, marks) : undefined
    if (memory === undefined) console.log('skipped the memory: wrk is not installed (Debian package wrk)')
    return { starts, memory, seconds: SECONDS, marks: marks.list }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Start {
  readonly firstP99Ms: number
  readonly warmP99Ms: number
}

async function measureFirstRequests(folder: string, marks: Marks): Promise<readonly Start[]> {
  printHeader([
    'start',
    `p99 of the first ${REQUESTS}, ms`,
    `p99 of ${REQUESTS} after ${WARM_UP_REQUESTS}, ms`,
    'ratio',
  ])
  const starts: Start[] = []
  for (let index = 0; index < STARTS; index++) {
    const start = await withService(folder, { ...PRODUCTION, RECORDS: '1' }, async ({ url }) => {
      await untilReady(url)
      const firstP99Ms = await p99Of(url, REQUESTS)
      await p99Of(url, WARM_UP_REQUESTS)
      return { firstP99Ms, warmP99Ms: await p99Of(url, REQUESTS) }
    })
    starts.push(start)
    const { firstP99Ms, warmP99Ms } = start
    printCells([String(index + 1), firstP99Ms.toFixed(1), warmP99Ms.toFixed(1), (firstP99Ms / warmP99Ms).toFixed(1)])
  }
  const ratio = median(starts.map(({ firstP99Ms, warmP99Ms }) => firstP99Ms / warmP99Ms))
  marks.add(`p99 of the first ${REQUESTS} requests: ≤ ${MAX_RATIO} × warm`, `${ratio.toFixed(1)} ×`, ratio <= MAX_RATIO)
  return starts
}

/** Sends requests over a few connections, the next one when the previous one is answered. */
async function p99Of(url: string, requests: number): Promise<number> {
  const timesMs: number[] = []
  const clients = Array.from({ length: CLIENTS }, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let sent = 0; sent < requests / CLIENTS; sent++) {
      const sentMs = performance.now()
      const status = await requestDistance(url, agent)
      if (status !== 200) throw new Error(`a request was answered with ${status}`)
      timesMs.push(performance.now() - sentMs)
    }
    agent.destroy()
  })
  await Promise.all(clients)
  timesMs.sort((a, b) => a - b)
  return timesMs[Math.ceil(0.99 * timesMs.length) - 1]!
}

async function measureMemory(folder: string, marks: Marks): Promise<object> {
  return withService(folder, { RECORDS: '1', SAMPLE_RECORDS: '1' }, async ({ url, child }) => {
    const atStart = residentMiB(child.pid!)
    await untilFilled(url)
    const filled = residentMiB(child.pid!)
    const distances = writeScript(folder, 'distance', '/compute/v0/distance', DISTANCE_BODY)
    const lists = writeScript(folder, 'list', '/api/v0/location-records?limit=100&bbox=-20,-40,60,70')
    const seconds = SECONDS
    await Promise.all([
      runWrk({ url, script: distances, connections: 32, seconds }),
      runWrk({ url, script: lists, connections: 8, seconds }),
    ])
    const peak = peakMiB(child.pid!)
    const megabytes = Math.round((peak * BYTES_PER_MIB) / 1e6)
    console.log(
      `\nresident memory: ${atStart} MiB before the database is open, ${filled} MiB with ${SAMPLES} records, ${peak} MiB at most under load`,
    )
    marks.add(`memory of one process under load: ≤ ${MAX_MB} MB`, `${megabytes} MB`, megabytes <= MAX_MB)
    return { atStart, filled, peak }
  })
}

/** Waits until a load balancer would send requests: the database is open. */
async function untilReady(url: string): Promise<void> {
  while (!(await fetch(`${url}/ready`)).ok) await new Promise((resolve) => setTimeout(resolve, 50))
}

/** Waits until the sample records are stored. */
async function untilFilled(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/api/v0/location-records?limit=1`)
    const { count } = (await response.json()) as { count?: number }
    if (count === SAMPLES) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
