import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { residentMiB } from '../resident-memory.ts'
import { startTestService, type TestService } from '../service.ts'

const openFiles = Number(/Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
const CONNECTIONS = Math.min(10_000, openFiles - 1000)
if (CONNECTIONS < 10_000) console.warn(`${CONNECTIONS} idle connections instead of 10,000: the system allows no more`)

describe.each(['uws', 'node'])('10,000 idle connections over %s', (adapter) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ HTTP_ADAPTER: adapter })
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })

  const open = (port: number, localAddress: string): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress }, () => resolve(socket))
      socket.once('error', reject)
    })

  it('of fifty addresses do not delay other clients and take little memory', async () => {
    const answer = () =>
      service.post('/compute/v0/length', {
        chainId: 84532,
        geometry: {
          type: 'LineString',
          coordinates: [
            [0, 0],
            [1, 1],
          ],
        },
      })
    expect((await answer()).status).toBe(200)
    const before = residentMiB(service.pid)
    const port = Number(new URL(service.url).port)
    const sockets: Socket[] = []
    while (sockets.length < CONNECTIONS) {
      const some = Math.min(250, CONNECTIONS - sockets.length)
      sockets.push(
        ...(await Promise.all(Array.from({ length: some }, (_, index) => open(port, `127.0.0.${2 + (index % 50)}`)))),
      )
    }
    for (let index = 0; index < 20; index++) expect((await answer()).status).toBe(200)
    const addedMemory = residentMiB(service.pid) - before
    expect(addedMemory).toBeLessThan(96)
    for (const socket of sockets) socket.on('error', () => {}).destroy()
    expect((await answer()).status).toBe(200)
  })
})
