import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { endsWithFile } from '../children.ts'
import { eventually } from '../eventually.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { NO_LOCAL_CALLERS, startTestService } from '../service.ts'

/** Prints a line for each response that the attacker gets, with its status. It connects from another address than the honest client. */
const ATTACKER = `
const { connect } = require('node:net')
const [port, kind, count] = process.argv.slice(1)
const ALIASES = Array.from({ length: 23 }, (_, index) => 'a' + index + ': locationRecords(limit: 1, offset: ' + 97 * index + ') { count }').join(' ')
const QUERY = JSON.stringify({ query: '{ ' + ALIASES + ' }' })
const REQUESTS = {
  stalled: ['POST /compute/v0/area HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 1048501\\r\\n\\r\\n', Buffer.alloc(1048500, 'x')],
  aliases: ['POST /graphql HTTP/1.1\\r\\nHost: a\\r\\nContent-Type: application/json\\r\\nContent-Length: ' + QUERY.length + '\\r\\n\\r\\n', QUERY],
}
const [head, body] = REQUESTS[kind]
function attack() {
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: '127.0.0.2' })
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    const status = /^HTTP\\/1.1 (\\d+)/.exec(bytes.toString('latin1'))
    if (status !== null) process.stdout.write(status[1] + '\\n')
    socket.destroy()
  })
  socket.on('close', () => setTimeout(attack, 50))
  socket.write(head)
  socket.write(body)
}
for (let index = 0; index < Number(count); index++) attack()
`

function startAttack(url: string, kind: 'stalled' | 'aliases', count: number) {
  const child = endsWithFile(spawn(process.execPath, ['-e', ATTACKER, new URL(url).port, kind, String(count)]))
  const statuses: string[] = []
  child.stdout.on('data', (text: Buffer) => statuses.push(...text.toString().trim().split('\n')))
  return { statuses, stop: () => child.kill() }
}

/** A polygon of about 20 KB: its body does not fit into the memory that is kept for small bodies. */
const POLYGON = {
  type: 'Polygon',
  coordinates: [
    Array.from({ length: 501 }, (_, index) => {
      const angle = (2 * Math.PI * (index % 500)) / 500
      return [10 + Math.cos(angle), 45 + Math.sin(angle)]
    }),
  ],
}

/** A line of 900 KB, nearly all of it blanks, so that a stream holds much memory while a few lines are computed. */
const WIDE_LINE = `${JSON.stringify({
  op: 'length',
  geometry: {
    type: 'LineString',
    coordinates: [
      [0, 0],
      [1, 1],
    ],
  },
})}${' '.repeat(900_000)}\n`

/** Sends lines as fast as the service reads them. @returns the status, and the number of complete result lines */
function fastStream(url: string, lines: number): Promise<{ status: number; results: number }> {
  return new Promise((resolve) => {
    let results = 0
    let status = 0
    const end = () => resolve({ status, results })
    const outgoing = request(
      `${url}/compute/v0/batch?chainId=84532&attest=none`,
      { method: 'POST', headers: { 'content-type': 'application/x-ndjson' } },
      (incoming) => {
        status = incoming.statusCode ?? 0
        incoming.setEncoding('utf8')
        incoming.on('data', (text: string) => {
          results += text.split('"result":').length - 1
        })
        incoming.on('end', end).on('error', end)
      },
    )
    outgoing.on('error', end)
    Readable.from(Array(lines).fill(WIDE_LINE)).pipe(outgoing)
  })
}

describe.each(ADAPTERS)('shares of clients on %s', (adapter) => {
  it('holds the fast streams of a client back instead of breaking them off', async () => {
    const service = await startTestService({ HTTP_ADAPTER: adapter })
    const streams = await Promise.all(Array.from({ length: 12 }, () => fastStream(service.url, 8)))
    expect(streams).toEqual(Array(12).fill({ status: 200, results: 8 }))
    await service.stop()
  })

  it('answers every request of a client while another one holds stalled bodies', async () => {
    const service = await startTestService({ HTTP_ADAPTER: adapter, ...NO_LOCAL_CALLERS })
    const attack = startAttack(service.url, 'stalled', 130)
    try {
      // The attacker has its share, and gets 503 for more.
      await eventually(() => expect(attack.statuses.filter((status) => status === '503').length).toBeGreaterThan(20))
      for (let round = 0; round < 20; round++) {
        const body = { chainId: 84532, geometry: POLYGON }
        const requests = Array.from({ length: 10 }, () =>
          service.post('/compute/v0/area', body, { 'X-API-Key': service.internalKey }),
        )
        expect((await Promise.all(requests)).map(({ status }) => status)).toEqual(Array(10).fill(200))
      }
    } finally {
      attack.stop()
    }
    await service.stop()
  })

  it('answers every list of a client while another one sends queries with many aliases', async () => {
    const service = await startTestService({
      HTTP_ADAPTER: adapter,
      RECORDS: '1',
      SAMPLE_RECORDS: '1',
      STORE_READ_MS: '30000',
      REQUEST_DEADLINE_MS: '60000',
      ...NO_LOCAL_CALLERS,
    })
    const list = (offset: number) => fetch(`${service.url}/api/v0/location-records?limit=5&offset=${offset}`)
    await eventually(async () => expect(await (await list(0)).json()).toMatchObject({ count: 5000 }))
    const attack = startAttack(service.url, 'aliases', 80)
    try {
      await eventually(() => expect(attack.statuses.length).toBeGreaterThan(40))
      for (let round = 0; round < 20; round++) {
        const responses = await Promise.all([0, 1, 2].map((index) => list(3 * round + index)))
        const bodies = await Promise.all(responses.map((response) => response.json()))
        expect(bodies).toEqual(Array(3).fill(expect.objectContaining({ count: 5000 })))
      }
    } finally {
      attack.stop()
    }
    await service.stop()
  })
})
