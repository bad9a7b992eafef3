import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { PROXIES, type ProxiedRequest, type ProxyName, type RunningProxy, startProxy } from '../proxies.ts'
import { parseAnswers } from '../raw-socket.ts'
import { ADAPTERS, type AdapterName, type RunningServer, startServer } from '../running-http-server.ts'
import { FRAMING_CASES } from './framing-cases.ts'

/** Longer than the ten seconds after which the service and proxies close a stalled connection. */
const LIMIT_MS = 15_000
const BYSTANDERS = 8

/** Whether a client of this test chose the id. The service generates one for bytes that are not a request. */
const isTestId = (id: string | undefined) => id !== undefined && /^(?:first|hidden|last|b)-/.test(id)
const get = (id: string) => `GET /nowhere/${id} HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${id}\r\n\r\n`

interface Sent {
  readonly name: string
  readonly first: string
  readonly hidden: string
  readonly last: string
  /** Ids of the responses in order; undefined for a response of the proxy itself. */
  readonly answered: readonly (string | undefined)[]
}

interface Bystander {
  readonly requested: string
  readonly answered: string | undefined
  readonly path: string
}

/** Sends one case and a plain request after it; waits for the response to that, or for the end of the connection. */
function send(port: number, name: string, bytes: string, ids: readonly [string, string, string], cut: boolean) {
  const [first, hidden, last] = ids
  const whole = bytes + get(last)
  return new Promise<Sent>((done) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let text = ''
    const answered = () =>
      parseAnswers(text, !bytes.startsWith('HEAD')).answers.map(({ headers }) => headers['x-request-id'])
    const finish = () => {
      clearTimeout(timer)
      socket.destroy()
      done({ name, first, hidden, last, answered: answered() })
    }
    const timer = setTimeout(finish, LIMIT_MS)
    socket.on('data', (data) => {
      text += data.toString('latin1')
      if (answered().includes(last)) finish()
    })
    for (const event of ['end', 'close'] as const) socket.on(event, finish)
    socket.on('error', () => {})
    // In one piece, or as the header block and the remaining bytes.
    const end = bytes.indexOf('\r\n\r\n') + 4
    if (cut && end > 3) {
      socket.setNoDelay(true)
      socket.write(whole.slice(0, end), 'latin1', () => setTimeout(() => socket.write(whole.slice(end), 'latin1'), 50))
    } else socket.write(whole, 'latin1')
  })
}

/** Sends ordinary requests on separate connections to the same proxy. */
function requestBystander(port: number, agent: Agent, id: string): Promise<Bystander> {
  return new Promise((done, refuse) => {
    const options = { host: '127.0.0.1', port, agent, path: `/nowhere/${id}`, headers: { 'x-request-id': id } }
    request(options, (response) => {
      let text = ''
      response.on('data', (data: Buffer) => {
        text += data.toString()
      })
      response.on('error', refuse)
      response.on('end', () => {
        const answered = response.headers['x-request-id']
        const path = text.startsWith('{') ? String(JSON.parse(text).instance) : text
        done({ requested: id, answered: answered?.toString(), path })
      })
    })
      .on('error', refuse)
      .end()
  })
}

const combinations = ADAPTERS.flatMap((adapter) => PROXIES.map((proxy) => [adapter, proxy] as const))

describe.each(combinations)('unclear requests on %s behind %s', (adapter: AdapterName, proxyName: ProxyName) => {
  let server: RunningServer
  let proxy: RunningProxy
  const sent: Sent[] = []
  const bystanders: Bystander[] = []
  let seen: string[] = []
  let logged: readonly ProxiedRequest[] = []

  beforeAll(async () => {
    server = await startServer(adapter, { env: { LOG_SAMPLE_RATIO: '1' } })
    proxy = await startProxy(proxyName, server.port)
    const agent = new Agent({ keepAlive: true, maxSockets: BYSTANDERS })
    let isOver = false
    const watching = Array.from({ length: BYSTANDERS }, async (_, lane) => {
      for (let index = 0; index < 50 || !isOver; index++) {
        bystanders.push(await requestBystander(proxy.port, agent, `b-${lane}-${index}`))
        // Requests of a few bystanders at a time are enough.
        await new Promise((done) => setTimeout(done, 20))
      }
    })
    const runs = FRAMING_CASES.flatMap(({ name, bytes }, index) =>
      [false, true].map((cut) => {
        const ids = (['first', 'hidden', 'last'] as const).map((role) => `${role}-${index}-${Number(cut)}`)
        const [first, hidden] = ids as [string, string, string]
        const text = bytes(get(hidden), `X-Request-Id: ${first}\r\n`)
        return send(proxy.port, name, text, ids as [string, string, string], cut)
      }),
    )
    sent.push(...(await Promise.all(runs)))
    isOver = true
    await Promise.all(watching)
    agent.destroy()
    // When the proxy has ended, it has logged everything that it forwarded.
    logged = await proxy.stop()
    await eventually(() => expect(server.server.inFlight).toBe(0))
    seen = server.lines.filter(({ event }) => event === 'request').map(({ fields }) => String(fields['id']))
  }, 60_000)
  afterAll(() => server.stop())

  it('gives every bystander the response to its own request', () => {
    expect(bystanders.length).toBeGreaterThan(BYSTANDERS)
    const mismatched = bystanders.filter(
      ({ requested, answered, path }) => answered !== requested || path !== `/nowhere/${requested}`,
    )
    expect(mismatched).toEqual([])
  })

  it('answers no request twice, and none before an earlier one', () => {
    const mismatched = sent.filter(({ first, hidden, last, answered }) => {
      const order = answered.filter(isTestId).map((id) => [first, hidden, last].indexOf(id!))
      return order.some((place, index) => place < 0 || (index > 0 && place <= order[index - 1]!))
    })
    expect(mismatched).toEqual([])
  })

  it('passes no request to the service that the proxy did not recognise', () => {
    const passed = new Map<string, number>()
    for (const { requestId } of logged) passed.set(requestId, (passed.get(requestId) ?? 0) + 1)
    const named = seen.filter(isTestId)
    expect(named.filter((id) => !passed.has(id))).toEqual([])
    expect(named.filter((id, index) => named.indexOf(id) !== index)).toEqual([])
    expect(seen.length).toBeLessThanOrEqual(logged.length)
    // The proxy took no response for the response to another request.
    const mixed = logged.filter(({ requestId, responseId }) => isTestId(responseId) && requestId !== responseId)
    expect(mixed).toEqual([])
  })

  it('tests requests that reach the service and hidden ones that do not', () => {
    const ids = new Set(seen)
    const count = (role: 'first' | 'hidden' | 'last') => sent.filter((one) => ids.has(one[role])).length
    console.info(
      `${adapter} behind ${proxyName}: of ${sent.length} requests ${count('first')} reached the service, of those hidden in them ` +
        `${count('hidden')}, of those after them ${count('last')}; ${bystanders.length} bystanders`,
    )
    expect(count('first')).toBeGreaterThan(20)
    expect(count('hidden')).toBeLessThan(sent.length)
  })
})
