import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, ROME, SQUARE } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'

describe('the thread of the second opinion, when it dies', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({
      CROSS_CHECK: '1',
      KILL: 'cross-check',
      NODE_OPTIONS: `--require ${join(import.meta.dirname, 'kill-worker.cjs')}`,
    })
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })

  const ask = () => service.post('/compute/v0/distance', { chainId: 84532, from: EIFFEL_TOWER, to: ROME })
  const area = () => service.post('/compute/v0/area', { chainId: 84532, geometry: SQUARE })
  const agreed = async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    return Number(/^cross_checks_total\{operation="distance",outcome="agreed"\} (\d+)$/m.exec(text)?.[1] ?? 0)
  }

  it('takes nothing with it: every request is answered, and a new thread checks later answers', async () => {
    const expected = (await ask()).body.result
    await eventually(async () => expect(await agreed()).toBeGreaterThan(0))
    for (let deaths = 1; deaths <= 3; deaths++) {
      const pending = Promise.all(Array.from({ length: 30 }, () => Promise.all([ask(), area()])))
      process.kill(service.pid, 'SIGUSR2')
      for (const [distance, size] of await pending)
        expect([distance.status, distance.body.result, size.status]).toEqual([200, expected, 200])
      await eventually(() =>
        expect(service.lines.filter((line) => line.includes('thread of cross-checks ended'))).toHaveLength(deaths),
      )
      const before = await agreed()
      await eventually(async () => {
        expect((await ask()).status).toBe(200)
        expect(await agreed()).toBeGreaterThan(before)
      })
    }
    expect(service.lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
    expect((await fetch(`${service.url}/ready`)).status).toBe(200)
  })
})
