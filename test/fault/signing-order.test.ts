import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'

const from = { type: 'Point', coordinates: [2, 48] }
const to = { type: 'Point', coordinates: [12, 41] }
const items = Array.from({ length: 1000 }, () => ({ op: 'distance', from, to }))

describe('single requests during batches with signed items', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })

  it('are signed before the pending items of batches', async () => {
    let isOver = false
    let batches = 0
    const senders = Array.from({ length: 6 }, async () => {
      while (!isOver) {
        const { status } = await service.post('/compute/v0/batch', { chainId: 84532, attest: 'each', items })
        expect(status).toBe(200)
        batches++
      }
    })
    let singles = 0
    while (batches < 12) {
      expect((await service.post('/compute/v0/distance', { chainId: 84532, from, to })).status).toBe(200)
      singles++
    }
    isOver = true
    await Promise.all(senders)
    // Behind 1,024 payloads of batches, as in one common queue, a single request would take 50 ms of signing: 12 in this time.
    console.log(`${singles} single answers during ${batches} batches of 1,000`)
    expect(singles).toBeGreaterThan(40)
  })
})
