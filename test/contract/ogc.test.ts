import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordWorld } from '../../bench/record-world.ts'
import type { LocationRecord } from '../../src/wire/store-messages.ts'
import { GDAL, gdal } from '../gdal.ts'
import { ENGINES_AND_ADAPTERS, type RecordService, startRecordService } from '../record-service.ts'
import { addressOf, recordOf, uidOf } from '../store-records.ts'

const POLYGON = '{"type":"Polygon","coordinates":[[[10.5,50.5],[11.5,50.5],[11.5,51.5],[10.5,51.5],[10.5,50.5]]]}'
const LATEST = 1_800_000_000
const ODD: readonly LocationRecord[] = [
  recordOf(1, { location: POLYGON, locationType: 'geojson-polygon', longitude: null, latitude: null }),
  // A location that is not GeoJSON, one of a type that is not a geometry, and one with foreign members.
  recordOf(2, { location: 'somewhere', longitude: null, latitude: null }),
  recordOf(3, { location: '{"type":"Point","coordinates":["1","2"]}', longitude: null, latitude: null }),
  recordOf(4, { location: '{"type":"Point","coordinates":[7,8],"crs":{"a":1},"type2":{}}' }),
  recordOf(5, {
    location: '{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2,3]}]}',
    memo: '","location":"{\\"type\\":\\"Point\\"}","longitude":1,{"uid":"0x00',
  }),
].map((record, index) => ({ ...record, timeSeconds: LATEST + index, prover: addressOf(77) }))
const WORLD = [...recordWorld({ seed: 11, count: 3000, newestSeconds: LATEST - 1, spanDays: 365 })]
const ALL = [...WORLD, ...ODD]
const PAGE = '/ogc/collections/location-records/items'

describe.each(ENGINES_AND_ADAPTERS)('OGC API Features on %s behind %s', (engine, adapter) => {
  let service: RecordService

  beforeAll(async () => {
    service = await startRecordService(engine, { HTTP_ADAPTER: adapter }, ALL, (store) =>
      store.apply({ chainId: 84532, records: [], revocations: [{ uid: uidOf(4), blockNumber: 5000 }] }),
    )
  })
  afterAll(() => service.remove())

  async function get(path: string, type: string, status = 200) {
    const response = await fetch(path.startsWith('http') ? path : service.url + path)
    // biome-ignore lint/suspicious/noExplicitAny: the tests read any member of the body
    const body = (await response.json()) as any
    expect([response.status, body.detail]).toEqual([status, body.detail])
    expect(response.headers.get('content-type')).toMatch(new RegExp(`^${type.replace(/[.+/]/g, '\\$&')}(;|$)`))
    return { body, headers: response.headers }
  }
  const items = async (query: string) => (await get(`${PAGE}?${query}`, 'application/geo+json')).body

  it("links from the landing page to every resource, each of its link's media type", async () => {
    const { body } = await get('/ogc', 'application/json')
    const rels = Object.fromEntries(body.links.map((link: { rel: string }) => [link.rel, link]))
    expect(Object.keys(rels).sort()).toEqual(['conformance', 'data', 'self', 'service-desc'])
    for (const { href, type } of Object.values(rels) as { href: string; type: string }[]) {
      await get(href, type.split(';')[0]!)
    }
    const { body: classes } = await get(rels['conformance'].href, 'application/json')
    expect(classes.conformsTo).toEqual(
      ['core', 'oas30', 'geojson'].map((name) => `http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/${name}`),
    )
    const { body: collections } = await get(rels['data'].href, 'application/json')
    const [collection] = collections.collections
    expect((await get(`/ogc/collections/${collection.id}`, 'application/json')).body).toEqual(collection)
    const link = collection.links.find(({ rel }: { rel: string }) => rel === 'items')
    expect((await get(`${link.href}?limit=1`, link.type)).body.features).toHaveLength(1)
  })

  it('describes in OpenAPI 3.0 exactly the paths and parameters that it supports', async () => {
    const { body } = await get('/ogc/api', 'application/vnd.oai.openapi+json')
    expect(body.openapi).toMatch(/^3\.0\./)
    expect(body.servers).toEqual([{ url: `${service.url}/ogc` }])
    for (const path of Object.keys(body.paths)) {
      const url = `${body.servers[0].url}${path.replace('{featureId}', uidOf(1))}`
      expect((await fetch(url)).status, url).toBe(200)
      const known = body.paths[path].get.parameters.filter((parameter: { in: string }) => parameter.in === 'query')
      const { body: refusal } = await get(`${url}?frobnicate=1`, 'application/json', 400)
      expect(refusal.description).toBe(
        `Unknown parameter: "frobnicate"; supported parameters: ${known.map(({ name }: { name: string }) => name).join(', ')}`,
      )
    }
  })

  it('returns records as features, newest first', async () => {
    const body = await items('limit=5')
    expect(body).toMatchObject({ type: 'FeatureCollection', numberMatched: ALL.length, numberReturned: 5 })
    expect(Number.isNaN(Date.parse(body.timeStamp))).toBe(false)
    expect(body.features.map(({ id }: { id: string }) => id)).toEqual([5, 4, 3, 2, 1].map(uidOf))
    const [collection, revoked, notGeoJson, noText, polygon] = body.features
    expect(polygon).toMatchObject({ type: 'Feature', geometry: JSON.parse(POLYGON) })
    expect(polygon.properties).toEqual({
      ...((await (await fetch(`${service.url}/api/v0/location-records/${uidOf(1)}`)).json()) as object),
      location: undefined,
    })
    expect([notGeoJson.geometry, noText.geometry]).toEqual([null, null])
    expect(revoked.geometry).toEqual({ type: 'Point', coordinates: [7, 8] })
    expect(revoked.properties.revoked).toBe(true)
    expect(collection.geometry.geometries).toEqual([{ type: 'Point', coordinates: [1, 2, 3] }])
    expect(collection.properties.memo).toBe(ODD[4]!.memo)
  })

  it('returns one feature by its UID', async () => {
    const { body } = await get(`${PAGE}/${uidOf(1)}`, 'application/geo+json')
    expect(body).toMatchObject({ type: 'Feature', id: uidOf(1), geometry: JSON.parse(POLYGON) })
    expect(body.links.map(({ rel }: { rel: string }) => rel)).toEqual(['self', 'collection'])
    expect((await get(body.links[0].href, 'application/geo+json')).body).toEqual(body)
  })

  it.each(['', 'bbox=-20,-40,60,70&', 'datetime=2026-09-01/..&chain=celo&', `prover=${addressOf(77)}&`])(
    'pages through ?%s by next links, each feature once',
    async (filter) => {
      const list = await fetch(`${service.url}/api/v0/location-records?${listFilter(filter)}limit=1000`)
      const { count } = (await list.json()) as { count: number }
      const seen = new Set<string>()
      let next: string | undefined = `${service.url}${PAGE}?${filter}limit=170`
      let pages = 0
      while (next !== undefined) {
        const { body } = await get(next, 'application/geo+json')
        expect(body.numberMatched).toBe(count)
        for (const { id } of body.features) seen.add(id)
        next = body.links.find(({ rel }: { rel: string }) => rel === 'next')?.href
        pages++
      }
      expect(seen.size).toBe(count)
      expect(pages).toBe(Math.max(1, Math.ceil(count / 170)))
    },
  )

  it.each([
    [
      '2026-09-01T00:00:00Z/2026-09-30T23:59:59Z',
      'fromTimestamp=2026-09-01T00:00:00Z&toTimestamp=2026-09-30T23:59:59Z',
    ],
    ['2026-09-01/2026-09-30', 'fromTimestamp=2026-09-01T00:00:00Z&toTimestamp=2026-09-30T23:59:59Z'],
    ['2026-09-05', 'fromTimestamp=2026-09-05T00:00:00Z&toTimestamp=2026-09-05T23:59:59Z'],
    ['2026-09-01T00:00:00%2B02:00/..', 'fromTimestamp=2026-08-31T22:00:00Z'],
    ['/2026-09-01T00:00:00Z', 'toTimestamp=2026-09-01T00:00:00Z'],
    ['../2026-09-01', 'toTimestamp=2026-09-01T23:59:59Z'],
  ])('understands datetime=%s', async (datetime, list) => {
    const expected = (await (await fetch(`${service.url}/api/v0/location-records?${list}`)).json()) as { count: number }
    expect(expected.count).toBeGreaterThan(0)
    expect((await items(`datetime=${datetime}`)).numberMatched).toBe(expected.count)
  })

  it('treats an instant as exactly that time', async () => {
    const { properties } = (await items('limit=1&chain=celo')).features[0]
    const body = await items(`datetime=${properties.event_timestamp}`)
    expect(body.features.map(({ id }: { id: string }) => id)).toContain(properties.uid)
    expect((await items(`datetime=${properties.event_timestamp.replace('.000Z', '.500Z')}`)).numberMatched).toBe(0)
  })

  it('reads boxes of four or six numbers, and boxes across the antimeridian', async () => {
    const flat = await items('bbox=-20,-40,60,70')
    expect(flat.numberMatched).toBeGreaterThan(100)
    expect((await items('bbox=-20,-40,-100,60,70,9000')).numberMatched).toBe(flat.numberMatched)
    const across = await items('bbox=170,-90,-170,90')
    const [east, west] = [await items('bbox=170,-90,180,90'), await items('bbox=-180,-90,-170,90')]
    expect(across.numberMatched).toBeGreaterThanOrEqual(Math.max(east.numberMatched, west.numberMatched))
    expect(across.numberMatched).toBeLessThanOrEqual(east.numberMatched + west.numberMatched)
  })

  it('returns the largest page for any larger limit', async () => {
    const body = await items('limit=1000000')
    expect(body.numberReturned).toBe(1000)
  })

  it.each([
    ['items?bbox=1,2,3', 'Invalid bbox format'],
    ['items?bbox=1,2,9,3,4,5', 'Invalid bbox format'],
    ['items?bbox=1,2,x,3,4,5', 'Invalid bbox format'],
    ['items?bbox=0,10,1,5', 'Invalid bbox format'],
    ['items?datetime=yesterday', 'Invalid datetime parameter'],
    ['items?datetime=../..', 'Invalid datetime parameter'],
    ['items?datetime=', 'Invalid datetime parameter'],
    ['items?datetime=2026-02-30', 'Invalid datetime parameter'],
    ['items?datetime=2026-02-01/2026-01-01', 'Invalid datetime parameter'],
    ['items?datetime=2026-01-01/2026-01-02/2026-01-03', 'Invalid datetime parameter'],
    ['items?limit=0', 'Invalid limit parameter'],
    ['items?limit=-1', 'Invalid limit parameter'],
    ['items?limit=ten', 'Invalid limit parameter'],
    ['items?limit=1&limit=2', 'Duplicate parameter'],
    ['items?chain=bitcoin', 'Invalid chain parameter'],
    ['items?prover=0x12', 'Invalid address format'],
    ['items?cursor=abc', 'Invalid cursor'],
    ['items?f=html', 'Invalid f parameter'],
    ['items?offset=5', 'Unknown parameter'],
    ['items?bbox-crs=http://www.opengis.net/def/crs/EPSG/0/4326', 'Unknown parameter'],
    ['items?%27%20or%201=1--', 'Unknown parameter'],
    ['items/0x12', 'Invalid UID format'],
    [`items/${uidOf(1)}?limit=1`, 'Unknown parameter'],
  ])('rejects %s with an exception that gives the reason', async (path, message) => {
    const { body } = await get(`/ogc/collections/location-records/${path}`, 'application/json', 400)
    expect(body).toMatchObject({ status: 'error', message, code: 'invalid-input' })
    expect(body.description).toBe(`${message}: ${body.detail}`)
  })

  it.each(['collections/other', `collections/location-records/items/${uidOf(0xffff)}`, 'nothing', 'collections/a/b/c'])(
    'answers 404 for /ogc/%s',
    async (path) => {
      const { body } = await get(`/ogc/${path}`, 'application/json', 404)
      expect(body).toMatchObject({ status: 'error', code: 'not-found' })
    },
  )

  it('returns lists and records as GeoJSON when f or Accept requests it', async () => {
    const plain = await fetch(`${service.url}/api/v0/location-records?limit=3`)
    expect(plain.headers.get('content-type')).toMatch(/^application\/json/)
    expect(plain.headers.get('vary')).toBe('Accept')
    const requests = [
      ['f=geojson', ''],
      ['', 'application/geo+json'],
      ['', 'application/json;q=0.5, application/geo+json'],
    ] as const
    for (const [query, accept] of requests) {
      const response = await fetch(`${service.url}/api/v0/location-records?limit=3&${query}`, { headers: { accept } })
      expect(response.headers.get('content-type')).toBe('application/geo+json; charset=utf-8')
      const body = (await response.json()) as { features: { id: string }[] }
      expect(body).toMatchObject({ type: 'FeatureCollection', numberMatched: ALL.length, numberReturned: 3 })
      expect(body.features.map(({ id }) => id)).toEqual([5, 4, 3].map(uidOf))
      const next = /^<(.*)>; rel="next"$/.exec(response.headers.get('link')!)![1]!
      const { body: second } = await get(next, 'application/geo+json')
      expect(second.features.slice(0, 2).map(({ id }: { id: string }) => id)).toEqual([2, 1].map(uidOf))
    }
    for (const accept of ['*/*', 'application/json, application/geo+json;q=0.9', 'text/html']) {
      const response = await fetch(`${service.url}/api/v0/location-records?limit=3`, { headers: { accept } })
      expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    }
    const { body: feature } = await get(`/api/v0/location-proofs/${uidOf(1)}?f=geojson`, 'application/geo+json')
    expect(feature.geometry).toEqual(JSON.parse(POLYGON))
    for (const query of ['f=kml', 'f=', 'f=json&f=json'])
      await get(`/api/v0/location-records?${query}`, 'application/json', 400)
  })

  describe.skipIf(GDAL === undefined)(`read by ${GDAL}`, () => {
    const source = () => `OAPIF:${service.url}/ogc`

    it('shows the layer, its geometries and its fields', async () => {
      const text = await gdal('ogrinfo', ['-so', source(), 'location-records'])
      expect(text).toContain('Layer name: location-records')
      expect(text).toContain(`Feature Count: ${ALL.length}`)
      expect(text).toMatch(/ID\["OGC","CRS84"\]|GEOGCRS\["WGS 84/)
      for (const field of ['uid: String', 'timestamp: DateTime', 'revoked: Integer(Boolean)', 'longitude: Real']) {
        expect(text).toContain(field)
      }
    })

    it('counts the features in a box, as the record API does', async () => {
      const text = await gdal('ogrinfo', ['-so', '-spat', '-20', '-40', '60', '70', source(), 'location-records'])
      const expected = (await items('bbox=-20,-40,60,70')).numberMatched
      expect(Number(/Feature Count: (\d+)/.exec(text)![1])).toBe(expected)
    })

    it('copies every feature, page by page, into a file', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'trigpoint-gdal-'))
      const file = join(folder, 'records.geojsonl')
      await gdal('ogr2ogr', [
        '-f',
        'GeoJSONSeq',
        '-lco',
        'COORDINATE_PRECISION=17',
        '-oo',
        'PAGE_SIZE=700',
        file,
        source(),
        'location-records',
      ])
      const features = readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      rmSync(folder, { recursive: true })
      expect(features.length).toBe(ALL.length)
      const byUid = new Map(features.map((feature) => [feature.properties.uid, feature]))
      for (const { uid, location } of [...WORLD, ODD[0]!]) {
        const { type, coordinates } = JSON.parse(location)
        const copied = byUid.get(uid).geometry
        expect(copied.type).toBe(type)
        // ogr2ogr may reverse rings, so positions are compared as a set.
        const positions = (value: unknown) => new Set(JSON.stringify(value).match(/\[-?[\d.e-]+,\s*-?[\d.e-]+\]/g))
        expect(positions(copied.coordinates)).toEqual(positions(coordinates))
      }
    })
  })
})

/** The same filter with the parameters of the record API. */
function listFilter(filter: string): string {
  return filter.replace('datetime=2026-09-01/..', 'fromTimestamp=2026-09-01')
}
