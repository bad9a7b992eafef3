import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RawOutcome, sendRaw } from '../raw-socket.ts'
import { ADAPTERS, type AdapterName, type RunningServer, startServer } from '../running-http-server.ts'
import { type Outcome, RAW_CASES } from './raw-cases.ts'

const PROBE = 'GET /health HTTP/1.1\r\nHost: a\r\nX-Request-Id: probe\r\n\r\n'

// The newer binaries of uWebSockets.js have another parser: with them, only rules for all transports are checked.
const knowsOutcome = (adapter: AdapterName) => adapter === 'node' || process.versions.modules === '115'

describe.each(ADAPTERS)('raw bytes on %s', (adapter) => {
  let server: RunningServer
  const outcomes = new Map<string, Promise<RawOutcome>>()

  beforeAll(async () => {
    server = await startServer(adapter, {
      env: { MAX_BODY_BYTES: '1024', REQUEST_DEADLINE_MS: '2000' },
      // Later than the parser needs for everything in one segment.
      compute: async (_operation, body) => {
        await new Promise((resolve) => setTimeout(resolve, 50))
        return { json: JSON.stringify({ body: Buffer.from(body).toString('latin1') }) }
      },
    })
    // All cases run at once, because the slow ones take the transport's ten seconds.
    for (const [name, steps, node, uws] of RAW_CASES) {
      outcomes.set(name, observe(server.port, steps, adapter === 'node' ? node : uws, name === 'HEAD'))
    }
    await Promise.all(outcomes.values())
  })
  afterAll(() => server.stop())

  it.each(RAW_CASES.map(([name, , node, uws]) => [name, adapter === 'node' ? node : uws] as const))(
    '%s gives %s',
    async (name, expected) => {
      const outcome = await outcomes.get(name)!
      const statuses = outcome.answers.filter(({ headers }) => headers['x-request-id'] !== 'probe')
      if (knowsOutcome(adapter)) {
        const end = outcome.closed ? 'closed' : 'open'
        expect(`${statuses.map(({ status }) => status).join(' ')} ${end}`).toBe(expected)
        if (end === 'open') expect(outcome.answers.at(-1)?.headers['x-request-id']).toBe('probe')
      }
      // Whatever the bytes: no internal error, and no response without a request.
      expect(statuses.every(({ status }) => status < 500 || status === 505)).toBe(true)
      expect(server.lines.filter(({ level }) => level === 'error')).toEqual([])
    },
  )

  it.each([
    ['three POSTs in one segment, answered later', ['a', 'b', 'c']],
    ['a body in three segments', ['abcdef']],
    ['chunked, three chunks over segments', ['abc']],
  ])('answers %s in the order of the requests, or not at all', async (name, bodies) => {
    const { answers } = await outcomes.get(name)!
    const received = answers
      .filter(({ headers }) => headers['x-request-id'] !== 'probe')
      .map(({ body }) => JSON.parse(body).body)
    expect(received).toEqual(received.length === 0 ? [] : bodies)
  })

  it('still serves other clients afterwards', async () => {
    await Promise.all(outcomes.values())
    const response = await fetch(`${server.url}/health`)
    expect(response.status).toBe(200)
    expect(server.server.inFlight).toBe(0)
  })
})

/** Sends a case. A connection that should stay open must answer one more request. */
function observe(port: number, steps: (typeof RAW_CASES)[number][1], expected: Outcome, isHead: boolean) {
  if (expected.endsWith('closed')) return sendRaw(port, steps, { limitMs: 14_000 })
  const wanted = expected.split(' ').length
  return sendRaw(port, [...steps, { after: wanted - 1, send: PROBE }], { wanted, hasBodies: !isHead, limitMs: 14_000 })
}
