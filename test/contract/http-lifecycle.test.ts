import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { Metrics } from '../../src/base/metrics.ts'
import { readConfig } from '../../src/config/config.ts'
import { ApiKeys } from '../../src/http/access/api-keys.ts'
import { createApp } from '../../src/http/app.ts'
import { ListenError } from '../../src/http/transport/port.ts'
import { createHttpServer } from '../../src/http/transport/server.ts'
import type { RequestContext, ServiceResponse } from '../../src/service/request.ts'
import { eventually } from '../eventually.ts'
import { sendRaw } from '../raw-socket.ts'
import { ADAPTERS, type RunningServer, startServer } from '../running-http-server.ts'

const POST_OPEN = 'POST /compute/v0/area HTTP/1.1\r\nHost: a\r\n'

/** A service whose responses the test releases one by one. */
function controlledService() {
  const waiting: { context: RequestContext; respond: (response: ServiceResponse) => void }[] = []
  return {
    waiting,
    compute: (_operation: string, _body: Uint8Array, context: RequestContext) =>
      new Promise<ServiceResponse>((respond) => {
        waiting.push({ context, respond })
      }),
  }
}

const compute = (server: RunningServer, body = '{}') => fetch(`${server.url}/compute/v0/area`, { method: 'POST', body })

describe.each(ADAPTERS)('the life of a request on %s', (adapter) => {
  it('answers the requests in flight before it stops, and closes their connections', async () => {
    const controlled = controlledService()
    const server = await startServer(adapter, { compute: controlled.compute })
    const answers = Array.from({ length: 20 }, () => compute(server))
    await eventually(() => expect(controlled.waiting.length).toBe(20))
    expect(server.server.inFlight).toBe(20)

    let stopped = false
    const stop = server.stop().then(() => {
      stopped = true
    })
    await eventually(() => expect(fetch(`${server.url}/health`)).rejects.toThrow())
    expect(stopped).toBe(false)
    for (const { respond } of controlled.waiting) respond({ json: '{"late":true}' })
    for (const response of await Promise.all(answers)) {
      expect(response.status).toBe(200)
      expect(response.headers.get('connection')).toBe('close')
      expect(await response.json()).toEqual({ late: true })
    }
    await stop
    expect(server.server.inFlight).toBe(0)
  })

  it('rejects a line stream that begins during shutdown, with Retry-After', async () => {
    const controlled = controlledService()
    const server = await startServer(adapter, { compute: controlled.compute })
    const waiting = compute(server)
    await eventually(() => expect(controlled.waiting.length).toBe(1))
    const socket = connect(server.port, '127.0.0.1')
    await new Promise((resolve) => socket.once('connect', resolve))
    await eventually(async () => expect((await fetch(`${server.url}/health`)).status).toBe(200))
    const stop = server.stop()
    let text = ''
    socket.on('data', (data) => {
      text += data.toString('latin1')
    })
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(
      'POST /compute/v0/batch HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n',
    )
    await closed
    expect(text).toMatch(/^HTTP\/1\.1 503 /)
    expect(text).toMatch(/retry-after: 1\r\n/i)
    expect(text).toMatch(/connection: close\r\n/i)
    controlled.waiting[0]!.respond({ json: '{}' })
    expect((await waiting).status).toBe(200)
    await stop
  })

  it('loses no response when it stops under load on keep-alive connections', async () => {
    let computed = 0
    const server = await startServer(adapter, {
      compute: async () => {
        await new Promise((resolve) => setImmediate(resolve))
        computed++
        return { json: '{}' }
      },
    })
    const agent = new Agent({ keepAlive: true, maxSockets: 16 })
    let sent = 0
    let received = 0
    const lost: string[] = []
    // Each of 16 loops sends the next request as soon as it gets a response, until its connection is refused.
    const loop = async () => {
      for (;;) {
        const result = await postOnce(server.port, agent)
        if (result === 'refused') return
        sent++
        if (result === 'answered') received++
        else lost.push(result)
      }
    }
    const loops = Array.from({ length: 16 }, loop)
    await eventually(() => expect(received).toBeGreaterThan(500))
    await server.stop()
    await Promise.all(loops)
    agent.destroy()
    expect(lost).toEqual([])
    expect(received).toBe(computed)
    expect(sent).toBe(received)
  })

  it('stops draining after DRAIN_TIMEOUT_MS', async () => {
    const controlled = controlledService()
    const server = await startServer(adapter, { compute: controlled.compute, env: { DRAIN_TIMEOUT_MS: '200' } })
    const outcome = compute(server).catch((error: Error) => error)
    await eventually(() => expect(controlled.waiting.length).toBe(1))
    await server.stop()
    expect(await outcome).toBeInstanceOf(Error)
  })

  it('answers 503 when the service misses the deadline, and aborts the request context', async () => {
    const controlled = controlledService()
    const nowMs = Date.now()
    const env = { REQUEST_DEADLINE_MS: '150' }
    const server = await startServer(adapter, { compute: controlled.compute, env, now: () => nowMs })
    const response = await compute(server)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await response.json()).toMatchObject({ title: 'Overloaded' })
    const { context, respond } = controlled.waiting[0]!
    expect(context.aborted).toBe(true)
    expect(context.deadlineMs - nowMs).toBe(150)
    // A late response is dropped, and the connection still works.
    respond({ json: '{}' })
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
    await server.stop()
  })

  it('answers 408 and closes the connection when a body does not arrive in time', async () => {
    const server = await startServer(adapter, { env: { REQUEST_DEADLINE_MS: '150' } })
    const { answers, closed } = await sendRaw(server.port, [`${POST_OPEN}Content-Length: 10\r\n\r\nabc`])
    expect(answers.map(({ status }) => status)).toEqual([408])
    expect(JSON.parse(answers[0]!.body)).toMatchObject({ title: 'Request Timeout', status: 408 })
    expect(closed).toBe(true)
    await server.stop()
  })

  it('aborts the request context when the client disconnects, and drops the response', async () => {
    const controlled = controlledService()
    const server = await startServer(adapter, { compute: controlled.compute, env: { LOG_SAMPLE_RATIO: '1' } })
    const socket = connect(server.port, '127.0.0.1')
    socket.write(`${POST_OPEN}Content-Length: 2\r\n\r\n{}`)
    await eventually(() => expect(controlled.waiting.length).toBe(1))
    expect(controlled.waiting[0]!.context.aborted).toBe(false)
    socket.destroy()
    await eventually(() => expect(controlled.waiting[0]!.context.aborted).toBe(true))
    expect(server.server.inFlight).toBe(0)
    controlled.waiting[0]!.respond({ json: '{}' })
    await eventually(() => expect(server.lines.some(({ fields }) => fields['status'] === 499)).toBe(true))
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
    await server.stop()
  })

  it('releases a partial body when its client disconnects', async () => {
    const server = await startServer(adapter, { env: { MAX_OPEN_BODIES_PER_ADDRESS: '1' } })
    const socket = connect(server.port, '127.0.0.1')
    socket.write(`${POST_OPEN}Content-Length: 10\r\n\r\nabc`)
    await eventually(() => expect(server.server.inFlight).toBe(1))
    expect((await compute(server)).status).toBe(503)
    socket.destroy()
    await eventually(() => expect(server.server.inFlight).toBe(0))
    expect((await compute(server)).status).toBe(200)
    await server.stop()
  })

  const STREAM_OPEN =
    'POST /compute/v0/batch HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n'
  it.each([
    ['a body of known length', `${POST_OPEN}Content-Length: 10\r\n\r\nabc`],
    ['a chunked body', `${POST_OPEN}Transfer-Encoding: chunked\r\n\r\n5\r\nab`],
    ['a body that has not begun', `${POST_OPEN}Content-Length: 10\r\n\r\n`],
    ['a stream whose response has begun', `${STREAM_OPEN}3\r\n{}\n\r\n5\r\n{`],
  ])('logs 499 when a client disconnects during %s', async (_what, text) => {
    const server = await startServer(adapter, { env: { LOG_SAMPLE_RATIO: '1' } })
    const ways = ['destroy', 'resetAndDestroy', 'end'] as const
    for (const [index, way] of ways.entries()) {
      const socket = connect(server.port, '127.0.0.1')
      socket.on('error', () => {})
      const hasAnswer = new Promise((resolve) => socket.once('data', resolve))
      socket.write(text)
      await eventually(() => expect(server.server.inFlight).toBe(1))
      if (text.startsWith(STREAM_OPEN)) await hasAnswer
      socket[way]()
      await eventually(() => expect(server.server.inFlight).toBe(0))
      const statuses = server.lines.filter(({ event }) => event === 'request').map(({ fields }) => fields['status'])
      expect(statuses, way).toEqual(Array(index + 1).fill(499))
      socket.destroy()
    }
    await server.stop()
  })

  it('rejects bodies beyond MAX_IN_FLIGHT_BYTES, and accepts more after the first are answered', async () => {
    const controlled = controlledService()
    const server = await startServer(adapter, {
      compute: controlled.compute,
      env: { MAX_IN_FLIGHT_BYTES: '1048576', MAX_BODY_BYTES: '600000', MAX_BATCH_BYTES: '600000' },
    })
    const first = compute(server, 'x'.repeat(600_000))
    await eventually(() => expect(controlled.waiting.length).toBe(1))
    const second = await compute(server, 'x'.repeat(600_000))
    expect(second.status).toBe(503)
    expect(second.headers.get('retry-after')).toBe('1')
    controlled.waiting[0]!.respond({ json: '{}' })
    expect((await first).status).toBe(200)
    const third = compute(server, 'x'.repeat(600_000))
    await eventually(() => expect(controlled.waiting.length).toBe(2))
    controlled.waiting[1]!.respond({ json: '{}' })
    expect((await third).status).toBe(200)
    await server.stop()
  })

  it('ends a stream that has more than MAX_STREAM_BYTES unanswered', async () => {
    let takenBytes = 0
    const count = (bytes: number) => {
      takenBytes += bytes
    }
    const server = await startServer(adapter, {
      // A service that never applies back-pressure and never finishes.
      openBatch: () => ({ isFull: false, take: (bytes) => count(bytes.byteLength), end: async () => {} }),
      env: { MAX_BODY_BYTES: '1024', MAX_STREAM_BYTES: '3000000' },
    })
    const { answers, closed } = await sendRaw(server.port, [
      'POST /compute/v0/batch HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n',
      ...Array.from({ length: 80 }, () => `c350\r\n${'x'.repeat(50_000)}\r\n`),
    ])
    expect(closed).toBe(true)
    expect(takenBytes).toBeLessThanOrEqual(3_000_000)
    // A reset may discard the response to a client that is still writing.
    for (const { status, body } of answers) expect([status, body]).toEqual([503, expect.stringContaining('3000000')])
    expect(server.server.inFlight).toBe(0)
    await server.stop()
  })

  it.each([
    ['announced', { body: 'x'.repeat(3_000_000) }],
    ['chunked', { body: new Blob(['x'.repeat(3_000_000)]).stream(), duplex: 'half' }],
  ])('answers 413 to a body of 3 MB, %s', async (_name, init) => {
    let bodies = 0
    const server = await startServer(adapter, {
      compute: async () => {
        bodies++
        return { json: '{}' }
      },
    })
    const response = await fetch(`${server.url}/compute/v0/area`, { method: 'POST', ...(init as RequestInit) })
    expect(response.status).toBe(413)
    expect(response.headers.get('connection')).toBe('close')
    expect(await response.json()).toMatchObject({ detail: 'the body is larger than 1048576 bytes' })
    expect(bodies).toBe(0)
    await server.stop()
  })

  it('reads a body of exactly the size limit, complete and in order', async () => {
    let received = Buffer.alloc(0)
    const server = await startServer(adapter, {
      compute: async (_operation, body) => {
        received = Buffer.from(body)
        return { json: '{}' }
      },
    })
    const body = Buffer.alloc(1_048_576, 'abcdefghijk')
    const response = await fetch(`${server.url}/compute/v0/area`, { method: 'POST', body })
    expect(response.status).toBe(200)
    expect(received.equals(body)).toBe(true)
    await server.stop()
  })

  it('does not mix up many small bodies that wait at the same time', async () => {
    const bodies: Uint8Array[] = []
    const controlled = controlledService()
    const server = await startServer(adapter, {
      compute: (operation, body, context) => {
        bodies.push(body)
        return controlled.compute(operation, body, context)
      },
    })
    const texts = Array.from({ length: 300 }, (_, index) => `${index}:`.padEnd(400, String(index % 10)))
    const answers = texts.map((text) => compute(server, text))
    await eventually(() => expect(bodies.length).toBe(300))
    expect(bodies.map((body) => Buffer.from(body).toString()).sort()).toEqual([...texts].sort())
    for (const { respond } of controlled.waiting) respond({ json: '{}' })
    await Promise.all(answers)
    await server.stop()
  })

  it('rejects a port in use with a typed error', async () => {
    const server = await startServer(adapter)
    const config = readConfig({ HTTP_ADAPTER: adapter }, 1)
    const { app } = await startServer(adapter)
    const second = createHttpServer(config, app.handler, { info() {}, warn() {}, error() {} })
    const listening = second.listen('127.0.0.1', server.port)
    await expect(listening).rejects.toBeInstanceOf(ListenError)
    await expect(listening).rejects.toMatchObject({
      failure: 'in-use',
      message: expect.stringMatching(/`ss -ltnp`.*PORT or --port/),
    })
    await expect(second.listen('192.0.2.1', 0)).rejects.toMatchObject({ failure: 'no-such-address' })
    // The same server can then listen on a free port.
    const port = await second.listen('127.0.0.1', 0)
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
    await second.close()
    await server.stop()
  })

  it('accepts no more connections than MAX_CONNECTIONS', async () => {
    const server = await startServer(adapter, { env: { MAX_CONNECTIONS: '8', MAX_CONNECTIONS_PER_ADDRESS: '100' } })
    const idle = Array.from({ length: 8 }, () => connect(server.port, '127.0.0.1'))
    await Promise.all(idle.map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
    const { answers, closed } = await sendRaw(server.port, ['GET /health HTTP/1.1\r\nHost: a\r\n\r\n'])
    // node:http closes the connection; uWebSockets.js cannot, so it sends an error response.
    expect(answers.map(({ status }) => status)).toEqual(adapter === 'node' ? [] : [503])
    expect(closed).toBe(true)
    for (const socket of idle) socket.destroy()
    await eventually(async () => {
      const again = await sendRaw(server.port, ['GET /health HTTP/1.1\r\nHost: a\r\n\r\n'], { wanted: 1 })
      expect(again.answers[0]?.status).toBe(200)
    })
    await server.stop()
  })

  it('logs a sample of the requests, and every failure', async () => {
    const values = [0.005, 0.5, 0.5, 0.5]
    const server = await startServer(adapter, {
      env: { LOG_SAMPLE_RATIO: '0.01', API_KEYS: '{"secret-key":{"tier":"developer"}}' },
      random: () => values.shift() ?? 0.5,
      compute: (_operation, body) =>
        body.byteLength > 2 ? Promise.reject(new Error('x')) : Promise.resolve({ json: '{}' }),
    })
    const post = (body: string) =>
      fetch(`${server.url}/compute/v0/area?token=secret`, {
        method: 'POST',
        body,
        headers: { 'X-API-Key': 'secret-key' },
      })
    await post('{}')
    await post('{}')
    await post('secret-body')
    const requests = server.lines.filter(({ event }) => event === 'request')
    expect(requests.map(({ level, fields }) => [level, fields['status']])).toEqual([
      ['info', 200],
      ['warn', 500],
    ])
    expect(requests[0]!.fields).toMatchObject({ method: 'POST', route: '/compute/v0/area', tier: 'developer' })
    expect(Object.keys(requests[0]!.fields).sort()).toEqual(
      ['client', 'id', 'method', 'ms', 'route', 'status', 'tier'].sort(),
    )
    expect(JSON.stringify(requests)).not.toMatch(/secret|127\.0\.0\.1/)
    await server.stop()
  })
})

it('falls back to node:http and logs the reason once', () => {
  const config = readConfig({ HTTP_ADAPTER: 'uws' }, 1)
  const warnings: unknown[] = []
  const log = { info() {}, warn: (...line: unknown[]) => void warnings.push(line), error() {} }
  const services = {
    compute: async () => ({ json: '' }),
    readiness: () => ({ ready: true, checks: {}, database: { isConnected: true } }),
  }
  const parts = { config, services: services as never, log, metrics: new Metrics(), now: Date.now }
  const { handler } = createApp({ ...parts, keys: new ApiKeys([], false) })
  const server = createHttpServer(config, handler, log, () => ({ ok: false, reason: 'no such file' }))
  expect(server.adapter).toBe('node')
  expect(warnings).toEqual([['http adapter falls back to node:http', { reason: 'no such file' }]])
})

function postOnce(port: number, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const options = { port, host: '127.0.0.1', agent, method: 'POST', path: '/compute/v0/area' }
    const message = request(options, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode === 200 ? 'answered' : `status ${response.statusCode}`))
      response.on('error', (error) => resolve(error.message))
    })
    message.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed an idle keep-alive connection: no response was lost.
      resolve(error.code === 'ECONNREFUSED' ? 'refused' : (error.code ?? error.message))
    })
    message.end('{}')
  })
}
