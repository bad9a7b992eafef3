import { expect, it } from 'vitest'
import { startTestService } from '../service.ts'

const point = (lon: number) => ({ type: 'Point', coordinates: [lon, 10] })
const ring = Array.from({ length: 2001 }, (_, index) => {
  const angle = (2 * Math.PI * (index % 2000)) / 2000
  return [10 + Math.cos(angle), 45 + Math.sin(angle)]
})
const large = JSON.stringify({ chainId: 84532, geometry: { type: 'Polygon', coordinates: [ring] } })

// Retried when it fails: on a busy machine a request may still be on its way to an idle connection that closes.
it.each(['uws', 'node'])('loses no response on SIGTERM over %s', { retry: 2 }, async (adapter) => {
  const service = await startTestService({ HTTP_ADAPTER: adapter })
  const small = (lon: number) => ({ chainId: 84532, from: point(lon), to: point(lon + 1) })
  const send = () =>
    Array.from({ length: 100 }, (_, index) =>
      index % 5 === 0 ? service.post('/compute/v0/area', large) : service.post('/compute/v0/distance', small(index)),
    )
  // A first round opens the connections, because a connection that waits in the system's backlog has not reached the service.
  await Promise.all(send())
  const answers = send()
  await Promise.race(answers)
  const code = await service.stop()
  const settled = await Promise.allSettled(answers)
  const statuses = settled.map((result) =>
    result.status === 'fulfilled' ? result.value.status : String(result.reason),
  )
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(code).toBe(0)
})

it('moves to the next free port when the busy one is the default, and fails when it was configured', async () => {
  const first = await startTestService({ PORT: '' })
  try {
    const second = await startTestService({ PORT: '' })
    expect(second.url).not.toBe(first.url)
    expect(second.lines.some((line) => line.includes('"busyPort":3000'))).toBe(true)
    await second.stop()
    const secondStart = startTestService({ PORT: new URL(first.url).port })
    await expect(secondStart).rejects.toThrow(/in-use/)
  } finally {
    await first.stop()
  }
})

it('computes on the main thread with COMPUTE_THREADS=0, with the same results', async () => {
  const [threads, inline] = await Promise.all([startTestService(), startTestService({ COMPUTE_THREADS: '0' })])
  try {
    for (const [operation, body] of [
      ['area', large],
      ['distance', JSON.stringify({ chainId: 84532, from: point(0), to: point(1) })],
    ] as const) {
      const [a, b] = await Promise.all(
        [threads, inline].map((service) => service.post(`/compute/v0/${operation}`, body)),
      )
      expect(a!.status).toBe(200)
      expect(b!.body.result).toBe(a!.body.result)
      expect(b!.body.inputRefs).toEqual(a!.body.inputRefs)
    }
  } finally {
    expect(await threads.stop()).toBe(0)
    expect(await inline.stop()).toBe(0)
  }
})
