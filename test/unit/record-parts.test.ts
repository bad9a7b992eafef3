import { describe, expect, it } from 'vitest'
import { chainTable } from '../../src/attest/chains.ts'
import { LruCache } from '../../src/base/lru-cache.ts'
import { readConfig } from '../../src/config/config.ts'
import { featureText, parseGeometry } from '../../src/service/records/documents.ts'
import { createOgcService } from '../../src/service/records/ogc.ts'
import { RecordApi } from '../../src/service/records/records.ts'
import type { StoreAccess } from '../../src/service/records/store-access.ts'
import type { Row } from '../../src/store/database.ts'
import { searchBoxes } from '../../src/store/records/conditions.ts'
import { readCounters } from '../../src/store/records/counters.ts'
import { serializeRecord, setRevoked } from '../../src/store/records/writes.ts'
import { readItemsQuery } from '../../src/validation/ogc-query.ts'
import { encodeCursor, readRecordQuery, readTimestamp } from '../../src/validation/record-query.ts'
import type { LocationRecord, RecordQuery } from '../../src/wire/store-messages.ts'
import { recordOf, uidOf } from '../store-records.ts'

describe('a timestamp', () => {
  // Expected: Date.parse of the same moment in the one format that its specification defines.
  it.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31t12:00:00.5z', '2026-01-31T12:00:00.500Z'],
    ['2026-01-31T12:00:00,25Z', '2026-01-31T12:00:00.250Z'],
    ['2026-01-31T12:00:00+02:00', '2026-01-31T10:00:00.000Z'],
    ['2026-01-31T12:00:00 02:00', '2026-01-31T10:00:00.000Z'],
    ['2026-01-31T12:00:00-0530', '2026-01-31T17:30:00.000Z'],
    ['2026-01-31T24:00:00Z', '2026-02-01T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, iso) => {
    expect(readTimestamp(text)).toBe(Date.parse(iso))
  })

  it.each([
    '',
    'now',
    '2026',
    '2026-1-1',
    '2026-13-01',
    '2026-00-10',
    '2026-02-29',
    '2026-04-31',
    '2026-01-01T25:00',
    '2026-01-01T24:00:01Z',
    '2026-01-01T12:60',
    '2026-01-01T12:00:60Z',
    '2026-01-01T12',
    '1700000000',
    '+2026-01-01',
    '2026-01-01Z',
    '2026-01-01T12:00:00+24:00',
    '2026-01-01T12:00:00.1234567890Z',
    ' 2026-01-01',
    '2026-01-01\n',
    '２０２６-01-01',
    'Infinity',
    'NaN',
    '2026-01-01T12:00:00+0',
    '20260101',
  ])('does not parse %j', (text) => {
    expect(readTimestamp(text)).toBeUndefined()
  })
})

describe('the parameters of a list request', () => {
  const chains = new Map([['celo', 42220]])
  const read = (search: string) => readRecordQuery(search, chains)

  it('have defaults, and unknown ones are ignored', () => {
    expect(read('').query).toEqual({ limit: 100, offset: 0 })
    expect(read('&&x=1&x=2&=&Chain=foo').query).toEqual({ limit: 100, offset: 0 })
  })

  it('round a time span inwards to whole seconds', () => {
    const { query } = read('fromTimestamp=1970-01-01T00:00:01.001Z&toTimestamp=1970-01-01T00:00:09.999Z')
    expect(query).toMatchObject({ fromSeconds: 2, toSeconds: 9 })
  })

  it('continue after a record, at its index in the list', () => {
    const after = { timeSeconds: 5, uid: uidOf(7), chainId: 42220 }
    expect(read(`cursor=${encodeCursor(after, 40)}&offset=3`).query).toEqual({ limit: 100, offset: 40, after })
  })

  it('are repeated for the next page, except those that select the page', () => {
    const { filters } = read('limit=5&offset=6&chain=celo&bbox[]=1&bbox[]=2&bbox[]=3&bbox[]=4')
    expect(filters).toEqual([
      ['chain', 'celo'],
      ['bbox', '1,2,3,4'],
    ])
  })
})

describe('the box of a request for features', () => {
  const EPSG_3857 = 'http://www.opengis.net/def/crs/EPSG/0/3857'
  const box = (bbox: string, crs?: string) =>
    readItemsQuery(`bbox=${bbox}${crs === undefined ? '' : `&bbox-crs=${crs}`}`, new Map()).query.bbox

  it('may have heights, which are ignored', () => {
    expect(box('1,2,-100,3,4,9e3')).toEqual([1, 2, 3, 4])
    expect(box('1,2,%20.5,3,4,%2B5.')).toEqual([1, 2, 3, 4])
  })

  // Regression: heights and metres were read by Number(), which accepts more than decimal numbers.
  it.each(['0x10', 'Infinity', '', '%20', '1_0', '0b1', '1e999', '1e', 'null'])('has no height %j', (height) => {
    expect(() => box(`1,2,0,3,4,${height}`)).toThrow(/the third and the sixth are heights/)
    expect(() => box(`1,2,${height},3,4,1e9`)).toThrow(/the third and the sixth are heights/)
  })

  it('is in decimal metres on the Mercator projection', () => {
    const [west, south, east, north] = box('0,0,1e6,16.', EPSG_3857)!
    expect([west, south]).toEqual([0, 0])
    expect(east).toBeCloseTo((1e6 / 6_378_137) * (180 / Math.PI), 12)
    expect(north).toBeCloseTo((16 / 6_378_137) * (180 / Math.PI), 12)
    for (const metres of ['0x10', 'Infinity', '', '1_0']) {
      expect(() => box(`0,0,1e6,${metres}`, EPSG_3857), metres).toThrow(/is not a number/)
      expect(() => box(`0,0,${metres},16`, EPSG_3857), metres).toThrow(/is not a number/)
    }
  })
})

describe('a serialised record', () => {
  const hostile = '"revoked":false,"created_at":"x","updated_at":"y"}\\",\u0000\udfff'
  const document = serializeRecord(recordOf(1, { memo: hostile, chain: hostile }), '2026-01-01T00:00:00.000Z')

  it('is JSON that preserves every value', () => {
    expect(JSON.parse(document)).toMatchObject({ memo: hostile, chain: hostile, revoked: false })
    // It contains nothing that a text column rejects.
    expect(document).not.toContain('\u0000')
    expect(Buffer.from(document).toString()).toBe(document)
  })

  it('changes only at its end when the record is revoked', () => {
    const revoked = setRevoked(document, true, '2026-02-02T00:00:00.000Z')
    const expected = { ...JSON.parse(document), revoked: true, updated_at: '2026-02-02T00:00:00.000Z' }
    expect(JSON.parse(revoked)).toEqual(expected)
    expect(setRevoked(revoked, false, '2026-01-01T00:00:00.000Z')).toBe(document)
  })

  it.each([-1, Number.NaN, 253_402_300_800])('throws for a time of %s s', (timeSeconds) => {
    expect(() => serializeRecord(recordOf(1, { timeSeconds }), '')).toThrow(/not a time between 1970 and 9999/)
  })
})

describe('the search boxes for stored bounds', () => {
  it('are one turn apart, as far as bounds can reach', () => {
    expect(searchBoxes([10, 0, 20, 5])).toEqual([
      [10, 0, 20, 5],
      [370, 0, 380, 5],
    ])
    expect(searchBoxes([170, 0, -170, 5])).toEqual([
      [170, 0, 190, 5],
      [530, 0, 550, 5],
      [-190, 0, -170, 5],
    ])
    expect(searchBoxes([-180, -90, 180, 90])).toEqual([[-180, -90, 540, 90]])
  })
})

describe('the version tag of the records', () => {
  const tagOf = async (rows: readonly Row[]) => (await readCounters({ query: async () => rows })).versionTag

  it('changes with each write, and between states of equal version, as after a failover', async () => {
    const row = { chain: '1', records: 2, revoked: 0, version: 2, journal_position: 'epoch 2' }
    const tags = [
      await tagOf([row]),
      await tagOf([{ ...row, version: 3 }]),
      await tagOf([{ ...row, journal_position: 'epoch 2 other' }]),
      await tagOf([row, { ...row, chain: '2', version: 1 }, { ...row, chain: '3', version: 1 }]),
      await tagOf([]),
    ]
    expect(new Set(tags).size).toBe(tags.length)
    expect(await tagOf([row])).toBe(tags[0])
  })
})

describe('an LRU cache with a weight limit', () => {
  it('evicts the least recently used value, and weighs a value again when it changes', () => {
    const map = new LruCache<string>(10, (text) => text.length)
    map.set('a', '1234')
    map.set('b', '1234')
    expect(map.get('a')).toBe('1234')
    map.set('c', '12')
    map.set('d', '1')
    expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual(['1234', undefined, '12', '1'])
    map.set('a', '123456789')
    expect(['a', 'c', 'd'].map((key) => map.get(key))).toEqual(['123456789', undefined, '1'])
    map.set('a', 'x'.repeat(11))
    expect(map.get('a')).toBeUndefined()
  })
})

describe('pages of records by links', () => {
  const LIMIT = 10
  const context = { client: undefined, aborted: false, deadlineMs: Number.POSITIVE_INFINITY }
  const config = readConfig({}, 1)
  const chains = chainTable(config)

  /** Follows the links of a list, and calls `change` after the first page. */
  async function follow(list: 'records' | 'features', count: number, change: (records: LocationRecord[]) => void) {
    const records = Array.from({ length: count }, (_, index) => recordOf(count - index))
    const page = ({ after, offset, limit }: RecordQuery) => {
      const start = after === undefined ? offset : records.findIndex(({ uid }) => uid < after.uid)
      const listed = start < 0 ? [] : records.slice(start, start + limit)
      const documents = listed.map((record) => serializeRecord(record, '2026-01-01T00:00:00.000Z')).join(',')
      return { documents, length: listed.length, count: records.length }
    }
    const newPage = ({ query }: { query: RecordQuery }) => {
      const { documents, ...numbers } = page(query)
      return { versionTag: '', page: { ...numbers, documents: new TextEncoder().encode(documents) } }
    }
    const ask = (async (operation: 'page' | 'newPage', argument: never) =>
      ({ page, newPage })[operation](argument)) as unknown as StoreAccess
    const parts = { config, chains, ask, askPatiently: ask, now: Date.now, version: '' }
    const api = new RecordApi(parts)
    const ogc = createOgcService({ ...parts, pageBytes: 1 })
    const seen: string[] = []
    const lengths: number[] = []
    let search: string | undefined = `limit=${LIMIT}`
    while (search !== undefined) {
      const { json, headers }: { json: Uint8Array | string; headers?: Record<string, string> } =
        list === 'records'
          ? await api.list('location-records', search, '', context)
          : await ogc.items('location-records', { search, baseUrl: '', context, format: 'json' })
      const uids = [
        ...Buffer.from(json)
          .toString()
          .matchAll(/"uid":"(0x[0-9a-f]{64})"/g),
      ].map(([, uid]) => uid!)
      seen.push(...uids)
      lengths.push(uids.length)
      search = /[?]([^>]*)>/.exec(headers?.['Link'] ?? '')?.[1]
      if (lengths.length === 1) change(records)
    }
    return { seen, lengths, records }
  }

  it.each(['records', 'features'] as const)('end with the last record: %s', async (list) => {
    for (const count of [0, 1, 10, 11, 20, 25, 30]) {
      const { seen, lengths, records } = await follow(list, count, () => {})
      expect(seen).toEqual(records.map(({ uid }) => uid))
      expect(lengths).toHaveLength(Math.max(1, Math.ceil(count / LIMIT)))
    }
  })

  it.each(['records', 'features'] as const)(
    'hold every record that stays when others are removed: %s',
    async (list) => {
      for (let removed = 0; removed <= LIMIT; removed++) {
        const { seen, records } = await follow(list, 35, (all) => all.splice(0, removed))
        expect(seen.slice(LIMIT)).toEqual(records.slice(LIMIT - removed).map(({ uid }) => uid))
      }
    },
  )
})

describe('a feature', () => {
  const featureWith = (location: string) =>
    JSON.parse(featureText(serializeRecord({ ...recordOf(1), location }, '2026-01-01T00:00:00.000Z')))

  it.each([
    '{"type":"Point","coordinates":[1,-2.5]}',
    '{"type":"Point","coordinates":[-0.000001,89.99,8848.86]}',
    '{"type":"Point","coordinates":[1e-7,2]}',
    '{"type":"MultiPoint","coordinates":[[1,2],[3,4,5,6]]}',
    '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]],[[0.1,0.1],[0.2,0.1],[0.2,0.2],[0.1,0.1]]]}',
    '{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]],[[[5,5],[6,5],[6,6],[5,5]]]]}',
    '{"type":"MultiPolygon","coordinates":[]}',
    '{"type":"Polygon","coordinates":[[]]}',
    '{"type":"LineString","coordinates":[[1,2], [3,4]]}',
    '{"type":"LineString","coordinates":[[1,2],[3,4]],"bbox":[1,2,3,4]}',
    '{"coordinates":[1,2],"type":"Point"}',
    '{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]}]}',
  ])('has the geometry %s without foreign members', (location) => {
    expect(featureWith(location).geometry).toEqual(parseGeometry(location))
    expect(parseGeometry(location)).toBeDefined()
  })

  it.each([
    '{"type":"Point","coordinates":[1]}',
    '{"type":"Point","coordinates":[1,2,3,4,5]}',
    '{"type":"Point","coordinates":[01,2]}',
    '{"type":"Point","coordinates":[1.,2]}',
    '{"type":"Point","coordinates":[.5,2]}',
    '{"type":"Point","coordinates":[-,2]}',
    '{"type":"Point","coordinates":[1,2]',
    '{"type":"Point","coordinates":[1,2]}}',
    '{"type":"Point","coordinates":[1,2],}',
    '{"type":"Point","coordinates":[1,2]},"longitude":null,"x":"',
    '{"type":"Point","coordinates":[[1,2]]}',
    '{"type":"LineString","coordinates":[1,2]}',
    '{"type":"LineString","coordinates":[[1,2],[3,4]]]}',
    '{"type":"LineString","coordinates":[[1,2][3,4]]}',
    '{"type":"Curve","coordinates":[1,2]}',
    'Paris',
  ])('has no geometry if its location is %s', (location) => {
    expect(featureWith(location).geometry).toBeNull()
  })
})

describe('the time of building a page for people', () => {
  const document = serializeRecord(recordOf(1), '2026-01-01T00:00:00.000Z')
  const documents = new TextEncoder().encode(document)
  let isKnown = false
  const answers = {
    newPage: () => ({ versionTag: '', page: isKnown ? undefined : { length: 1, count: 1, documents } }),
    record: () => document,
  }
  const ask = (async (operation: keyof typeof answers) => answers[operation]()) as unknown as StoreAccess
  const ogc = createOgcService({ chains: chainTable(readConfig({}, 1)), ask, now: Date.now, version: '', pageBytes: 1 })
  let charges = 0
  const costs = { charge: () => void charges++ }
  const context = { client: 'one', aborted: false, deadlineMs: Number.POSITIVE_INFINITY, costs }
  const request = { search: '', baseUrl: '', context, format: 'html' } as const

  it('is charged, also for a page whose features are in the cache', async () => {
    await ogc.items('location-records', request)
    isKnown = true
    charges = 0
    expect((await ogc.items('location-records', request)).json).toContain('<table>')
    // Reading the properties, and building the page.
    expect(charges).toBe(2)
  })

  it('is charged for one feature', async () => {
    charges = 0
    expect((await ogc.item('location-records', uidOf(1), request)).json).toContain('<table')
    expect(charges).toBe(1)
  })
})
