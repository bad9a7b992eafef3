import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { BatchOperation } from '../../src/client/batch.ts'
import { ApiError, type Client, type ClientOptions, ConnectionError, createClient } from '../../src/client/client.ts'
import { submissionStates } from '../../src/client/submission-states.ts'
import type { Transport } from '../../src/client/transport.ts'
import { eventually } from '../eventually.ts'

const POINT = { type: 'Point' as const, coordinates: [2, 48] as [number, number] }
const ANSWER = { result: 1, units: 'meters', operation: 'distance' }
const PROBLEM = {
  type: 'x',
  title: 'Overloaded',
  status: 503,
  detail: 'too many',
  errors: [{ pointer: '#', detail: 'y' }],
}

/** The response to one attempt. */
type Behaviour = (response: ServerResponse, body: string, request: IncomingMessage) => void

const ok: Behaviour = (response) => response.end(JSON.stringify(ANSWER))
const refuse =
  (status: number, headers: Record<string, string> = {}, body: unknown = PROBLEM): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
const hangUp: Behaviour = (response) => response.destroy()
const silence: Behaviour = () => {}

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** Creates a service that treats each attempt as the list says, and all later ones like the last. */
async function startFaultyServer(behaviours: readonly Behaviour[], options: Partial<ClientOptions> = {}) {
  const seen: { at: number; body: string; headers: IncomingMessage['headers'] }[] = []
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece: Buffer) => {
      body += piece.toString()
    })
    request.on('end', () => {
      seen.push({ at: Date.now(), body, headers: request.headers })
      behaviours[Math.min(seen.length, behaviours.length) - 1]!(response, body, request)
    })
  })
  await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createClient({ baseUrl, chainId: 84532, ...options })
  return { client, seen, requestDistance: (call = {}) => client.compute.distance(POINT, POINT, call) }
}

describe('a client that is rejected', () => {
  it('waits as long as the service asks, and sends the same request again', async () => {
    const { requestDistance, seen } = await startFaultyServer([refuse(429, { 'retry-after': '1' }), ok], {
      apiKey: 'secret',
    })
    expect(await requestDistance()).toEqual(ANSWER)
    expect(seen).toHaveLength(2)
    expect(seen[1]!.at - seen[0]!.at).toBeGreaterThanOrEqual(990)
    expect(seen[1]!.body).toBe(seen[0]!.body)
    expect(seen[1]!.headers['x-api-key']).toBe('secret')
  })

  it('accepts a date in Retry-After', async () => {
    const { requestDistance, seen } = await startFaultyServer([
      (...args) => refuse(503, { 'retry-after': new Date(Date.now() + 1100).toUTCString() })(...args),
      ok,
    ])
    expect(await requestDistance()).toEqual(ANSWER)
    expect(seen).toHaveLength(2)
  })

  it('does not wait for an hour, but throws at once and names the time', async () => {
    const { requestDistance, seen } = await startFaultyServer([refuse(429, { 'retry-after': '3000' })])
    const error = await requestDistance().catch((cause: ApiError) => cause)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ status: 429, retryAfterSeconds: 3000 })
    expect(seen).toHaveLength(1)
  })

  it('gives up after the last allowed attempt, with the problem of that attempt', async () => {
    const { requestDistance, seen } = await startFaultyServer([refuse(503)])
    const error = (await requestDistance({ maxRetries: 2 }).catch((cause: unknown) => cause)) as ApiError
    expect(error.problem).toEqual({ ...PROBLEM, status: 503 })
    expect(seen).toHaveLength(3)
  })

  it.each([400, 401, 403, 404, 413, 500, 501])('does not retry after %d', async (status) => {
    const { requestDistance, seen } = await startFaultyServer([refuse(status)])
    await expect(requestDistance()).rejects.toMatchObject({ name: 'ApiError', status })
    expect(seen).toHaveLength(1)
  })

  it.each([
    ['no JSON', '<html>Bad Gateway</html>', 'Bad Gateway', '<html>Bad Gateway</html>'],
    [
      'an error of the record API',
      { status: 'error', message: 'Invalid chain parameter', detail: 'z' },
      'Invalid chain parameter',
      'z',
    ],
    ['nothing', '', 'Bad Gateway', 'the response has no details'],
    ['a list', [1], 'Bad Gateway', '[1]'],
  ])('makes a problem of %s', async (_, body, title, detail) => {
    const { requestDistance } = await startFaultyServer([refuse(502, {}, body)])
    await expect(requestDistance()).rejects.toMatchObject({ problem: { title, detail, status: 502 } })
  })

  it('stops waiting when the signal aborts', async () => {
    const { requestDistance, seen } = await startFaultyServer([refuse(503, { 'retry-after': '20' })])
    const controller = new AbortController()
    const rejection = expect(requestDistance({ signal: controller.signal })).rejects.toThrow('enough')
    await eventually(() => expect(seen).toHaveLength(1))
    controller.abort(new Error('enough'))
    await rejection
    expect(seen).toHaveLength(1)
    await expect(requestDistance({ signal: controller.signal })).rejects.toThrow('enough')
    expect(seen).toHaveLength(1)
  })

  // Regression: the service answers 503 at its deadline too, when it may have executed the request.
  it('retries what must not take effect twice only after 429', async () => {
    const options = { chainId: 84532, submitOnchain: true }
    const { client, seen } = await startFaultyServer([refuse(429, { 'retry-after': '0' }), refuse(503), ok])
    await expect(client.verify.proof({} as never, options)).rejects.toMatchObject({ name: 'ApiError', status: 503 })
    expect(seen).toHaveLength(2)
  })
})

describe('a stream of states that breaks', () => {
  const event = (status: string) => `event: submission\ndata: {"status":"${status}"}\n\n`
  const events =
    (text: string, isBroken: boolean): Behaviour =>
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(text, () => (isBroken ? response.destroy() : response.end()))
    }
  const read = async (client: Client, options = {}) => {
    const statuses: string[] = []
    for await (const { status } of client.verify.submissionStates('5b1f', options)) statuses.push(status)
    return statuses
  }

  it('is opened again, and yields each state once', async () => {
    const { client, seen } = await startFaultyServer([
      events(event('queued'), true),
      events(`${event('queued')}:\n\n${event('sent')}`, false),
      events(`${event('mined')}${event('finalized')}`, false),
    ])
    expect(await read(client)).toEqual(['queued', 'sent', 'mined', 'finalized'])
    expect(seen).toHaveLength(3)
  })

  it('is given up when streams without a state follow each other', async () => {
    const { client, seen } = await startFaultyServer([events(event('queued'), true), events(':\n\n', false)])
    await expect(read(client, { maxRetries: 1 })).rejects.toThrow('the stream ended without a state')
    expect(seen).toHaveLength(3)
  })

  it('is opened again ever more slowly while no new state arrives', async () => {
    const attempts: number[] = []
    const path = '/verify/v0/submissions/5b1f/events'
    const event = (status: string) => new TextEncoder().encode(`event: submission\ndata: {"status":"${status}"}\n\n`)
    const streams = ['queued', 'queued', 'queued', 'queued', 'queued', 'sent', 'sent', 'finalized']
    const transport = {
      open: async () => ({
        async *pieces() {
          yield event(streams.shift()!)
        },
      }),
      maxRetries: () => 3,
      pause: async (attempt: number) => void attempts.push(attempt),
    } as unknown as Transport
    const seen: string[] = []
    for await (const { status } of submissionStates(transport, path, {})) seen.push(status)
    expect(seen).toEqual(['queued', 'sent', 'finalized'])
    expect(attempts).toEqual([0, 1, 2, 3, 4, 0, 1])
  })

  it('ends with the reason of the signal, while it waits for a state and while it waits to be opened again', async () => {
    const controller = new AbortController()
    const { client } = await startFaultyServer([(response) => response.writeHead(200).write(event('queued'))])
    const states = client.verify.submissionStates('5b1f', { signal: controller.signal })
    expect((await states.next()).value).toEqual({ status: 'queued' })
    const waiting = states.next()
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    expect((await states.next()).done).toBe(true)
    const between = new AbortController()
    const broken = await startFaultyServer([events(event('queued'), false)])
    const others = broken.client.verify.submissionStates('5b1f', { signal: between.signal })
    await others.next()
    between.abort(new Error('enough'))
    await expect(others.next()).rejects.toThrow('enough')
  })

  it('is not opened again if the service knows no such submission', async () => {
    const { client, seen } = await startFaultyServer([refuse(404)])
    await expect(read(client)).rejects.toBeInstanceOf(ApiError)
    expect(seen).toHaveLength(1)
  })
})

describe('a client without a response', () => {
  it('retries when the connection breaks', async () => {
    const { requestDistance, seen } = await startFaultyServer([hangUp, hangUp, ok])
    expect(await requestDistance()).toEqual(ANSWER)
    expect(seen).toHaveLength(3)
  })

  it('never retries a request that could submit twice', async () => {
    const { client, seen } = await startFaultyServer([hangUp, ok])
    const call = client.verify.proof({} as never, { chainId: 84532, submitOnchain: true })
    await expect(call).rejects.toBeInstanceOf(ConnectionError)
    expect(seen).toHaveLength(1)
  })

  it('retries a result that is submitted only under a key of its own', async () => {
    const bare = await startFaultyServer([hangUp, ok])
    await expect(bare.requestDistance({ submitOnchain: true })).rejects.toBeInstanceOf(ConnectionError)
    expect(bare.seen).toHaveLength(1)
    expect(JSON.parse(bare.seen[0]!.body).options).toEqual({ submitOnchain: true })
    server?.close()
    const keyed = await startFaultyServer([hangUp, ok, hangUp, ok])
    await keyed.requestDistance({ submitOnchain: true, idempotencyKey: 'order-1' })
    const items: BatchOperation[] = [{ op: 'distance', from: POINT, to: POINT }]
    await keyed.client.batch.run(items, { submitOnchain: true, attest: 'merkle', idempotencyKey: 'order-2' })
    expect(keyed.seen.map(({ headers }) => headers['idempotency-key'])).toEqual([
      'order-1',
      'order-1',
      'order-2',
      'order-2',
    ])
    expect(JSON.parse(keyed.seen[3]!.body)).toMatchObject({ attest: 'merkle', options: { submitOnchain: true } })
  })

  it('limits the wait for a response', async () => {
    const { requestDistance, seen } = await startFaultyServer([silence], { timeoutMs: 100 })
    await expect(requestDistance({ maxRetries: 1 })).rejects.toThrow('no response within 100 ms')
    expect(seen).toHaveLength(2)
  })

  it('limits the wait for the remaining response', async () => {
    const { requestDistance } = await startFaultyServer([(response) => response.write('{"result":')], {
      timeoutMs: 100,
    })
    await expect(requestDistance({ maxRetries: 0 })).rejects.toThrow('no response within 100 ms')
  })

  it('rejects an incomplete response', async () => {
    const { requestDistance, seen } = await startFaultyServer([(response) => response.end('{"result":'), ok])
    expect(await requestDistance()).toEqual(ANSWER)
    expect(seen).toHaveLength(2)
  })
})

describe('a stream that breaks', () => {
  const items: BatchOperation[] = Array.from({ length: 20 }, (_, id) => ({
    op: 'distance',
    id,
    from: POINT,
    to: POINT,
  }))
  const splitLines = (body: string) => body.trimEnd().split('\n')
  /** Answers only the first lines, then closes the connection or ends the response. */
  const answerFirst =
    (count: number, end: (response: ServerResponse) => void): Behaviour =>
    (response, body) => {
      const some = splitLines(body).slice(0, count)
      const text = some.map((line) => `${JSON.stringify({ id: JSON.parse(line).id, result: 1 })}\n`).join('')
      response.write(text, () => end(response))
    }
  const whole = answerFirst(1e9, (response) => response.end())
  const run = async (behaviours: Behaviour[], options = {}) => {
    const { client, seen } = await startFaultyServer(behaviours)
    const ids: unknown[] = []
    for await (const { id } of client.batch.stream(items, { chunkItems: 10, concurrency: 1, ...options })) ids.push(id)
    return { ids, sent: seen.map(({ body }) => splitLines(body).length) }
  }
  const all = items.map(({ id }) => id)

  it.each([
    ['in the middle', (response: ServerResponse) => setTimeout(() => response.destroy(), 50)],
    ['by ending early', (response: ServerResponse) => response.end()],
  ])('%s is gone on with where it broke: nothing is lost or doubled', async (_, end) => {
    const { ids, sent } = await run([answerFirst(4, end as never), whole])
    expect(ids).toEqual(all)
    expect(sent).toEqual([10, 6, 10])
  })

  it('continues as long as there is progress', async () => {
    const one = answerFirst(1, (response) => response.end())
    const { ids, sent } = await run([...Array.from({ length: 9 }, () => one), whole], { maxRetries: 1 })
    expect(ids).toEqual(all)
    expect(sent).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 10])
  })

  it('ends with an error when there is no progress', async () => {
    await expect(run([answerFirst(4, (response) => response.end()), hangUp], { maxRetries: 0 })).rejects.toBeInstanceOf(
      ConnectionError,
    )
  })

  it('yields the results that came before a rejection', async () => {
    const { client } = await startFaultyServer([whole, refuse(400)])
    const ids: unknown[] = []
    const reading = (async () => {
      for await (const { id } of client.batch.stream(items, { chunkItems: 10 })) ids.push(id)
    })()
    await expect(reading).rejects.toMatchObject({ status: 400 })
    expect(ids.length).toBeLessThanOrEqual(10)
  })

  it('propagates the errors of its source', async () => {
    const { client } = await startFaultyServer([whole])
    const broken = (function* () {
      yield* items
      throw new Error('the file ended')
    })()
    const reading = (async () => {
      for await (const _ of client.batch.stream(broken, { chunkItems: 5 }));
    })()
    await expect(reading).rejects.toThrow('the file ended')
  })
})
