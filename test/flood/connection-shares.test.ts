import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { startTestService, type TestService } from '../service.ts'

const MAX_CONNECTIONS = 400
const ATTEMPTS = 1000
const REQUEST = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'

/** Opens connections from one address without pause. Each that closes is opened again. */
class Attacker {
  readonly #port: number
  readonly #address: string
  readonly #useSocket: (socket: Socket) => void
  readonly #open = new Set<Socket>()
  #isStopped = false
  attempts = 0

  constructor(service: TestService, address: string, useSocket: (socket: Socket) => void) {
    this.#port = Number(new URL(service.url).port)
    this.#address = address
    this.#useSocket = useSocket
    for (let index = 0; index < ATTEMPTS; index++) this.#connect()
  }

  #connect(): void {
    if (this.#isStopped) return
    this.attempts++
    const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress: this.#address })
    this.#open.add(socket)
    socket.on('error', () => {}).on('connect', () => this.#useSocket(socket))
    socket.on('close', () => {
      this.#open.delete(socket)
      setTimeout(() => this.#connect(), 1000)
    })
  }

  stop(): void {
    this.#isStopped = true
    for (const socket of this.#open) socket.destroy()
  }
}

const ATTACKS: readonly (readonly [name: string, useSocket: (socket: Socket) => void])[] = [
  ['idle connections', () => {}],
  ['connections that begin a request', (socket) => socket.write('GET /health HTTP/1.1\r\nHost: ')],
  [
    'kept connections with a request now and then',
    (socket) => {
      socket.write(REQUEST)
      socket.on('data', () => setTimeout(() => socket.write(REQUEST), 1000))
    },
  ],
  ['connections that close at once', (socket) => socket.destroy()],
]

describe.each(ADAPTERS)('connections on %s', (adapter) => {
  const start = (more: Record<string, string> = {}) =>
    startTestService({ HTTP_ADAPTER: adapter, MAX_CONNECTIONS: String(MAX_CONNECTIONS), ...more })
  let service: TestService
  beforeAll(async () => {
    service = await start()
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })

  it.each(ATTACKS)('of one address leave room for another: %s', async (_name, useSocket) => {
    const attacker = new Attacker(service, '127.0.0.2', useSocket)
    try {
      await eventually(() => expect(attacker.attempts).toBeGreaterThan(2 * ATTEMPTS))
      for (let index = 0; index < 30; index++) {
        const response = await fetch(`${service.url}/health`, { headers: { connection: 'close' } })
        expect(response.status).toBe(200)
      }
    } finally {
      attacker.stop()
    }
  })

  it('of a trusted proxy have no share', async () => {
    const trusting = await start({ TRUSTED_PROXIES: '127.0.0.2', MAX_CONNECTIONS_PER_ADDRESS: '5' })
    const sockets = await Promise.all(
      Array.from({ length: 300 }, () => {
        const socket = connect({
          port: Number(new URL(trusting.url).port),
          host: '127.0.0.1',
          localAddress: '127.0.0.2',
        })
        return new Promise<Socket>((resolve, reject) => socket.on('connect', () => resolve(socket)).on('error', reject))
      }),
    )
    // Twice on each connection, which is therefore kept.
    for (let round = 0; round < 2; round++) {
      const statuses = sockets.map(
        (socket) =>
          new Promise((resolve) => {
            socket
              .once('data', (bytes) => resolve(bytes.toString().slice(9, 12)))
              .once('close', () => resolve('closed'))
            socket.write(REQUEST)
          }),
      )
      expect(new Set(await Promise.all(statuses))).toEqual(new Set(['200']))
    }
    for (const socket of sockets) socket.destroy()
    expect(await trusting.stop()).toBe(0)
  })
})
