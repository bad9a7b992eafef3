import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { getRoute } from '../../src/http/routes/route.ts'
import { MAX_PIPELINED } from '../../src/http/transport/in-flight.ts'
import { eventually } from '../eventually.ts'
import { sendRaw } from '../raw-socket.ts'
import { ADAPTERS, type RunningServer, startServer } from '../running-http-server.ts'

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
/** More than the system buffers between two sockets. */
const BYTES = Buffer.alloc(24 * 1_048_576, 'abcdefg')
const TEXT = 'é€😀'.repeat(2_000_000)
const hashOf = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex')

describe.each(ADAPTERS)('a body in chunks of one byte, on %s', (adapter) => {
  const post = (chunks: number) =>
    `POST /compute/v0/area HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`

  it('is accepted if it has few, and rejected if it has so many that others would wait', async () => {
    const bodies: number[] = []
    const compute = async (_operation: string, body: Uint8Array) => {
      bodies.push(body.length)
      return { json: '{}' }
    }
    const server = await startServer(adapter, { compute })
    expect((await sendRaw(server.port, [post(1000)], { wanted: 1 })).answers[0]!.status).toBe(200)
    const { answers, closed } = await sendRaw(server.port, [post(2000)])
    expect(answers.map(({ status }) => status)).toEqual([400])
    expect(answers[0]!.body).toContain('send larger chunks')
    expect(closed).toBe(true)
    expect(bodies).toEqual([1000])
    await server.stop()
  })
})

describe.each(ADAPTERS)('requests that follow each other without waiting, on %s', (adapter) => {
  let server: RunningServer
  let runs = 0
  afterEach(() => server.stop())

  const start = async () => {
    runs = 0
    server = await startServer(adapter, {
      moreRoutes: [
        getRoute('/small', '', () => {
          runs++
          return { json: '{}' }
        }),
        getRoute('/bytes', '', async () => {
          runs++
          return { json: BYTES, kind: 'asset' as const }
        }),
        getRoute('/text', '', () => ({ json: TEXT })),
      ],
    })
  }

  it('are all answered, in order, if they are few', async () => {
    await start()
    const { answers } = await sendRaw(server.port, [get('/small').repeat(100)], { wanted: 100 })
    expect(answers.map(({ status, body }) => `${status} ${body}`)).toEqual(Array(100).fill('200 {}'))
  })

  it.each(['/small', '/bytes'])(
    'end with the connection if they are many and the responses to %s are not read',
    async (path) => {
      await start()
      const socket = connect(server.port, '127.0.0.1')
      socket.pause()
      let isClosed = false
      socket
        .on('error', () => {})
        .on('close', () => {
          isClosed = true
        })
      // The client notices the end of the connection when it writes.
      const writer = setInterval(() => socket.write(get(path).repeat(5000)), 20)
      await eventually(() => expect(isClosed).toBe(true))
      clearInterval(writer)
      expect(runs).toBeGreaterThan(0)
      expect(runs).toBeLessThanOrEqual(MAX_PIPELINED + 1)
      expect((await fetch(`${server.url}/health`)).status).toBe(200)
    },
  )

  it.each([
    ['bytes', '/bytes', BYTES],
    ['text', '/text', TEXT],
  ])('leave nothing out of a response that does not fit into the connection: %s', async (_kind, path, expected) => {
    await start()
    const response = await fetch(`${server.url}${path}`)
    expect(hashOf(Buffer.from(await response.arrayBuffer()))).toBe(hashOf(expected))
    // The connection is as it was before.
    expect((await fetch(`${server.url}/small`)).status).toBe(200)
  })
})

// Without a listener for the end of the connection, uWebSockets.js may end the process if a response does not fit into it.
it.each(ADAPTERS)('refusals that nobody reads do not end the service, on %s', async (adapter) => {
  let refused = 0
  const server = await startServer(adapter, {
    computeRefusal: () => {
      refused++
      return { type: 'overloaded', detail: 'too many requests wait' }
    },
  })
  const request = 'POST /compute/v0/area HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'
  const socket = connect(server.port, '127.0.0.1')
  socket.setNoDelay(true).pause()
  socket.on('error', () => {})
  // One at a time, because uWebSockets.js closes a connection that sends many at once. It ends when the responses have filled the
  // buffers of the system: node:http then reads no more, and uWebSockets.js closes the connection.
  let isRead = true
  for (let sent = 1; isRead && !socket.destroyed; sent++) {
    expect(sent).toBeLessThan(100_000)
    socket.write(request)
    for (let turn = 0; refused < sent && !socket.destroyed && turn < 200_000; turn++)
      await new Promise((resolve) => setImmediate(resolve))
    isRead = refused >= sent
  }
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
  socket.destroy()
  await server.stop()
})
