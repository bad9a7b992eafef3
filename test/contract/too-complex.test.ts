import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ MAX_WORK: '1000' })
})
afterAll(async () => {
  await service.stop()
})

/** Two rings of 1,000 vertices around each other's antipode: all of their edges are almost equally near. */
const ring = (sign: 1 | -1) => ({
  type: 'LineString',
  coordinates: Array.from({ length: 1000 }, (_, i) => {
    const angle = (i * Math.PI) / 500
    return [(sign === 1 ? 0 : 179) + Math.cos(angle), sign * Math.sin(angle)]
  }),
})
const request = { chainId: 84532, from: ring(1), to: ring(-1) }

it('rejects a request that needs more work than its limit, in the same way as an item of a batch', async () => {
  const { status, body } = await service.post('/compute/v0/distance', request)
  expect([status, body]).toMatchObject([
    422,
    {
      title: 'Too Complex',
      status: 422,
      detail: expect.stringMatching(
        /^distance needs too much work: \d+ units of work were counted, and the limit is 1000$/,
      ),
      errors: [{ pointer: '#', code: 'too-much-work', hint: expect.stringContaining('items of a batch') }],
    },
  ])
  const small = {
    op: 'distance',
    from: { type: 'Point', coordinates: [0, 0] },
    to: { type: 'Point', coordinates: [0, 1] },
  }
  const { chainId, ...item } = request
  const batch = await service.post('/compute/v0/batch', {
    chainId,
    attest: 'none',
    items: [{ op: 'distance', ...item }, small],
  })
  expect(batch.status).toBe(200)
  const { results } = batch.body as { results: readonly Record<string, unknown>[] }
  expect(JSON.stringify(results[0])).toContain((body as { detail: string }).detail)
  expect(results[1]).toHaveProperty('result')
})
