import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'

const LINE = `${JSON.stringify({
  op: 'distance',
  from: { type: 'Point', coordinates: [2.2945, 48.8584] },
  to: { type: 'Point', coordinates: [12.4964, 41.9028] },
})}\n`
const LINES_A_CHUNK = 200
const CHUNK_TEXT = LINE.repeat(LINES_A_CHUNK)
const CHUNK = `${CHUNK_TEXT.length.toString(16)}\r\n${CHUNK_TEXT}\r\n`
const HEAD =
  'POST /compute/v0/batch?chainId=84532&attest=none HTTP/1.1\r\nHost: a\r\n' +
  'Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n'

const residentMiB = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
/** What Linux may buffer in one direction of a connection: the sender's and the receiver's limit. */
const systemBufferBytes = () =>
  ['rmem', 'wmem'].reduce((sum, name) => {
    const [, , most] = readFileSync(`/proc/sys/net/ipv4/tcp_${name}`, 'utf8').trim().split(/\s+/)
    return sum + Number(most)
  }, 0)
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

  const open = (): Promise<Socket> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(HEAD)
        resolve(socket)
      })
      socket.on('error', () => {})
    })
  /** Sends as fast as the other side takes it. @returns chunks that were taken */
  const flood = async (socket: Socket, chunks: number, until: () => boolean = () => false): Promise<number> => {
    let sent = 0
    for (; sent < chunks && !until() && !socket.destroyed; sent++) {
      if (socket.write(CHUNK)) continue
      await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), pause(1000)])
      if (socket.writableNeedDrain) break
    }
    return sent
  }
  const works = async () => {
    const answer = await service.post('/compute/v0/batch', {
      chainId: 84532,
      attest: 'none',
      items: [JSON.parse(LINE)],
    })
    expect(answer.body.results[0].result).toBeGreaterThan(1e6)
  }

  it('stops taking lines from a client that does not read, and stays small', async () => {
    await works()
    const before = residentMiB(service.pid)
    const sockets = await Promise.all(Array.from({ length: 8 }, open))
    for (const socket of sockets) socket.pause()
    const taken = await Promise.all(sockets.map((socket) => flood(socket, 4000)))
    // 4,000 chunks would be 100 MB of lines a client, and 190 MB of answers. What the system holds by itself for the
    // two directions of a connection is not ours.
    const most = (2 * systemBufferBytes() + 8 * 1_048_576) / CHUNK.length
    for (const chunks of taken) expect(chunks).toBeLessThan(most)
    expect(residentMiB(service.pid) - before).toBeLessThan(150)
    await works()
    for (const socket of sockets) socket.destroy()
    await works()
  })

  it('does not mind clients that leave in the middle of a line', async () => {
    const sockets = await Promise.all(Array.from({ length: 20 }, open))
    await Promise.all(
      sockets.map(async (socket) => {
        await flood(socket, 3)
        socket.write('ff\r\n{"op":"dist')
        await pause(20)
        socket.destroy()
      }),
    )
    await works()
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
      await expect.poll(() => text.split('"operation":"distance"').length - 1, { timeout: 3000 }).toBe(round)
    }
    socket.write('0\r\n\r\n')
    await expect.poll(() => text.endsWith('0\r\n\r\n'), { timeout: 3000 }).toBe(true)
    socket.destroy()
  })

  it('ends within its limits a client that sends nothing more', async () => {
    const socket = await open()
    socket.write(CHUNK)
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.resume()
    const start = performance.now()
    await closed
    expect(performance.now() - start).toBeLessThan(25_000)
  }, 30_000)
})
