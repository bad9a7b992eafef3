import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { ADAPTERS, startServer } from '../running-http-server.ts'
import { startTestService } from '../service.ts'

const CONNECTIONS = 400
const REQUESTS = 'GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(500)
const COMPUTATIONS = 'POST /compute/v0/distance HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'.repeat(300)

/** Sends many requests at once, and resets the connection while they are answered. */
function sendAndReset(port: number, requests: string, afterMs: number): Promise<void> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(requests)
      setTimeout(() => {
        socket.resetAndDestroy()
        done()
      }, afterMs)
    })
    socket.on('error', () => {})
  })
}

// Regression: the system has no address for a connection that was reset, and looking for it ended the process.
it.each(ADAPTERS)('a service on %s outlives connections that are reset while it answers', async (adapter) => {
  const service = await startTestService({ HTTP_ADAPTER: adapter })
  for (let index = 0; index < CONNECTIONS; index++)
    await sendAndReset(Number(new URL(service.url).port), REQUESTS, index % 6)
  expect((await fetch(`${service.url}/health`)).status).toBe(200)
  expect(service.lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
  expect(await service.stop()).toBe(0)
})

it.each(ADAPTERS)('refusals on %s outlive connections that are reset', async (adapter) => {
  const refusal = { type: 'overloaded', detail: 'too many requests wait', retryAfterSeconds: 1 } as const
  const server = await startServer(adapter, { computeRefusal: () => refusal })
  for (let index = 0; index < CONNECTIONS; index++) await sendAndReset(server.port, COMPUTATIONS, index % 6)
  const response = await fetch(`${server.url}/compute/v0/distance`, { method: 'POST', body: '{}' })
  expect(response.status).toBe(503)
  expect(server.lines.filter(({ level }) => level === 'error')).toEqual([])
  await server.stop()
})
