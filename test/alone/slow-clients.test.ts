import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADAPTERS, type AdapterName, type RunningServer, startServer } from '../running-http-server.ts'

const CLIENTS = 200
/** Ten seconds, as configured, and the delay of the transports' coarse timers. */
const LIMIT_MS = 15_000

const KINDS = {
  'a header line a second': {
    open: 'GET /health HTTP/1.1\r\nHost: a\r\n',
    drip: () => `x${Math.round(performance.now())}: y\r\n`,
  },
  'a byte of the body a second': {
    open: 'POST /compute/v0/area HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n',
    drip: () => 'x',
  },
  'a chunk of the body a second': {
    open: 'POST /compute/v0/area HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
    drip: () => '1\r\nx\r\n',
  },
  'nothing at all': { open: '', drip: () => '' },
  'nothing after the head': {
    open: 'POST /compute/v0/area HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n',
    drip: () => '',
  },
} as const
type Kind = keyof typeof KINDS

interface Observed {
  readonly lastClosedMs: number
  readonly stillOpen: number
}

const servers: RunningServer[] = []
const observed = new Map<string, Observed>()
const probeMs: Record<string, number[]> = {}

beforeAll(async () => {
  const runs: Promise<void>[] = []
  for (const adapter of ADAPTERS) {
    const server = await startServer(adapter)
    servers.push(server)
    for (const kind of Object.keys(KINDS) as Kind[]) {
      runs.push(connectSlowClients(server, kind).then((result) => void observed.set(`${adapter} ${kind}`, result)))
    }
    runs.push(probe(server, adapter))
  }
  await Promise.all(runs)
}, 60_000)
afterAll(() => Promise.all(servers.map((server) => server.stop())))

describe.each(ADAPTERS)('%s', (adapter) => {
  it.each(Object.keys(KINDS))(`disconnects ${CLIENTS} clients that send %s`, (kind) => {
    const { lastClosedMs, stillOpen } = observed.get(`${adapter} ${kind}`)!
    expect(stillOpen).toBe(0)
    expect(lastClosedMs).toBeLessThan(LIMIT_MS)
  })

  it('serves other clients meanwhile', () => {
    const times = probeMs[adapter]!.sort((a, b) => a - b)
    expect(times.length).toBeGreaterThan(20)
    expect(times[Math.floor(times.length / 2)]).toBeLessThan(50)
  })

  it('leaves nothing in flight', () => {
    for (const { server } of servers) expect(server.inFlight).toBe(0)
  })
})

function connectSlowClients(server: RunningServer, kind: Kind): Promise<Observed> {
  const { open, drip } = KINDS[kind]
  const start = performance.now()
  let stillOpen = CLIENTS
  let lastClosedMs = 0
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      resolve({ lastClosedMs, stillOpen })
    }
    const timer = setTimeout(finish, LIMIT_MS + 1000)
    for (let index = 0; index < CLIENTS; index++) {
      const socket = connect(server.port, '127.0.0.1')
      if (open !== '') socket.write(open)
      const dripping = setInterval(() => {
        const bytes = drip()
        if (bytes !== '' && socket.writable) socket.write(bytes)
      }, 1000)
      socket.resume()
      socket.on('error', () => {})
      socket.on('close', () => {
        clearInterval(dripping)
        stillOpen--
        lastClosedMs = performance.now() - start
        if (stillOpen === 0) finish()
      })
    }
  })
}

/** Sends a well-behaved request every 200 ms. */
async function probe(server: RunningServer, adapter: AdapterName): Promise<void> {
  probeMs[adapter] = []
  const end = performance.now() + 8000
  while (performance.now() < end) {
    const start = performance.now()
    const response = await fetch(`${server.url}/health`)
    await response.text()
    if (response.ok) probeMs[adapter].push(performance.now() - start)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
