import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { EIFFEL_TOWER, ROME } from '../fixtures.ts'
import { startTestService } from '../service.ts'

const BODY = JSON.stringify({
  chainId: 84532,
  from: EIFFEL_TOWER,
  to: ROME,
})
const BATCH = JSON.stringify({ chainId: 84532, attest: 'none', items: [] })
const GET = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'
const head = (path: string, length: number | string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${typeof length === 'number' ? `Content-Length: ${length}` : length}\r\n\r\n`
const LINES = 'Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked'

/** [description, bytes before the signal, bytes after it]. */
const CASES: readonly (readonly [string, string, string])[] = [
  ['a request whose body ends later', head('/compute/v0/distance', BODY.length) + BODY.slice(0, 20), BODY.slice(20)],
  ['a batch whose body ends later', head('/compute/v0/batch', BATCH.length) + BATCH.slice(0, 10), BATCH.slice(10)],
  ['a body that is refused later', `${head('/compute/v0/distance', 4)}{"a`, '}'],
  ['a stream without a line yet', `${head('/compute/v0/batch?chainId=84532&attest=none', LINES)}2\r\n  \r\n`, ''],
  ['a request on a connection that was used', GET, GET],
  ['a path that is not there', GET, 'GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a preflight', GET, 'OPTIONS /health HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a HEAD', GET, 'HEAD /health HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a request whose head ends later', 'GET /health HTTP/1.1\r\nHo', 'st: a\r\n\r\n'],
]

/** The first four: they begin with a request that waits for its remaining bytes. */
const OPEN_CASES = 4
const openRequests = async (url: string) =>
  Number(/^http_in_flight (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())![1]) - 1

describe.each(['uws', 'node'])('responses that begin after SIGTERM, over %s', (adapter) => {
  it('announce that the connection closes', async () => {
    const service = await startTestService({ HTTP_ADAPTER: adapter })
    const port = Number(new URL(service.url).port)
    const clients = await Promise.all(
      CASES.map(async ([what, before, after]) => {
        const socket = connect(port, '127.0.0.1')
        const client = { what, socket, after, text: '', closed: new Promise((resolve) => socket.on('close', resolve)) }
        socket.on('error', () => {})
        socket.on('data', (data) => {
          client.text += data.toString('latin1')
        })
        await new Promise<void>((resolve) => socket.write(before, () => resolve()))
        return client
      }),
    )
    // The service has read the beginnings, and answered the complete requests.
    await expect.poll(() => openRequests(service.url), { timeout: 120_000 }).toBe(OPEN_CASES)
    const used = clients.filter((_client, index) => CASES[index]![1] === GET)
    await expect.poll(() => used.every(({ text }) => text.includes('commit')), { timeout: 120_000 }).toBe(true)
    for (const client of clients) client.text = ''
    const stopped = service.stop()
    await expect.poll(() => service.lines.some((line) => line.includes('"stopping"'))).toBe(true)
    for (const { socket, after } of clients) socket.write(after)
    for (const { closed } of clients) await closed
    for (const { what, text } of clients) expect(text, what).toMatch(/\r\nconnection: close\r\n/i)
    expect(await stopped).toBe(0)
  })
})
