/**
 * Measures operations on stored geometries beside distances between two points, which are the cheapest requests: `contains` of a point
 * in a stored zone of 10,000 vertices, and in the same zone sent with each request. The loads alternate.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './rounds.ts'
import { type BenchService, cpuPerRequest, startService, threadSeconds } from './service-process.ts'
import { isWrkInstalled, runWrk, writeScript } from './wrk.ts'

const SECONDS = 4
const ROUNDS = 5
const CONNECTIONS = 32
const VERTICES = 10_000
const POINT = { type: 'Point', coordinates: [10.2, 45.1] }

export async function run(): Promise<object> {
  if (!isWrkInstalled()) {
    console.log('skipped: wrk is not installed (Debian package wrk)')
    return { skipped: 'wrk is not installed' }
  }
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-stored-'))
  try {
    const service = await startService(folder, {
      RECORDS: '1',
      RATE_LIMIT_PUBLIC: undefined,
      RATE_LIMIT_INTERNAL: '1000000000',
      COST_LIMIT_INTERNAL: 'cpu-ms=999999999999',
    })
    try {
      return await measure(service, folder)
    } finally {
      service.child.kill('SIGTERM')
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(service: BenchService, folder: string): Promise<object> {
  const container = zone()
  const { ref } = await store(service, container)
  const loads = [
    ['distance between two points', 'distance', { from: POINT, to: { type: 'Point', coordinates: [2.3522, 48.8566] } }],
    [`contains, a stored zone of ${VERTICES} vertices`, 'contains', { container: { ref }, containee: POINT }],
    ['contains, the same zone in each request', 'contains', { container, containee: POINT }],
  ] as const
  const scripts = loads.map(([, operation, inputs], index) =>
    writeScript(folder, `load-${index}`, `/compute/v0/${operation}`, JSON.stringify({ chainId: 84532, ...inputs })),
  )
  const rates: number[][] = loads.map(() => [])
  const cpu: object[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, script] of scripts.entries()) {
      const load = { url: service.url, script, connections: CONNECTIONS, seconds: SECONDS }
      const before = threadSeconds(service.child.pid!)
      const { errors, requests, requestsPerSecond } = await runWrk(load)
      if (errors > 0) throw new Error(`${loads[index]![0]}: ${errors} requests were not answered with 200`)
      cpu[index] = cpuPerRequest(service.child.pid!, before, requests)
      if (round > 0) rates[index]!.push(requestsPerSecond) // the first round is a warm-up
    }
  }
  const rows = loads.map(([name], index) => ({
    name,
    requestsPerSecond: median(rates[index]!),
    // Of the rate of the first load in the same round.
    ratio: median(rates[index]!.map((rate, round) => rate / rates[0]![round]!)),
    cpuMicros: cpu[index],
  }))
  for (const { name, requestsPerSecond, ratio, cpuMicros } of rows)
    console.log(`${name}: ${requestsPerSecond}/s, ${ratio.toFixed(2)} of the first (${JSON.stringify(cpuMicros)})`)
  return { rows }
}

function zone(): object {
  const ring = Array.from({ length: VERTICES }, (_, index) => {
    const angle = (2 * Math.PI * index) / VERTICES
    const radius = 0.5 + 0.01 * Math.sin(50 * angle)
    return [10 + radius * Math.cos(angle), 45 + radius * Math.sin(angle)]
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
}

async function store({ url }: BenchService, geometry: object): Promise<{ readonly ref: string }> {
  const body = JSON.stringify({ geometry })
  for (;;) {
    const response = await fetch(`${url}/compute/v0/geometries`, { method: 'PUT', body })
    if (response.status === 200) return (await response.json()) as { ref: string }
    if (response.status !== 503) throw new Error(`the zone was not stored: ${await response.text()}`)
    await response.text() // the store is opening
  }
}
