import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { EAST, EIFFEL_TOWER, ROAD, ROME, SQUARE } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'

const CHAIN = 84532
const INSIDE = { type: 'Point', coordinates: [2.5, 48.5] }
const PAIR = { geometry1: SQUARE, geometry2: EAST }
/** Requests that a library can judge. */
const REQUESTS: readonly (readonly [string, object])[] = [
  ['distance', { from: EIFFEL_TOWER, to: ROME }],
  ['within', { geometry: EIFFEL_TOWER, target: ROME, radius: 50_000 }],
  ['length', { geometry: ROAD }],
  ['area', { geometry: SQUARE }],
  ['contains', { container: SQUARE, containee: INSIDE }],
  ['intersects', PAIR],
  ['relate', PAIR],
  ['relate', { ...PAIR, pattern: 'F********' }],
  ...['equals', 'disjoint', 'touches', 'crosses', 'overlaps', 'covers', 'coveredBy'].map((op) => [op, PAIR] as const),
]
/** Requests that no library can judge. */
const OTHERS: readonly (readonly [string, object])[] = [
  ['distance', { from: SQUARE, to: ROME }],
  ['buffer', { geometry: ROME, radius: 100 }],
]
const points = Array.from({ length: 20 }, (_, i) => ({
  op: 'distance',
  from: EIFFEL_TOWER,
  to: { ...ROME, coordinates: [i, i] },
}))

/** Counts of the service's metrics by outcome. */
async function outcomes(service: TestService): Promise<Record<string, number>> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  const counts: Record<string, number> = {}
  for (const [, outcome, count] of text.matchAll(/^cross_checks_total\{operation="\w+",outcome="(\w+)"\} (\d+)$/gm))
    counts[outcome!] = (counts[outcome!] ?? 0) + Number(count)
  return counts
}

async function readiness(service: TestService) {
  const response = await fetch(`${service.url}/ready`)
  const body = (await response.json()) as { checks: Record<string, { ok: boolean; detail: string } | undefined> }
  return { status: response.status, check: body.checks['cross-check'] }
}

/** Sends the requests one after another, so that no queue fills. @returns the statuses */
async function sendAll(service: TestService, requests: readonly (readonly [string, object])[]): Promise<number[]> {
  const statuses: number[] = []
  for (const [operation, members] of requests)
    statuses.push((await service.post(`/compute/v0/${operation}`, { chainId: CHAIN, ...members })).status)
  return statuses
}

describe.each([
  ['on the main thread and in threads', {}],
  ['with one core', { COMPUTE_THREADS: '0' }],
])('a service that has every answer checked %s', (_, settings) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ CROSS_CHECK: '1', ...settings })
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })

  it('finds that all answers of a mixed workload agree, and counts what nobody can judge', async () => {
    expect(await outcomes(service)).toEqual({ disagreed: 0 })
    const requests = [...REQUESTS, ...OTHERS]
    expect(await sendAll(service, requests)).toEqual(requests.map(() => 200))
    const batch = await service.post('/compute/v0/batch', { chainId: CHAIN, attest: 'each', items: points })
    expect([batch.status, batch.body.failed]).toEqual([200, 0])
    await eventually(async () => {
      const { disagreed, undecided = 0, agreed = 0, unchecked, dropped } = await outcomes(service)
      expect({ disagreed, unchecked, dropped }).toEqual({ disagreed: 0, unchecked: OTHERS.length, dropped: undefined })
      expect([agreed, undecided]).toEqual([REQUESTS.length + points.length, 0])
    })
    const { status, check } = await readiness(service)
    expect(status).toBe(200)
    expect(check).toEqual({ ok: true, detail: expect.stringMatching(/^\d+ answers compared .*, 0 differ$/) })
    expect(service.lines.filter((line) => line.includes('disagrees'))).toEqual([])
  })
})

describe.each([
  ['measure', ['distance', 'length', 'area']],
  ['truth', ['within', 'contains', 'intersects', 'relate', 'covers']],
])('a service whose code is changed to give a wrong %s', (wrong, operations) => {
  let service: TestService
  beforeAll(async () => {
    const hook = join(import.meta.dirname, '../fault/wrong-answers.mjs')
    const settings = { CROSS_CHECK: '1', COMPUTE_THREADS: '0', NODE_OPTIONS: `--import ${hook}` }
    service = await startTestService({ ...settings, WRONG: wrong })
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })

  it('says so, and stays ready', async () => {
    const square = { geometry1: SQUARE, geometry2: INSIDE }
    const members: Record<string, object> = {
      intersects: square,
      relate: { ...square, pattern: 'T********' },
      covers: square,
    }
    const requests = operations.map((name) => {
      const [operation, own] = REQUESTS.find(([operation]) => operation === name) ?? [name, square]
      return [operation, members[name] ?? own] as const
    })
    expect(await sendAll(service, requests)).toEqual(requests.map(() => 200))
    await eventually(async () => {
      const text = await (await fetch(`${service.url}/metrics`)).text()
      for (const operation of operations)
        expect(text).toMatch(new RegExp(`cross_checks_total\\{operation="${operation}",outcome="disagreed"\\} [1-9]`))
    })
    const { status, check } = await readiness(service)
    expect(status).toBe(200)
    expect(check).toEqual({ ok: false, detail: expect.stringMatching(/[1-9]\d* differ: see the log$/) })
    const lines = service.lines.filter((line) => line.includes('an independent library disagrees'))
    const logged = lines.map((line) => JSON.parse(line))
    for (const operation of operations) {
      const line = logged.find((entry) => entry.operation.split(':')[0] === operation)
      expect(line).toMatchObject({ level: 'warn', engine: expect.any(String), inputs: expect.stringMatching(/^0x/) })
    }
    for (const line of lines) expect(line).not.toContain('coordinates')
  })
})

describe('a service that checks no answer', () => {
  it('has neither the check nor its metric', async () => {
    const service = await startTestService({ CROSS_CHECK: '0' })
    await sendAll(service, REQUESTS)
    expect(await outcomes(service)).toEqual({})
    expect((await readiness(service)).check).toBeUndefined()
    expect(await service.stop()).toBe(0)
  })
})
