import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EIFFEL_TOWER, ROME } from '../fixtures.ts'
import { residentMiB } from '../resident-memory.ts'
import { startTestService, type TestService } from '../service.ts'

const LINE = `${JSON.stringify({
  op: 'distance',
  from: EIFFEL_TOWER,
  to: ROME,
})}\n`
const LINES_A_CHUNK = 200
const CHUNK_TEXT = LINE.repeat(LINES_A_CHUNK)
const CHUNK = `${CHUNK_TEXT.length.toString(16)}\r\n${CHUNK_TEXT}\r\n`
const HEAD =
  'POST /compute/v0/batch?chainId=84532&attest=none HTTP/1.1\r\nHost: a\r\n' +
  'Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n'

/** Bytes that Linux may buffer in one direction of a connection: the limits of the sender and the receiver. */
const systemBufferBytes = () =>
  ['rmem', 'wmem'].reduce((sum, name) => {
    const [, , maximum] = readFileSync(`/proc/sys/net/ipv4/tcp_${name}`, 'utf8').trim().split(/\s+/)
    return sum + Number(maximum)
  }, 0)
const hasRoom = (socket: Socket, limitMs: number) =>
  Promise.race([
    ...['drain', 'close'].map((event) => new Promise((resolve) => socket.once(event, resolve))),
    pause(limitMs),
  ])
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe.each(['uws', 'node'])('streams of lines over %s', (adapter) => {
  let service: TestService
  let port: number
  beforeAll(async () => {
    service = await startTestService({ HTTP_ADAPTER: adapter })
    port = Number(new URL(service.url).port)
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })

  const open = () => openWith(HEAD)
  const openWith = (head: string): Promise<Socket> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(head)
        resolve(socket)
      })
      socket.on('error', () => {})
    })
  /** Sends as fast as the other side reads, until it reads nothing for the given time. @returns the number of chunks sent */
  const flood = async (socket: Socket, chunks: number, patienceMs = 1000): Promise<number> => {
    let sent = 0
    for (; sent < chunks && !socket.destroyed; sent++) {
      if (socket.write(CHUNK)) continue
      await hasRoom(socket, patienceMs)
      if (socket.writableNeedDrain) break
    }
    return sent
  }
  const isResponsive = async () => {
    const answer = await service.post('/compute/v0/batch', {
      chainId: 84532,
      attest: 'none',
      items: [JSON.parse(LINE)],
    })
    expect(answer.body.results[0].result).toBeGreaterThan(1e6)
  }

  it('stops taking lines from a client that does not read, and uses little memory', async () => {
    await isResponsive()
    const before = residentMiB(service.pid)
    const sockets = await Promise.all(Array.from({ length: 8 }, open))
    for (const socket of sockets) socket.pause()
    const chunksTaken = await Promise.all(sockets.map((socket) => flood(socket, 4000)))
    // 4,000 chunks would be 100 MB of lines per client, and 190 MB of results. The buffers of the operating system for the
    // two directions of a connection are not counted.
    const maximum = (2 * systemBufferBytes() + 8 * 1_048_576) / CHUNK.length
    for (const chunks of chunksTaken) expect(chunks).toBeLessThan(maximum)
    expect(residentMiB(service.pid) - before).toBeLessThan(150)
    await isResponsive()
    for (const socket of sockets) socket.destroy()
    await isResponsive()
  })

  it('takes no more from a client that keeps writing for seconds', async () => {
    await isResponsive()
    const before = residentMiB(service.pid)
    const socket = await open()
    socket.pause()
    const end = performance.now() + 5000
    while (performance.now() < end && !socket.destroyed) {
      if (!socket.write(CHUNK)) await hasRoom(socket, 1000)
    }
    const takenBytes = socket.bytesWritten - socket.writableLength
    expect(takenBytes).toBeLessThan(systemBufferBytes() + 8 * 1_048_576)
    expect(residentMiB(service.pid) - before).toBeLessThan(40)
    socket.destroy()
    await isResponsive()
  })

  it('answers every line to a client that reads late', async () => {
    const socket = await open()
    socket.pause()
    // Enough results to fill the buffers of the system; then lines with small results.
    const sent = flood(socket, 400, 20_000)
    await pause(1000)
    let text = ''
    socket.on('data', (data) => {
      text += data.toString('latin1')
    })
    socket.resume()
    expect(await sent).toBe(400)
    for (let index = 0; index < 100; index++) socket.write(`${LINE.length.toString(16)}\r\n${LINE}\r\n`)
    await expect
      .poll(() => text.split('"operation":"distance"').length - 1, { timeout: 120_000 })
      .toBe(400 * LINES_A_CHUNK + 100)
    socket.end('0\r\n\r\n')
  })

  it('keeps the connection for the next request, however large the batch was', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const send = (method: string, path: string, pieces: readonly string[]): Promise<string> =>
      new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port, agent, method, path, timeout: 5000 }
        const message = request({ ...options, headers: { 'content-type': 'application/x-ndjson' } }, (response) => {
          let text = ''
          response.on('data', (data) => {
            text += data
          })
          response.on('end', () => resolve(text))
        })
        message.on('timeout', () => message.destroy(new Error('no answer')))
        message.on('error', reject)
        for (const piece of pieces) message.write(piece)
        message.end()
      })
    for (const [pieces, lines] of [
      [Array(3000).fill(LINE), 3000],
      [Array(20).fill(CHUNK_TEXT), 4000],
    ] as const) {
      for (let round = 0; round < 3; round++) {
        const answer = await send('POST', '/compute/v0/batch?chainId=84532&attest=none', pieces)
        expect(answer.split('\n').length - 1).toBe(lines)
        expect(await send('GET', '/health', [])).toContain('ok')
      }
    }
    agent.destroy()
  })

  it('tolerates clients that disconnect in the middle of a line', async () => {
    const sockets = await Promise.all(Array.from({ length: 20 }, open))
    await Promise.all(
      sockets.map(async (socket) => {
        await flood(socket, 3)
        socket.write('ff\r\n{"op":"dist')
        await pause(20)
        socket.destroy()
      }),
    )
    await isResponsive()
    expect(service.lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
  })

  it('answers the lines of a slow sender as they come', async () => {
    const socket = await open()
    let text = ''
    socket.on('data', (data) => {
      text += data.toString('latin1')
    })
    const size = LINE.length.toString(16)
    for (let round = 1; round <= 3; round++) {
      socket.write(`${size}\r\n${LINE}\r\n`)
      await expect.poll(() => text.split('"operation":"distance"').length - 1, { timeout: 120_000 }).toBe(round)
    }
    socket.write('0\r\n\r\n')
    await expect.poll(() => text.endsWith('0\r\n\r\n'), { timeout: 120_000 }).toBe(true)
    socket.destroy()
  })

  it('disconnects a client that stops sending, within the limits', async () => {
    const shortTimeoutService = await startTestService({ HTTP_ADAPTER: adapter, STREAM_IDLE_MS: '5000' })
    const socket = connect(Number(new URL(shortTimeoutService.url).port), '127.0.0.1')
    let text = ''
    socket.on('data', (data) => {
      text += data.toString('latin1')
    })
    socket.on('error', () => {})
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.write(HEAD + CHUNK)
    await closed
    // The result of each line that was sent, and no end of the response.
    expect(text.split('"operation":"distance"').length - 1).toBe(LINES_A_CHUNK)
    expect(text.endsWith('\r\n0\r\n\r\n')).toBe(false)
    expect(await shortTimeoutService.stop()).toBe(0)
  })

  it('needs little more than one byte of memory for a chunk of one byte', async () => {
    await isResponsive()
    const before = residentMiB(service.pid)
    const bytes = Buffer.from('1\r\n \r\n'.repeat(65_536))
    const heads = [HEAD, HEAD.replace('x-ndjson', 'json')]
    const sockets = await Promise.all(heads.map((head) => openWith(head)))
    let peak = 0
    const watch = setInterval(() => {
      peak = Math.max(peak, residentMiB(service.pid))
    }, 20)
    await Promise.all(
      sockets.map(async (socket) => {
        for (let round = 0; round < 8 && !socket.destroyed; round++) {
          if (!socket.write(bytes)) await hasRoom(socket, 5000)
        }
      }),
    )
    // At first, the bytes wait in the buffers of the system.
    await pause(2500)
    clearInterval(watch)
    for (const socket of sockets) socket.destroy()
    // 2 × 8 × 64 KiB of spaces; one object per chunk would be 100 MiB.
    expect(peak - before).toBeLessThan(60)
    await isResponsive()
  })
})
