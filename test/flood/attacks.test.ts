import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ATTACKS, evidenceOf, startAttack } from '../attacks.ts'
import { endsWithFile } from '../children.ts'
import { eventually } from '../eventually.ts'
import { createHonestClient, type HonestClient } from '../honest-client.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'

const root = resolve(import.meta.dirname, '../..')
/** Connections or responses after which an attack is at work. A small number, because a defence may allow no more. */
const AT_WORK = 8
/** A second and a half of the honest client, 16 times its mix. */
const REQUESTS = 96

/** Default limits except for times: on a busy machine, honest requests would reach those without any attack. */
const SETTINGS = {
  RECORDS: '1',
  SAMPLE_RECORDS: '1',
  STORE_READ_MS: '60000',
  REQUEST_DEADLINE_MS: '240000',
  MAX_QUEUE_MS: '60000',
  RATE_LIMIT_PUBLIC: '100',
  ...NO_LOCAL_CALLERS,
}

describe.each(ADAPTERS)('an honest client on %s is served during an attack of', (adapter) => {
  let service: TestService
  let honest: HonestClient
  beforeAll(async () => {
    service = await startTestService({ ...SETTINGS, HTTP_ADAPTER: adapter })
    // On a busy machine, a client with a constant rate would soon have more waiting requests than the attacker.
    honest = await createHonestClient(service.url, service.internalKey, { maxPending: 4, patienceMs: 240_000 })
  })
  afterAll(async () => {
    honest.close()
    expect(await service.stop()).toBe(0)
  })

  it.each(ATTACKS.map((attack, index) => [attack.name, index] as const))('%s', async (_name, index) => {
    const attack = ATTACKS[index]!
    // Each attacker has an address of its own, and with it a quota that has not been used.
    const running = startAttack(root, attack, { url: service.url, address: `127.0.0.${2 + index}` })
    endsWithFile(running.child)
    await eventually(() => expect(evidenceOf(attack, running.report)).toBeGreaterThanOrEqual(AT_WORK))
    const before = running.report!
    const { failures, requests, p50Ms, p99Ms } = await honest.run(REQUESTS)
    const report = running.report!
    console.info(
      `${adapter}, ${attack.name}: honest p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, ` +
        `failures ${JSON.stringify(failures)}; attacker ${JSON.stringify(report)}`,
    )
    expect(failures).toEqual({})
    expect(requests).toBe(REQUESTS)
    // The attack did not end before the last of the honest requests. On a slow machine its next answer comes after them.
    if (attack.evidence === 'held') expect(report.held).toBeGreaterThanOrEqual(AT_WORK)
    else await eventually(() => expect(evidenceOf(attack, running.report)).toBeGreaterThan(evidenceOf(attack, before)))
    await running.stop()
  })
})

const ROUNDS = 25
const REQUESTS_A_ROUND = 40

it('loses none of 1,000 requests while compute threads die under the costliest geometry', async () => {
  const service = await startTestService({
    ...SETTINGS,
    RECORDS: '0',
    SAMPLE_RECORDS: '0',
    NODE_OPTIONS: `--require ${join(root, 'test', 'fault', 'kill-worker.cjs')}`,
    KILL: 'oldest',
  })
  const kills = () => service.lines.filter((line) => line.startsWith('killed ')).length
  const attack = ATTACKS.find(({ name }) => name === 'costliest geometry')!
  const running = startAttack(root, attack, { url: service.url, address: '127.0.0.2' })
  endsWithFile(running.child)
  // More vertices than the main thread computes itself, and a body for the threads of normal priority.
  const area = (round: number, index: number) => {
    const ring = Array.from({ length: 400 }, (_, i) => {
      const angle = (2 * Math.PI * (i % 399)) / 399
      return [round / 10 + Math.cos(angle), index + Math.sin(angle)]
    })
    return { chainId: 84532, geometry: { type: 'Polygon', coordinates: [ring] } }
  }
  await eventually(() => expect(evidenceOf(attack, running.report)).toBeGreaterThan(0))
  for (let round = 0; round < ROUNDS; round++) {
    const before = kills()
    const pending = Array.from({ length: REQUESTS_A_ROUND }, (_, index) =>
      service.post('/compute/v0/area', area(round, index), { 'X-API-Key': service.internalKey }),
    )
    // With the first response the others are being computed. One thread dies in each round, so no request is killed twice.
    await Promise.race(pending)
    process.kill(service.pid, 'SIGUSR2')
    expect((await Promise.all(pending)).map(({ status }) => status)).toEqual(Array(REQUESTS_A_ROUND).fill(200))
    await eventually(() => expect(kills()).toBe(before + 1), { interval: 5 })
  }
  await running.stop()
  expect(await service.stop()).toBe(0)
})
