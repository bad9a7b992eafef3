import { spawn } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { endsWithFile } from '../children.ts'
import { eventually } from '../eventually.ts'
import { residentMiB } from '../resident-memory.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { NO_LOCAL_CALLERS, startTestService } from '../service.ts'

const MEBIBYTE = 1_048_576
const CONNECTIONS = 400

/** Sends each body except its last byte. The bodies come from four addresses, because one alone gets only its share of the memory. */
const FLOOD = `
const { connect } = require('node:net')
const [port, count] = process.argv.slice(1).map(Number)
const body = Buffer.alloc(${MEBIBYTE} - 1, 'x')
for (let index = 0; index < count; index++) {
  const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.' + (2 + index % 4) })
  socket.on('error', () => {})
  socket.on('data', (bytes) => { if (bytes.toString('latin1').startsWith('HTTP/1.1 503')) process.stdout.write('503\\n') })
  socket.write('POST /compute/v0/area HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: ${MEBIBYTE}\\r\\n\\r\\n')
  socket.write(body)
}
setInterval(() => {}, 1000)
`

/** MiB above the start for a budget of 64. Rejected bodies leave their memory to the next ones, and not to the garbage collector. */
const CEILING_MIB = 96

describe.each(ADAPTERS)('a flood of bodies on %s', (adapter) => {
  it('holds no more memory than its budget and answers 503 beyond it', async () => {
    const service = await startTestService({ REQUEST_DEADLINE_MS: '5000', HTTP_ADAPTER: adapter, ...NO_LOCAL_CALLERS })
    // A warm server: its code is compiled, and its heap has the size that small requests need.
    for (let round = 0; round < 200; round++) {
      await Promise.all(Array.from({ length: 10 }, () => service.post('/compute/v0/area', 'x'.repeat(300))))
    }
    const before = residentMiB(service.pid)
    let peak = before
    const watch = setInterval(() => {
      peak = Math.max(peak, residentMiB(service.pid))
    }, 10)

    const flood = endsWithFile(spawn(process.execPath, ['-e', FLOOD, new URL(service.url).port, String(CONNECTIONS)]))
    let refused = 0
    flood.stdout.on('data', (text: Buffer) => {
      refused += text.toString().split('503').length - 1
    })
    try {
      // 64 MiB hold 64 such bodies; resets may drop some responses to clients that are still writing.
      await eventually(() => expect(refused).toBeGreaterThan(100), { interval: 20 })
      // Small requests of other clients are rejected while the budget is used up, or answered; they never wait.
      const response = await fetch(`${service.url}/health`)
      expect(response.status).toBe(200)
      await eventually(async () => expect((await service.post('/compute/v0/area', '{}')).status).toBe(400), {
        interval: 50,
      })
    } finally {
      clearInterval(watch)
      flood.kill()
    }
    console.info(
      `${adapter}: peak ${Math.round(peak - before)} MiB above the start of ${Math.round(before)}, ${refused} refused`,
    )
    expect(peak - before).toBeLessThan(CEILING_MIB)
    await service.stop()
  })
})
