import { spawn, spawnSync } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAnswers, type RawAnswer, sendRaw } from '../raw-socket.ts'
import { ADAPTERS, startServer } from '../running-http-server.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'

const MEBIBYTE = 1_048_576
const PIECE = Buffer.from(`8000\r\n${' '.repeat(32_768)}\r\n`)
const LINES = 'Content-Type: application/x-ndjson\r\n'
const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const MAX_BODY = 65_536

/** Requests that are rejected before their body was read: status, path, further header lines. */
const REFUSALS = {
  'a stream that cannot be signed as one tree': [400, '/compute/v0/batch?attest=merkle', LINES + CHUNKED],
  'a stream with an unknown option': [400, '/compute/v0/batch?attest=all', LINES + CHUNKED],
  'a wrong API key': [401, '/compute/v0/area', `X-API-Key: nobody\r\n${CHUNKED}`],
  'a compressed body': [415, '/compute/v0/area', `Content-Encoding: gzip\r\n${CHUNKED}`],
  'a body that grows too large': [413, '/compute/v0/area', CHUNKED],
  'a body announced as too large': [413, '/compute/v0/area', `Content-Length: ${32 * PIECE.length}\r\n`],
  'an unknown path': [404, '/nowhere', CHUNKED],
  'another method': [405, '/health', CHUNKED],
} as const

const curl = spawnSync('curl', ['--version']).error === undefined
if (!curl) console.warn('skipped: curl is not installed')

describe.each(ADAPTERS)('a rejection on %s', (adapter) => {
  let service: TestService
  let limited: TestService
  const outcomes = new Map<string, Promise<RawAnswer | Error>>()
  beforeAll(async () => {
    service = await startTestService({ HTTP_ADAPTER: adapter, MAX_BODY_BYTES: String(MAX_BODY) })
    limited = await startTestService({ HTTP_ADAPTER: adapter, ...NO_LOCAL_CALLERS, RATE_LIMIT_PUBLIC: '1' })
    // The first request of a process is slow: a client would have written everything before it is rejected.
    await service.post('/compute/v0/area', {})
    await limited.post('/compute/v0/area', {})
    for (const [name, [, path, headers]] of Object.entries(REFUSALS))
      outcomes.set(name, writeThenRead(open(path, headers)))
    outcomes.set('a used up hour', writeThenRead(open('/compute/v0/area', CHUNKED, limited)))
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
    expect(await limited.stop()).toBe(0)
  })

  const open = (path: string, headers: string, to: { readonly url: string } = service): Socket => {
    const socket = connect(Number(new URL(to.url).port), '127.0.0.1')
    socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`)
    return socket
  }

  const statuses = Object.entries(REFUSALS).map(([name, [status]]) => [name, status] as const)
  it.each([...statuses, ['a used up hour', 429] as const])(
    'reaches a client that writes 1 MB before it reads: %s',
    async (name, status) => {
      const answer = await outcomes.get(name)
      if (answer instanceof Error) throw answer
      expect(answer!.status).toBe(status)
      expect(answer!.headers['connection']).toBe('close')
      expect(JSON.parse(answer!.body)).toMatchObject({ status })
    },
  )

  it('reaches a client of Node.js that streams its body', async () => {
    let sent = 0
    const body = new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 1))
        if (sent++ < 256) controller.enqueue(new Uint8Array(16_384).fill(0x20))
        else controller.close()
      },
    })
    const response = await fetch(`${service.url}/compute/v0/batch?attest=merkle`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body,
      duplex: 'half',
    } as RequestInit)
    expect(response.status).toBe(400)
    expect(((await response.json()) as { detail: string }).detail).toContain('merkle')
  })

  it.skipIf(!curl)('reaches curl that streams its body', async () => {
    const url = `${service.url}/compute/v0/batch?attest=merkle`
    const headers = ['-H', 'content-type: application/x-ndjson', '-H', 'transfer-encoding: chunked', '-H', 'expect:']
    const child = spawn('curl', ['-sS', '-w', '\n%{http_code}', '-X', 'POST', '-T', '-', ...headers, url])
    child.stdin.on('error', () => {})
    child.stdin.end(Buffer.alloc(8 * MEBIBYTE, 0x20))
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
    expect(await new Promise((done) => child.on('close', done))).toBe(0)
    expect(output).toContain('merkle')
    expect(output).toMatch(/\n400$/)
  })

  it('disconnects a client that keeps sending as fast as it can', async () => {
    const socket = open('/compute/v0/batch?attest=merkle', LINES + CHUNKED)
    socket.on('error', () => {})
    socket.resume()
    const closed = new Promise((done) => socket.on('close', done))
    const write = () => {
      while (!socket.destroyed && socket.write(PIECE));
    }
    socket.on('drain', write)
    write()
    await closed
    // The bytes that are read and discarded, and those in the buffers of the system.
    expect(socket.bytesWritten).toBeLessThan(64 * MEBIBYTE)
  })

  it('disconnects a client that keeps sending slowly', async () => {
    const socket = open('/compute/v0/batch?attest=merkle', LINES + CHUNKED)
    socket.on('error', () => {})
    socket.resume()
    const dripping = setInterval(() => socket.write('1\r\n \r\n'), 200)
    await new Promise((done) => socket.on('close', done))
    clearInterval(dripping)
  })

  it('reaches such a client after many bodies that ended before their response', async () => {
    const server = await startServer(adapter)
    const list = `GET /api/v0/location-records HTTP/1.1\r\nHost: a\r\n${CHUNKED}\r\n0\r\n\r\n`
    // More than are read and discarded at one time.
    for (let count = 0; count < 40; count++) {
      const { answers } = await sendRaw(server.port, [list])
      expect(answers.map(({ status }) => status)).toEqual([200])
    }
    const answer = await writeThenRead(open('/compute/v0/area', `X-API-Key: nobody\r\n${CHUNKED}`, server))
    await server.stop()
    if (answer instanceof Error) throw answer
    expect(answer.status).toBe(401)
  })

  it('leaves nothing in flight', async () => {
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).not.toMatch(/status="5\d\d"/)
    expect(service.lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
  })
})

/**
 * Writes 1 MB piece by piece over about two seconds, and only then reads the response to its end.
 *
 * @returns the error instead of the response when the connection failed before
 */
async function writeThenRead(socket: Socket): Promise<RawAnswer | Error> {
  socket.pause()
  const failed = new Promise<Error>((done) => socket.on('error', done))
  const work = async () => {
    for (let index = 0; index < 32; index++) {
      await new Promise<void>((done) => socket.write(PIECE, () => done()))
      await new Promise((done) => setTimeout(done, 60))
    }
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
    })
    const ended = new Promise<void>((done) => socket.on('end', done))
    socket.resume()
    await ended
    const { answers, rest } = parseAnswers(text)
    return answers.length === 1 && rest === '' ? answers[0]! : new Error(`not one answer: ${text}`)
  }
  return Promise.race([work(), failed]).finally(() => socket.destroy())
}
