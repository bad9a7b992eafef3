import { get as httpGet, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordWorld } from '../../bench/record-world.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import { eventually } from '../eventually.ts'
import { ENGINES_AND_ADAPTERS, type RecordService, startRecordService } from '../record-service.ts'
import { NO_LOCAL_CALLERS } from '../service.ts'
import { addressOf, uidOf } from '../store-records.ts'

const WORLD = [...recordWorld({ seed: 3, count: 4000, newestSeconds: 1_790_000_000, spanDays: 365 })]
const HOSTILE = { ...WORLD[7]!, uid: uidOf(7), memo: '\u0000\n\r\ud800\u2028","location":"x"},{"uid":"0x' }
const LARGE = WORLD.slice(0, 500).map((record, index) => ({
  ...record,
  uid: uidOf(5000 + index),
  memo: 'x'.repeat(40_000),
}))
const ALL = [...WORLD, HOSTILE, ...LARGE]
const EXPORT = '/api/v0/location-records/export'
const STREAM = '/api/v0/location-records/stream'

describe.each(ENGINES_AND_ADAPTERS)('exports on %s behind %s', (engine, adapter) => {
  let service: RecordService

  beforeAll(async () => {
    service = await startRecordService(
      engine,
      { HTTP_ADAPTER: adapter, REQUEST_DEADLINE_MS: '3000', ...NO_LOCAL_CALLERS },
      ALL,
    )
  })
  afterAll(() => service.remove())

  const list = async (query: string) => {
    const response = await fetch(`${service.url}/api/v0/location-records?${query}`)
    return (await response.json()) as { count: number; data: { uid: string }[] }
  }

  it.each([
    '',
    '?chain=celo',
    '?bbox=-20,-40,60,70',
    '?fromTimestamp=2026-06-01&toTimestamp=2026-07-01',
    `?prover=${addressOf(1)}`,
  ])('return every record of %s on a separate line, as the list does', async (query) => {
    const response = await fetch(service.url + EXPORT + query)
    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    const lines = (await response.text()).split('\n').slice(0, -1)
    const { count } = await list(query.slice(1))
    expect(lines.length).toBe(count)
    const first = await list(`${query.slice(1)}&limit=1000`)
    expect(lines.slice(0, 1000).map((line) => JSON.parse(line))).toEqual(first.data)
    expect(new Set(lines.map((line) => JSON.parse(line).uid)).size).toBe(count)
  })

  it('return features as a GeoJSON text sequence on request', async () => {
    for (const [query, accept] of [
      ['?f=geojsonseq', '*/*'],
      ['', 'application/geo+json-seq'],
    ] as const) {
      const response = await fetch(service.url + EXPORT + query, { headers: { accept } })
      expect(response.headers.get('content-type')).toBe('application/geo+json-seq')
      const texts = (await response.text()).split('\x1e').slice(1)
      expect(texts.length).toBe(ALL.length)
      expect(texts.every((text) => text.endsWith('}\n') && JSON.parse(text).type === 'Feature')).toBe(true)
      const odd = texts.map((text) => JSON.parse(text)).find(({ id }) => id === uidOf(7))
      expect(odd.properties.memo).toBe(HOSTILE.memo)
      expect(odd.geometry).toEqual(JSON.parse(HOSTILE.location))
    }
  })

  it('return one GeoJSON object, also without any record', async () => {
    for (const [query, accept] of [
      ['?f=geojson', '*/*'],
      ['', 'application/geo+json'],
    ] as const) {
      const response = await fetch(service.url + EXPORT + query, { headers: { accept } })
      expect(response.headers.get('content-type')).toBe('application/geo+json; charset=utf-8')
      const { type, features } = (await response.json()) as { type: string; features: { id: string }[] }
      expect([type, new Set(features.map(({ id }) => id)).size]).toEqual(['FeatureCollection', ALL.length])
    }
    const none = await fetch(`${service.url}${EXPORT}?f=geojson&prover=${addressOf(0xabcdef)}`)
    expect(await none.json()).toEqual({ type: 'FeatureCollection', features: [] })
  })

  it('return CSV with the members of the records as columns', async () => {
    const response = await fetch(`${service.url}${EXPORT}?f=csv`)
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    const [head, ...rows] = parseCsv(await response.text())
    expect(rows.length).toBe(ALL.length)
    const lines = (await (await fetch(service.url + EXPORT)).text()).split('\n').slice(0, -1)
    const [first] = lines.map((line) => JSON.parse(line))
    expect(head).toEqual(Object.keys(first))
    for (const [index, line] of lines.entries()) {
      const fields = Object.values(JSON.parse(line)).map((value) =>
        value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value),
      )
      // A lone surrogate has no UTF-8.
      expect(rows[index]).toEqual(fields.map((field) => Buffer.from(field).toString()))
    }
    const none = await fetch(`${service.url}${EXPORT}?f=csv&prover=${addressOf(0xabcdef)}`)
    expect(parseCsv(await none.text())).toEqual([head])
  })

  it('answer HEAD without a body', async () => {
    const response = await fetch(service.url + EXPORT, { method: 'HEAD' })
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/x-ndjson; charset=utf-8',
    ])
    expect((await fetch(`${service.url}/health`)).status).toBe(200)
  })

  it.each([
    ['limit=5', 'Invalid limit parameter'],
    ['offset=5', 'Invalid offset parameter'],
    ['cursor=abc', 'Invalid cursor parameter'],
    ['f=kml', 'Invalid f parameter'],
    ['chain=bitcoin', 'Invalid chain parameter'],
    ['bbox=1', 'Invalid bbox format'],
    ['chain=celo&chain=celo', 'Duplicate parameter'],
  ])('reject %s before they begin', async (query, message) => {
    const response = await fetch(`${service.url}${EXPORT}?${query}`)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ status: 'error', message })
  })

  it('lose their place to another client when they are not read', async () => {
    const few = await startRecordService(
      engine,
      { HTTP_ADAPTER: adapter, MAX_EXPORTS: '1', REQUEST_DEADLINE_MS: '120000', ...NO_LOCAL_CALLERS },
      ALL,
    )
    try {
      const stalled = await openUnread(few.url + EXPORT)
      const ended = new Promise((resolve) => stalled.once('close', () => resolve(stalled.complete)))
      const headers = { 'X-API-Key': few.internalKey }
      const refused = await fetch(few.url + EXPORT, { headers })
      expect([refused.status, ((await refused.json()) as { detail: string }).detail]).toEqual([
        503,
        '1 exports are running; try again',
      ])
      await eventually(
        async () => {
          const other = await fetch(few.url + EXPORT, { headers })
          expect([other.status, (await other.text()).split('\n').length - 1]).toEqual([200, ALL.length])
        },
        { timeout: 60_000, interval: 500 },
      )
      stalled.resume()
      expect(await ended).toBe(false)
    } finally {
      await few.remove()
    }
  })

  it('wait for a client that does not read, are rejected beyond its share, and end when it never reads', async () => {
    // Far more than the socket buffers hold: the remaining records wait in the database.
    const stalled = [await openUnread(service.url + EXPORT), await openUnread(`${service.url}${EXPORT}?f=fgb`)]
    const rejected = await fetch(service.url + EXPORT)
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '3'])
    expect(await rejected.json()).toMatchObject({
      status: 'error',
      message: 'Records are not available',
      detail: '2 exports of this client are running; read one to its end, or cancel it',
    })
    const other = await fetch(service.url + EXPORT, { headers: { 'X-API-Key': service.internalKey } })
    expect([other.status, (await other.text()).split('\n').length - 1]).toEqual([200, ALL.length])
    // One client disconnects, and the other's export is aborted after the request deadline.
    stalled[0]!.destroy()
    await until(async () => (await read(service.url + EXPORT)).status === 200)
    await eventually(async () => {
      const [one, other] = await Promise.all([read(service.url + EXPORT), read(service.url + EXPORT)])
      expect([one.status, other.status, one.lines]).toEqual([200, 200, ALL.length])
    })
    const ending = await new Promise<string>((resolve) => {
      stalled[1]!.on('close', () => resolve(stalled[1]!.complete ? 'complete' : 'broken'))
      stalled[1]!.resume()
    })
    expect(ending).toBe('broken')
  })
})

/** Begins a request, and reads nothing of the body until the response is resumed. */
function openUnread(url: string): Promise<IncomingMessage> {
  return new Promise((resolve) => {
    httpGet(url, { agent: false }, (response) => {
      response.on('error', () => {})
      response.pause()
      resolve(response)
    })
  })
}

/** Reads CSV as RFC 4180 defines it. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!)
    if (end === '\r\n') rows.push([])
  }
  expect(rows.pop()).toEqual([])
  return rows
}

async function read(url: string): Promise<{ status: number; lines: number }> {
  const response = await fetch(url)
  return { status: response.status, lines: (await response.text()).split('\n').length - 1 }
}

describe.each(ENGINES_AND_ADAPTERS)('streams of changes on %s behind %s', (engine, adapter) => {
  let service: RecordService
  let next = 0

  beforeAll(async () => {
    service = await startRecordService(
      engine,
      {
        HTTP_ADAPTER: adapter,
        STREAM_POLL_MS: '20',
        REQUEST_DEADLINE_MS: '1500',
        DRAIN_TIMEOUT_MS: '600000', // a shutdown that waited for the streams would never end
        MAX_STREAMS: '12',
        MAX_STREAMS_PER_CLIENT: '10',
      },
      WORLD.slice(0, 50),
    )
  })
  afterAll(() => service.remove())

  const chainEvent = (event: ServerEvent) => `${event.event} ${event.data.uid}`

  it('begin with the id to resume from, and send no events for existing records', async () => {
    const stream = await openStream(service.url)
    expect(stream.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    expect(stream.headers['x-accel-buffering']).toBe('no')
    await until(() => stream.lastId !== '')
    expect(stream.lastId).toMatch(/^[0-9a-f]{12}-\d+-\d+$/)
    await until(() => stream.heartbeats > 1)
    expect(stream.events).toEqual([])
    stream.close()
  })

  it('stay open without events for longer than the request deadline', async () => {
    const stream = await openStream(service.url)
    // A heartbeat comes every half second, a third of the request deadline.
    await until(() => stream.heartbeats > 6)
    expect(stream.isOpen).toBe(true)
    stream.close()
  })

  it.each([
    '?bbox=1,2,3,4',
    '?limit=5',
    '?chain=bitcoin',
    '?prover=1',
    '?lastEventId=1',
    '?lastEventId=a&lastEventId=b',
  ])('reject %s', async (query) => {
    const response = await fetch(service.url + STREAM + query)
    expect(response.status).toBe(400)
    expect((await response.json()) as object).toMatchObject({ status: 'error' })
  })

  it('reject an invalid Last-Event-ID', async () => {
    const response = await fetch(service.url + STREAM, { headers: { 'last-event-id': '12' } })
    expect(response.status).toBe(400)
    expect((await response.json()) as object).toMatchObject({ message: 'Invalid Last-Event-ID' })
  })

  it('reject more streams than MAX_STREAMS_PER_CLIENT, and accept one again after others close', async () => {
    const streams = await Promise.all(Array.from({ length: 10 }, () => openStream(service.url)))
    const rejected = await fetch(service.url + STREAM)
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '1'])
    await rejected.text()
    for (const stream of streams) stream.close()
    await until(async () => {
      const stream = await openStream(service.url).catch(() => undefined)
      stream?.close()
      return stream !== undefined
    })
  })

  // Changes from another process need a PostgreSQL server: only one process can open the embedded engine. Its streams are
  // tested within one process, in record-feeds.test.ts.
  if (engine === 'embedded') console.warn('skipped on embedded: changes from another process')
  describe.skipIf(engine === 'embedded')('while records change', () => {
    const write = async (change: Parameters<ReturnType<typeof createRecordStore>['apply']>[0]) => {
      const database = await service.files.open()
      await createRecordStore(database, () => '2026-01-01T00:00:00.000Z').apply(change)
      await database.close()
    }
    const fresh = (chainId: number, chain: string, count: number) =>
      Array.from({ length: count }, () => ({
        ...WORLD[100]!,
        uid: uidOf(1_000_000 + next++),
        chainId,
        chain,
        blockNumber: 2_000_000_000 + next,
      }))

    it('send new, revoked and rolled-back records to every client', async () => {
      const streams = [await openStream(service.url), await openStream(service.url)]
      const [first, second] = fresh(84532, 'base-sepolia', 2)
      await write({ chainId: 84532, records: [first!, second!], revocations: [] })
      await write({ chainId: 84532, records: [], revocations: [{ uid: first!.uid, blockNumber: 2_100_000_000 }] })
      await write({ chainId: 84532, rollBackTo: first!.blockNumber, records: [], revocations: [] })
      for (const stream of streams) {
        await until(() => stream.events.length >= 5)
        expect(stream.events.map(chainEvent)).toEqual([
          `new ${first!.uid}`,
          `new ${second!.uid}`,
          `revoked ${first!.uid}`,
          `rolled-back ${second!.uid}`,
          `restored ${first!.uid}`,
        ])
        stream.close()
      }
    })

    it('resume after the last event of a client, whatever it missed, and never send an event twice', async () => {
      const before = await openStream(service.url)
      const [one] = fresh(42220, 'celo', 1)
      await write({ chainId: 42220, records: [one!], revocations: [] })
      await until(() => before.events.length === 1)
      before.close()
      const missed = fresh(42220, 'celo', 700)
      await write({ chainId: 42220, records: missed, revocations: [] })
      for (const options of [{ header: before.lastId }, { parameter: before.lastId }]) {
        const after = await openStream(service.url, options)
        await until(() => after.events.length >= 700)
        const [later] = fresh(42220, 'celo', 1)
        await write({ chainId: 42220, records: [later!], revocations: [] })
        await until(() => after.events.at(-1)!.data.uid === later!.uid)
        const uids = after.events.map(({ data }) => data.uid)
        expect(uids.slice(0, 700)).toEqual(missed.map(({ uid }) => uid))
        expect(new Set(uids).size).toBe(uids.length)
        after.close()
      }
      // Resume in the middle of one range.
      const whole = await openStream(service.url, { header: before.lastId })
      await until(() => whole.events.length >= 700)
      whole.close()
      const middle = await openStream(service.url, { header: whole.events[299]!.id })
      await until(() => middle.events.length >= 400)
      expect(middle.events[0]!.id).toBe(whole.events[300]!.id)
      middle.close()
    })

    it('send only events that match the filters', async () => {
      const [other] = fresh(42161, 'arbitrum', 1)
      const matching = { ...fresh(42161, 'arbitrum', 1)[0]!, prover: addressOf(4242), subject: addressOf(4343) }
      const streams = await Promise.all(
        ['chain=arbitrum', `prover=${addressOf(4242)}`, `subject=${addressOf(4343)}`, `chain=celo`].map((query) =>
          openStream(service.url, { query }),
        ),
      )
      await write({ chainId: 42161, records: [other!, matching], revocations: [] })
      await until(
        () => streams[0]!.events.length === 2 && streams[1]!.events.length === 1 && streams[2]!.events.length === 1,
      )
      expect(streams[1]!.events[0]!.data.uid).toBe(matching.uid)
      expect(streams[3]!.events).toEqual([])
      for (const stream of streams) stream.close()
    })

    it('send a reset when they cannot resume from an id of another database', async () => {
      const stream = await openStream(service.url, { header: '0123456789ab-5-7' })
      await until(() => stream.events.length === 1)
      expect(stream.events[0]!.event).toBe('reset')
      expect(stream.events[0]!.id).toBe(stream.lastId)
      const [record] = fresh(42220, 'celo', 1)
      await write({ chainId: 42220, records: [record!], revocations: [] })
      await until(() => stream.events.length === 2)
      stream.close()
    })
  })

  it('end at once when the service stops', async () => {
    const stream = await openStream(service.url)
    const stopped = service.stop()
    await until(() => !stream.isOpen)
    expect(await stopped).toBe(0)
  })
})

interface ServerEvent {
  readonly event: string
  readonly id: string
  // biome-ignore lint/suspicious/noExplicitAny: the tests read any member of an event
  readonly data: any
}

interface Place {
  readonly header?: string
  readonly parameter?: string
  readonly query?: string
}

/** Reads a stream of Server-Sent Events as the HTML standard (9.2.6) defines, without a browser. */
async function openStream(url: string, { header, parameter, query = '' }: Place = {}) {
  const search = parameter === undefined ? query : `lastEventId=${parameter}`
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = httpGet(`${url}${STREAM}?${search}`, {
      agent: false,
      headers: header === undefined ? {} : { 'last-event-id': header },
    })
    request.on('response', resolve)
    request.on('error', reject)
  })
  if (response.statusCode !== 200) {
    response.destroy()
    throw new Error(`status ${response.statusCode}`)
  }
  const stream = {
    headers: response.headers,
    events: [] as ServerEvent[],
    heartbeats: 0,
    lastId: '',
    isOpen: true,
    close: () => void response.destroy(),
  }
  response.on('error', () => {})
  response.on('close', () => {
    stream.isOpen = false
  })
  let text = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = Object.fromEntries(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      )
      text = text.slice(end + 2)
      if (fields['id'] !== undefined) stream.lastId = fields['id']
      if (fields['data'] === undefined) stream.heartbeats++
      else stream.events.push({ event: fields['event']!, id: fields['id']!, data: JSON.parse(fields['data']) })
    }
  })
  await new Promise((resolve) => response.once('data', resolve))
  return stream
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(async () => {
    if (!(await isTrue())) throw new Error(`waited in vain for ${isTrue}`)
  })
}
