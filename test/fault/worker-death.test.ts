import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'

const ITEMS = 10_000
const body = (attest: string) => ({
  chainId: 84532,
  attest,
  items: Array.from({ length: ITEMS }, (_, index) => ({
    id: index,
    op: 'distance',
    from: { type: 'Point', coordinates: [index / 1000, 10] },
    to: { type: 'Point', coordinates: [-index / 1000, -20] },
  })),
})
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

interface Item {
  readonly id?: number
  readonly result?: number
  readonly error?: { readonly type: string; readonly status: number }
}

describe('a compute thread that dies in the middle of a batch', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({
      NODE_OPTIONS: `--require ${join(import.meta.dirname, 'kill-worker.cjs')}`,
      // The threads of batches have the lowest priority, so a busy machine may take longer than the default of ten seconds.
      REQUEST_DEADLINE_MS: '120000',
      MAX_QUEUE_MS: '60000',
    })
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })
  const kills = () => service.lines.filter((line) => line.startsWith('killed ')).length

  it.each(['none', 'merkle'])('has its items recomputed by another thread, with attest "%s"', async (attest) => {
    const expectedResponse = await service.post('/compute/v0/batch', body(attest))
    const before = kills()
    const pendingResponse = service.post('/compute/v0/batch', body(attest))
    let isAnswered = false
    void pendingResponse.then(() => {
      isAnswered = true
    })
    await pause(15)
    while (!isAnswered && kills() < before + 3) {
      process.kill(service.pid, 'SIGUSR2')
      await pause(25)
    }
    const { status, body: answer } = await pendingResponse
    expect(kills()).toBeGreaterThan(before)
    expect(status).toBe(200)
    const results = answer.results as Item[]
    expect(results.map(({ id }) => id)).toEqual(Array.from({ length: ITEMS }, (_, index) => index))
    // An item may be lost when another thread dies during its retry; its own problem reports that.
    const lost = results.filter(({ error }) => error !== undefined)
    for (const { error } of lost) expect(error).toMatchObject({ status: 500 })
    expect(lost.length).toBeLessThanOrEqual(2)
    expect(answer.failed).toBe(lost.length)
    for (const [index, item] of results.entries()) {
      if (item.error === undefined) expect(item.result).toBe(expectedResponse.body.results[index].result)
    }
  })

  it('leaves the service unharmed', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        service.post('/compute/v0/distance', {
          chainId: 84532,
          from: { type: 'Point', coordinates: [1, 2] },
          to: { type: 'Point', coordinates: [3, 4] },
        }),
      ),
    )
    for (const { status } of answers) expect(status).toBe(200)
    expect(service.lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
  })
})
