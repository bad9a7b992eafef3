import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { createApp } from '../../src/http/app.ts'
import { ListenError } from '../../src/http/port.ts'
import { createHttpServer } from '../../src/http/server.ts'
import { Metrics } from '../../src/metrics.ts'
import type { RequestContext, ServiceAnswer } from '../../src/service/services.ts'
import { eventually } from '../eventually.ts'
import { sendRaw } from '../raw-socket.ts'
import { ADAPTERS, type RunningServer, startServer } from '../running-http-server.ts'

const POST_OPEN = 'POST /compute/v0/area HTTP/1.1\r\nHost: a\r\n'

/** A service that answers when the test says so. */
function heldBack() {
  const waiting: { context: RequestContext; answer: (answer: ServiceAnswer) => void }[] = []
  return {
    waiting,
    compute: (_operation: string, _body: Uint8Array, context: RequestContext) =>
      new Promise<ServiceAnswer>((answer) => {
        waiting.push({ context, answer })
      }),
  }
}

const compute = (server: RunningServer, body = '{}') => fetch(`${server.url}/compute/v0/area`, { method: 'POST', body })

describe.each(ADAPTERS)('the life of a request on %s', (adapter) => {
  it('answers what is in flight before it stops, and says that the connection ends', async () => {
    const held = heldBack()
    const server = await startServer(adapter, { compute: held.compute })
    const answers = Array.from({ length: 20 }, () => compute(server))
    await eventually(() => expect(held.waiting.length).toBe(20))
    expect(server.server.inFlight).toBe(20)

    let stopped = false
    const stop = server.stop().then(() => {
      stopped = true
    })
    await eventually(() => expect(fetch(`${server.url}/health`)).rejects.toThrow())
    expect(stopped).toBe(false)
    for (const { answer } of held.waiting) answer({ json: '{"late":true}' })
    for (const response of await Promise.all(answers)) {
      expect(response.status).toBe(200)
      expect(response.headers.get('connection')).toBe('close')
      expect(await response.json()).toEqual({ late: true })
    }
    await stop
    expect(server.server.inFlight).toBe(0)
  })

  it('refuses a stream of lines that begins while it stops, and says when to come again', async () => {
    const held = heldBack()
    const server = await startServer(adapter, { compute: held.compute })
    const waiting = compute(server)
    await eventually(() => expect(held.waiting.length).toBe(1))
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
    held.waiting[0]!.answer({ json: '{}' })
    expect((await waiting).status).toBe(200)
    await stop
  })

  it('loses no answer when it stops under load on kept-alive connections', async () => {
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
    // Each of 16 loops asks again as soon as it is answered, until its connection is refused.
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

  it('gives up draining after its limit', async () => {
    const held = heldBack()
    const server = await startServer(adapter, { compute: held.compute, env: { DRAIN_TIMEOUT_MS: '200' } })
    const answer = compute(server).catch((error: Error) => error)
    await eventually(() => expect(held.waiting.length).toBe(1))
    await server.stop()
    expect(await answer).toBeInstanceOf(Error)
  })

  it('answers 503 when the service takes longer than the deadline, and tells the service', async () => {
    const held = heldBack()
    const nowMs = Date.now()
    const env = { REQUEST_DEADLINE_MS: '150' }
    const server = await startServer(adapter, { compute: held.compute, env, now: () => nowMs })
    const response = await compute(server)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await response.json()).toMatchObject({ title: 'Overloaded' })
    const { context, answer } = held.waiting[0]!
    expect(context.aborted).toBe(true)
    expect(context.deadlineMs - nowMs).toBe(150)
    // Too late: nothing happens, and the connection works on.
    answer({ json: '{}' })
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
    await server.stop()
  })

  it('answers 408 and closes when a body does not arrive in time', async () => {
    const server = await startServer(adapter, { env: { REQUEST_DEADLINE_MS: '150' } })
    const { answers, closed } = await sendRaw(server.port, [`${POST_OPEN}Content-Length: 10\r\n\r\nabc`])
    expect(answers.map(({ status }) => status)).toEqual([408])
    expect(JSON.parse(answers[0]!.body)).toMatchObject({ title: 'Request Timeout', status: 408 })
    expect(closed).toBe(true)
    await server.stop()
  })

  it('tells the service when the client is gone, and answers nobody', async () => {
    const held = heldBack()
    const server = await startServer(adapter, { compute: held.compute, env: { LOG_SAMPLE_RATIO: '1' } })
    const socket = connect(server.port, '127.0.0.1')
    socket.write(`${POST_OPEN}Content-Length: 2\r\n\r\n{}`)
    await eventually(() => expect(held.waiting.length).toBe(1))
    expect(held.waiting[0]!.context.aborted).toBe(false)
    socket.destroy()
    await eventually(() => expect(held.waiting[0]!.context.aborted).toBe(true))
    expect(server.server.inFlight).toBe(0)
    held.waiting[0]!.answer({ json: '{}' })
    await eventually(() => expect(server.lines.some(({ fields }) => fields['status'] === 499)).toBe(true))
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
    await server.stop()
  })

  it('forgets a body whose client left in the middle', async () => {
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
    ['a body not begun', `${POST_OPEN}Content-Length: 10\r\n\r\n`],
    ['a stream that is answered already', `${STREAM_OPEN}3\r\n{}\n\r\n5\r\n{`],
  ])('logs 499 for a client that leaves in the middle of %s', async (_what, text) => {
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

  it('refuses bodies beyond the bytes it may hold, and accepts again when they are answered', async () => {
    const held = heldBack()
    const server = await startServer(adapter, {
      compute: held.compute,
      env: { MAX_IN_FLIGHT_BYTES: '1048576', MAX_BODY_BYTES: '600000' },
    })
    const first = compute(server, 'x'.repeat(600_000))
    await eventually(() => expect(held.waiting.length).toBe(1))
    const second = await compute(server, 'x'.repeat(600_000))
    expect(second.status).toBe(503)
    expect(second.headers.get('retry-after')).toBe('1')
    held.waiting[0]!.answer({ json: '{}' })
    expect((await first).status).toBe(200)
    const third = compute(server, 'x'.repeat(600_000))
    await eventually(() => expect(held.waiting.length).toBe(2))
    held.waiting[1]!.answer({ json: '{}' })
    expect((await third).status).toBe(200)
    await server.stop()
  })

  it('ends a stream of which it holds more than it may unanswered', async () => {
    let takenBytes = 0
    const count = (bytes: number) => {
      takenBytes += bytes
    }
    const server = await startServer(adapter, {
      // A service that asks nobody to wait and is never done.
      openBatch: () => ({ isFull: false, take: (bytes) => count(bytes.byteLength), end: async () => {} }),
      env: { MAX_BODY_BYTES: '1024', MAX_STREAM_BYTES: '3000000' },
    })
    const { answers, closed } = await sendRaw(server.port, [
      'POST /compute/v0/batch HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n',
      ...Array.from({ length: 80 }, () => `c350\r\n${'x'.repeat(50_000)}\r\n`),
    ])
    expect(closed).toBe(true)
    expect(takenBytes).toBeLessThanOrEqual(3_000_000)
    // A reset may swallow the answer to a client that is still writing.
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

  it('reads a body of exactly the limit, whole and in order', async () => {
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

  it('keeps many small bodies apart while all of them wait', async () => {
    const bodies: Uint8Array[] = []
    const held = heldBack()
    const server = await startServer(adapter, {
      compute: (operation, body, context) => {
        bodies.push(body)
        return held.compute(operation, body, context)
      },
    })
    const texts = Array.from({ length: 300 }, (_, index) => `${index}:`.padEnd(400, String(index % 10)))
    const answers = texts.map((text) => compute(server, text))
    await eventually(() => expect(bodies.length).toBe(300))
    expect(bodies.map((body) => Buffer.from(body).toString()).sort()).toEqual([...texts].sort())
    for (const { answer } of held.waiting) answer({ json: '{}' })
    await Promise.all(answers)
    await server.stop()
  })

  it('refuses a port that is taken, and says so with a type', async () => {
    const server = await startServer(adapter)
    const config = readConfig({ HTTP_ADAPTER: adapter }, 1)
    const { app } = await startServer(adapter)
    const second = createHttpServer(config, app.handler, { info() {}, warn() {}, error() {} })
    const refused = second.listen('127.0.0.1', server.port)
    await expect(refused).rejects.toBeInstanceOf(ListenError)
    await expect(refused).rejects.toMatchObject({ failure: 'in-use' })
    await expect(second.listen('192.0.2.1', 0)).rejects.toMatchObject({ failure: 'no-such-address' })
    // The same server moves on to a free port.
    const port = await second.listen('127.0.0.1', 0)
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
    await second.close()
    await server.stop()
  })

  it('lets no more connections in than it should', async () => {
    const server = await startServer(adapter, { env: { MAX_CONNECTIONS: '2' } })
    const idle = [connect(server.port, '127.0.0.1'), connect(server.port, '127.0.0.1')]
    await Promise.all(idle.map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
    const { answers, closed } = await sendRaw(server.port, ['GET /health HTTP/1.1\r\nHost: a\r\n\r\n'])
    // node:http hangs up; uWebSockets.js cannot, so the answer is a refusal.
    expect(answers.map(({ status }) => status)).toEqual(adapter === 'node' ? [] : [503])
    expect(closed).toBe(true)
    for (const socket of idle) socket.destroy()
    await eventually(async () => {
      const again = await sendRaw(server.port, ['GET /health HTTP/1.1\r\nHost: a\r\n\r\n'], { wanted: 1 })
      expect(again.answers[0]?.status).toBe(200)
    })
    await server.stop()
  })

  it('logs a sample, and every failure', async () => {
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

it('falls back to node:http and says why, once', () => {
  const config = readConfig({ HTTP_ADAPTER: 'uws' }, 1)
  const warnings: unknown[] = []
  const log = { info() {}, warn: (...line: unknown[]) => void warnings.push(line), error() {} }
  const services = { compute: async () => ({ json: '' }), readiness: () => ({ ready: true, checks: {} }) }
  const { handler } = createApp({ config, services: services as never, log, metrics: new Metrics(), now: Date.now })
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
      // A kept-alive connection that the other side closed while it was idle: nothing was lost.
      resolve(error.code === 'ECONNREFUSED' ? 'refused' : (error.code ?? error.message))
    })
    message.end('{}')
  })
}
