import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'

// Two zigzags near each other's antipode: 13 KB that cost a second, for every edge is almost as near as the nearest.
const COUNT = 900
const costly = JSON.stringify({
  chainId: 84532,
  from: { type: 'LineString', coordinates: Array.from({ length: COUNT }, (_, i) => [i % 2, i % 9]) },
  to: { type: 'LineString', coordinates: Array.from({ length: COUNT }, (_, i) => [179 - (i % 2), -(i % 9)]) },
})
const ordinary = {
  chainId: 84532,
  from: { type: 'Point', coordinates: [0, 0] },
  to: { type: 'Point', coordinates: [1, 1] },
}

let service: TestService
beforeAll(async () => {
  service = await startTestService({ DRAIN_TIMEOUT_MS: '3000' })
})
afterAll(async () => {
  await service.stop()
})

// Regression: a burst of costly small requests held every small request for a minute, then again for each repetition.
it('answers ordinary requests beside a burst of costly ones, and everything when it stops', async () => {
  const burst = Array.from({ length: 64 }, () => service.post('/compute/v0/distance', costly))
  const waits: number[] = []
  for (let round = 0; round < 20; round++) {
    const started = performance.now()
    const { status } = await service.post('/compute/v0/distance', ordinary)
    expect(status).toBe(200)
    waits.push(performance.now() - started)
  }
  console.log(`slowest of 20 ordinary requests beside 64 costly ones: ${Math.max(...waits).toFixed(0)} ms`)
  // One costly request takes a second of a core: 64 of them before an ordinary one would be half a minute.
  expect(Math.max(...waits)).toBeLessThan(8000)

  const started = performance.now()
  expect(await service.stop()).toBe(0)
  expect(performance.now() - started).toBeLessThan(5000)
  const statuses = (await Promise.all(burst)).map(({ status }) => status)
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
})
