import { spawn } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { ADAPTERS, startServer } from '../running-http-server.ts'

const MEBIBYTE = 1_048_576
const CONNECTIONS = 400

/** A process of its own, so that the memory measured is the server's: sends all of each body but its last byte. */
const FLOOD = `
const { connect } = require('node:net')
const [port, count] = process.argv.slice(1).map(Number)
const body = Buffer.alloc(${MEBIBYTE} - 1, 'x')
for (let index = 0; index < count; index++) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.on('data', (bytes) => { if (bytes.toString('latin1').startsWith('HTTP/1.1 503')) process.stdout.write('503\\n') })
  socket.write('POST /compute/v0/area HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: ${MEBIBYTE}\\r\\n\\r\\n')
  socket.write(body)
}
setInterval(() => {}, 1000)
`

/**
 * MiB above the start for a budget of 64: what was refused after it had been read in part waits for the collector beside
 * the budget. Measured with 400 connections as with 1,000: 84 to 99 on uWebSockets.js, 107 to 127 on node:http; the aim
 * was 96, so a change for the better lowers these.
 */
const CEILING_MIB = { uws: 112, node: 144 } as const

/** Once for both: memory that one flood leaves behind must not hide in the start of the next. */
let before = 0

describe.each([...ADAPTERS].reverse())('a flood of bodies on %s', (adapter) => {
  it('holds no more memory than its budget and answers 503 beyond it', async () => {
    const server = await startServer(adapter, { env: { REQUEST_DEADLINE_MS: '5000' } })
    // A server at work: its code compiled, its heap grown to what small requests need.
    for (let round = 0; round < 200; round++) {
      const body = 'x'.repeat(300)
      const post = () =>
        fetch(`${server.url}/compute/v0/area`, { method: 'POST', body }).then((answer) => answer.text())
      await Promise.all(Array.from({ length: 10 }, post))
    }
    before ||= process.memoryUsage().rss
    let peak = before
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss)
    }, 10)

    const flood = spawn(process.execPath, ['-e', FLOOD, String(server.port), String(CONNECTIONS)])
    let refused = 0
    flood.stdout.on('data', (text: Buffer) => {
      refused += text.toString().split('503').length - 1
    })
    try {
      // 64 MiB hold 64 such bodies; resets may swallow some answers to clients that are still writing.
      await eventually(() => expect(refused).toBeGreaterThan(100), { timeout: 5000, interval: 20 })
      await eventually(() => expect(server.server.inFlight).toBeLessThanOrEqual(65), { timeout: 5000, interval: 20 })
      // Small requests of others are refused as long as the budget is spent, or served; they never wait.
      const start = performance.now()
      const response = await fetch(`${server.url}/health`)
      expect(response.status).toBe(200)
      expect(performance.now() - start).toBeLessThan(1000)
      await eventually(() => expect(server.server.inFlight).toBe(0), { timeout: 10_000, interval: 50 })
      expect((await fetch(`${server.url}/compute/v0/area`, { method: 'POST', body: '{}' })).status).toBe(200)
    } finally {
      clearInterval(watch)
      flood.kill()
    }
    console.info(`${adapter}: peak ${Math.round((peak - before) / MEBIBYTE)} MiB above the start, ${refused} refused`)
    expect(peak - before).toBeLessThan(CEILING_MIB[adapter] * MEBIBYTE)
    await server.stop()
  })
})
