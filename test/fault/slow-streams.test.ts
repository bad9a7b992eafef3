import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EIFFEL_TOWER, ROME } from '../fixtures.ts'
import { PROXIES, type RunningProxy, startProxy } from '../proxies.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { startTestService, type TestService } from '../service.ts'

/**
 * This test is slow by nature: a stream has to outlive the timers of every part between client and service.
 * `STREAM_MINUTES=10` runs it for ten minutes.
 */
const MINUTES = Number(process.env['STREAM_MINUTES'] ?? 2 / 3)
const PAUSE_MS = 5000
const LINES = Math.round((MINUTES * 60_000) / PAUSE_MS)

const line = (index: number) =>
  `${JSON.stringify({
    op: 'distance',
    id: index,
    from: EIFFEL_TOWER,
    to: ROME,
  })}\n`

/** Longer than the idle time of uWebSockets.js, which is at most 12 s, and shorter than STREAM_IDLE_MS. */
const SILENCE_MS = 15_000

interface Stream {
  readonly status: number
  readonly ids: readonly unknown[]
  readonly isComplete: boolean
}

/** Sends one line after each pause, and ends one pause after the last line. */
function slowStream(port: number, lines = LINES, pauseMs = PAUSE_MS): Promise<Stream> {
  return new Promise((done) => {
    let text = ''
    let status = 0
    let sent = 0
    const ids = () =>
      text
        .split('\n')
        .slice(0, -1)
        .map((answer) => JSON.parse(answer).id)
    const finish = (isComplete: boolean) => {
      clearInterval(timer)
      done({ status, ids: ids(), isComplete })
    }
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: '/compute/v0/batch?chainId=84532&attest=none',
      headers: { 'content-type': 'application/x-ndjson' },
    })
    // Sends the headers first, because Node.js would hold them back until the first line.
    outgoing.flushHeaders()
    outgoing.on('response', (incoming) => {
      status = incoming.statusCode ?? 0
      incoming.setEncoding('utf8')
      incoming.on('data', (piece: string) => {
        text += piece
      })
      incoming.on('end', () => finish(incoming.complete))
      incoming.on('error', () => finish(false))
    })
    outgoing.on('error', () => finish(false))
    const timer = setInterval(() => {
      if (sent === lines) {
        clearInterval(timer)
        outgoing.end()
      } else outgoing.write(line(sent++))
    }, pauseMs)
  })
}

describe(`a stream of ${LINES} lines, one every five seconds`, () => {
  const routes = ADAPTERS.flatMap((adapter) => ['directly', ...PROXIES].map((way) => [adapter, way] as const))
  const services: TestService[] = []
  const proxies: RunningProxy[] = []
  const streams = new Map<string, Promise<Stream>>()

  beforeAll(async () => {
    for (const adapter of ADAPTERS) {
      const service = await startTestService({ HTTP_ADAPTER: adapter })
      services.push(service)
      const servicePort = Number(new URL(service.url).port)
      streams.set(`${adapter} directly`, slowStream(servicePort))
      streams.set(`${adapter} silence`, slowStream(servicePort, 2, SILENCE_MS))
      for (const name of PROXIES) {
        const proxy = await startProxy(name, servicePort)
        proxies.push(proxy)
        streams.set(`${adapter} ${name}`, slowStream(proxy.port))
      }
    }
  })
  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()))
    for (const service of services) expect(await service.stop()).toBe(0)
  })

  it.each(routes)(
    'loses no line on %s %s',
    async (adapter, way) => {
      const { status, ids, isComplete } = await streams.get(`${adapter} ${way}`)!
      expect(status).toBe(200)
      expect(ids).toEqual(Array.from({ length: LINES }, (_, index) => index))
      expect(isComplete).toBe(true)
    },
    MINUTES * 60_000 + 60_000,
  )

  it.each(ADAPTERS)('survives fifteen seconds of silence on %s', async (adapter) => {
    const { ids, isComplete } = await streams.get(`${adapter} silence`)!
    expect(ids).toEqual([0, 1])
    expect(isComplete).toBe(true)
  })
})
