import { createServer, type Socket } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINES, makeStore, type PostgresCluster, startCluster } from '../../bench/store-engines.ts'
import { readConfig } from '../../src/config/config.ts'
import { migrate } from '../../src/store/migrations.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { StoreClient } from '../../src/threads/store-client.ts'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'
import { recordOf, storeRecords } from '../store-records.ts'

const DISTANCE = {
  chainId: 84532,
  from: EIFFEL_TOWER,
  to: TOWN_HALL,
}
const LIST = '/api/v0/location-records?limit=10'

describe.runIf(ENGINES.includes('postgres'))('a database server that goes away', () => {
  let cluster: PostgresCluster
  let service: TestService

  beforeAll(async () => {
    cluster = await startCluster({ fsync: 'off' })
    const database = await openPostgres({
      url: cluster.url,
      readers: 1,
      writers: 1,
      connectTimeoutMs: 2000,
      readTimeoutMs: 5000,
      writeTimeoutMs: 60_000,
      onLost: () => {},
    })
    await migrate(database)
    const many = Array.from({ length: 3000 }, (_, index) => recordOf(index, { memo: 'x'.repeat(2000) }))
    await storeRecords(
      createRecordStore(database, () => '2026-01-01T00:00:00.000Z'),
      many,
    )
    await database.close()
    // No request waits for a connection that will not come: such a wait would last ten minutes.
    service = await startTestService({
      DATABASE_URL: cluster.url,
      RECORDS: '1',
      MAX_STORE_QUEUE: '8',
      STORE_READ_MS: '600000',
    })
    await until('/ready', 200)
  })
  afterAll(async () => {
    await service.stop()
    await cluster.remove()
  })

  async function get(path: string) {
    const response = await fetch(service.url + path)
    const body = (await response.json()) as Record<string, unknown>
    return { status: response.status, body, headers: response.headers }
  }

  async function until(path: string, status: number): Promise<void> {
    await eventually(async () => expect(await get(path)).toMatchObject({ status }))
  }

  it('is reported in the error format of records, while compute answers, and recovers without a restart', async () => {
    expect(await get(LIST)).toMatchObject({ status: 200, body: { count: 3000 } })
    for (const how of ['fast', 'immediate'] as const) {
      await cluster.stop(how)
      await until(LIST, 503)
      const { body, headers } = await get(LIST)
      expect(body).toEqual({ status: 'error', message: 'Records are not available', detail: expect.any(String) })
      expect(headers.get('retry-after')).toBe('1')
      for (const path of ['/stats', `/0x${'0'.repeat(64)}`]) {
        expect((await get(`/api/v0/location-proofs${path}`)).status).toBe(503)
      }
      expect((await get('/api/v0/config')).status).toBe(200)
      expect((await get('/api/v0/location-proofs?limit=zero')).status).toBe(400)
      expect((await service.post('/compute/v0/distance', DISTANCE)).body.result).toBe(4238.77)
      expect(await get('/health')).toMatchObject({ status: 200, body: { status: 'ok', database: 'disconnected' } })
      const ready = await get('/ready')
      expect(ready.status).toBe(503)
      expect(ready.body['checks']).toMatchObject({
        database: { ok: false },
        compute: { ok: true },
        signer: { ok: true },
      })
      await cluster.start()
      await until(LIST, 200)
      expect(await get('/health')).toMatchObject({ body: { database: 'connected' } })
    }
    // Responses never revealed internals.
    expect(service.lines.join('\n')).not.toContain(cluster.url)
  })

  it('may close every connection: the process survives, and the next request is answered', async () => {
    const client = new pg.Client({ connectionString: cluster.url })
    await client.connect()
    for (let round = 0; round < 3; round++) {
      const flood = Promise.all(Array.from({ length: 6 }, (_, index) => get(`${LIST}&offset=${round * 10 + index}`)))
      await client.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'trigpoint'")
      for (const { status } of await flood) expect([200, 503]).toContain(status)
      await until(LIST, 200)
    }
    await client.end()
  })

  it('gets as many queries as its queue holds; others are rejected, and everything else continues', async () => {
    const flood = Promise.all(
      Array.from({ length: 300 }, (_, index) => get(`/api/v0/location-records?limit=1000&offset=${index}`)),
    )
    const health = await get('/health')
    expect(health.status).toBe(200)
    const answers = await flood
    const statuses = new Set(answers.map(({ status }) => status))
    expect([...statuses].sort()).toEqual([200, 503])
    for (const { status, body, headers } of answers) {
      if (status === 503)
        expect([body['message'], headers.get('retry-after')]).toEqual(['Records are not available', '1'])
      else expect(body['data']).toHaveLength(1000)
    }
    await until(LIST, 200)
  })
})

/** Makes a message of the protocol of PostgreSQL. */
function postgresMessage(type: string, body: string): Buffer {
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, Buffer.from(body, 'latin1')])
}

/** "The password is right", and "ready for a query". */
const READY = Buffer.concat([postgresMessage('R', '\0\0\0\0'), postgresMessage('Z', 'I')])
/** Ready, and the error with which a server that stops ends a connection. */
const READY_AND_ENDED = Buffer.concat([
  READY,
  postgresMessage('E', 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'),
])

/** A request for a kind of password that does not exist, and a row that is shorter than it says. Parsing either throws. */
const GARBAGE = Buffer.concat([postgresMessage('R', '\0\0\0\x63'), postgresMessage('D', '\0\x09')])

describe('a database server', () => {
  // Regression: each of these ended the process. The error did so when it came in one packet with the message before it, as on a busy
  // machine.
  it.each<[string, (socket: Socket) => void]>([
    ['ends each connection as soon as it is open', (socket) => socket.end(READY_AND_ENDED)],
    ['sends garbage as soon as a connection is open', (socket) => socket.write(Buffer.concat([READY, GARBAGE]))],
    [
      'answers each statement with garbage',
      (socket) => {
        socket.write(READY)
        socket.on('data', () => socket.write(GARBAGE))
      },
    ],
  ])('that %s does not end the process', async (_, serve) => {
    const opened = new Map<string, number>()
    const server = createServer((socket) => {
      socket.on('error', () => {}) // the other side may close it first
      socket.once('data', (startup) => {
        const name = /application_name\0([^\0]*)/.exec(startup.toString('latin1'))![1]!
        opened.set(name, (opened.get(name) ?? 0) + 1)
        serve(socket)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const service = await startTestService({
      DATABASE_URL: `postgres://trigpoint@127.0.0.1:${port}/records`,
      RECORDS: '1',
    })
    // The main thread counts requests in the database, and the store thread opens the store.
    await eventually(() => {
      for (const name of ['trigpoint', 'trigpoint limits']) expect(opened.get(name)).toBeGreaterThan(1)
    })
    expect((await service.post('/compute/v0/distance', DISTANCE)).body.result).toBe(4238.77)
    expect((await fetch(service.url + LIST)).status).toBe(503)
    expect(await service.stop()).toBe(0)
    server.close()
  })
})

describe('a statement that takes too long', () => {
  const silentLogger = { info() {}, warn() {}, error() {} }
  it.each(ENGINES)('is cancelled on %s, and the next one is answered', async (engine) => {
    const files = await makeStore(engine)
    const database = await files.open()
    const many = Array.from({ length: 40_000 }, (_, index) => recordOf(index, { memo: 'x'.repeat(400) }))
    for (let start = 0; start < many.length; start += 4000) {
      await storeRecords(
        createRecordStore(database, () => '2026-01-01T00:00:00.000Z'),
        many.slice(start, start + 4000),
      )
    }
    await database.close()
    const client = new StoreClient(
      readConfig({ ...files.environment, STORE_READ_MS: '300', STORE_STUCK_MS: '300' }, 2),
      silentLogger,
    )
    client.open()
    const untilOpen = async () => {
      await eventually(() => expect(client.state.isOpen).toBe(true))
    }
    await untilOpen()
    // No route requests this much: every record with its text, in one page.
    const everything = { limit: 1e6, offset: 0, maxBytes: 1e9 }
    const unboundedQuery = client.ask('page', everything, Date.now() + 600_000)
    await expect(unboundedQuery).rejects.toMatchObject({ kind: engine === 'embedded' ? 'unavailable' : 'late' })
    await untilOpen()
    // A third of a second is short for any statement on a busy machine.
    await eventually(async () => {
      const page = await client.ask('page', { limit: 2, offset: 0 }, Date.now() + 600_000)
      expect(page).toMatchObject({ count: 40_000, length: 2 })
    })
    await client.close()
    // Regression: after one slow statement on a starved machine, every request was rejected until the store was open again.
    const patientClient = new StoreClient(readConfig(files.environment, 2), silentLogger)
    patientClient.open()
    await eventually(() => expect(patientClient.state.isOpen).toBe(true))
    const lateQuery = patientClient.ask('page', everything, Date.now() + 5)
    await expect(lateQuery).rejects.toMatchObject({ kind: 'late' })
    expect(await patientClient.ask('page', { limit: 2, offset: 0 }, Date.now() + 600_000)).toMatchObject({ length: 2 })
    await patientClient.close()
    await files.remove()
  })
})
