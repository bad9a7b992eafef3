import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'

// Two zigzags near each other's antipode: 13 KB that need more work than a request may have, because every edge is almost as near as
// the nearest. It is known only after all of the work that is allowed.
const COUNT = 900
const costlyRequest = JSON.stringify({
  chainId: 84532,
  from: { type: 'LineString', coordinates: Array.from({ length: COUNT }, (_, i) => [i % 2, i % 9]) },
  to: { type: 'LineString', coordinates: Array.from({ length: COUNT }, (_, i) => [179 - (i % 2), -(i % 9)]) },
})
const ordinaryRequest = {
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
it('answers ordinary requests during a burst of costly ones, and all requests when it stops', async () => {
  let computed = 0
  const burst = Array.from({ length: 64 }, async () => {
    const answer = await service.post('/compute/v0/distance', costlyRequest)
    if (answer.status === 422) computed++
    return answer
  })
  const passed: number[] = []
  for (let round = 0; round < 20; round++) {
    const before = computed
    const { status } = await service.post('/compute/v0/distance', ordinaryRequest)
    expect(status).toBe(200)
    passed.push(computed - before)
  }
  console.log(`at most ${Math.max(...passed)} of 64 costly requests were rejected before an ordinary one`)
  // The request may have to wait for one costly request on each thread, and for those that are next.
  expect(Math.max(...passed)).toBeLessThanOrEqual(16)

  expect(await service.stop()).toBe(0)
  const statuses = (await Promise.all(burst)).map(({ status }) => status)
  expect(statuses.filter((status) => status !== 422 && status !== 503)).toEqual([])
})
