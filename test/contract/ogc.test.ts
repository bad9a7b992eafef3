import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ALL,
  FAMILIES,
  FAMILY_NAMES,
  LIST_TEXTS,
  ODD,
  type OgcService,
  PAGE,
  POLYGON,
  startOgcService,
  uidsOf,
} from '../ogc-service.ts'
import { ENGINES_AND_ADAPTERS } from '../record-service.ts'
import { addressOf, uidOf } from '../store-records.ts'

const EPSG = 'http://www.opengis.net/def/crs/EPSG/0/'

describe.each(ENGINES_AND_ADAPTERS)('OGC API Features on %s behind %s', (engine, adapter) => {
  let service: OgcService

  beforeAll(async () => {
    service = await startOgcService(engine, adapter)
  })
  afterAll(() => service.remove())

  const get: OgcService['get'] = (...request) => service.get(...request)
  const items: OgcService['items'] = (query) => service.items(query)

  it("links from the landing page to every resource, each of its link's media type", async () => {
    const { body } = await get('/ogc', 'application/json')
    const rels = Object.fromEntries(body.links.map((link: { rel: string }) => [link.rel, link]))
    expect(Object.keys(rels).sort()).toEqual(['conformance', 'data', 'self', 'service-desc'])
    for (const { href, type } of Object.values(rels) as { href: string; type: string }[]) {
      await get(href, type.split(';')[0]!)
    }
    const { body: classes } = await get(rels['conformance'].href, 'application/json')
    expect(classes.conformsTo).toEqual(
      [
        ...['core', 'oas30', 'html', 'geojson'].map((name) => `ogcapi-features-1/1.0/conf/${name}`),
        'ogcapi-features-2/1.0/conf/crs',
        ...['queryables', 'filter', 'features-filter'].map((name) => `ogcapi-features-3/1.0/conf/${name}`),
        ...['cql2-text', 'cql2-json', 'basic-cql2'].map((name) => `cql2/1.0/conf/${name}`),
      ].map((name) => `http://www.opengis.net/spec/${name}`),
    )
    const { body: collections } = await get(rels['data'].href, 'application/json')
    const names = ['location-records', ...FAMILY_NAMES.map((family) => `location-${family}`)]
    expect(collections.collections.map(({ id }: { id: string }) => id)).toEqual(names)
    for (const collection of collections.collections) {
      expect((await get(`/ogc/collections/${collection.id}`, 'application/json')).body).toEqual(collection)
      const link = collection.links.find(({ rel }: { rel: string }) => rel === 'items')
      expect((await get(`${link.href}?limit=1`, link.type)).body.features).toHaveLength(1)
    }
  })

  it('describes in OpenAPI 3.0 exactly the paths and parameters that it supports', async () => {
    const { body } = await get('/ogc/api', 'application/vnd.oai.openapi+json')
    expect(body.openapi).toMatch(/^3\.0\./)
    expect(body.servers).toEqual([{ url: `${service.url}/ogc` }])
    for (const path of Object.keys(body.paths)) {
      const family = FAMILY_NAMES.find((name) => path.includes(`location-${name}/`))
      const url = `${body.servers[0].url}${path.replace('{featureId}', family === undefined ? uidOf(1) : uidsOf(family)[0]!)}`
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
    const recordText = await (await fetch(`${service.url}/api/v0/location-records/${uidOf(1)}`)).text()
    const { location, longitude, latitude, ...record } = JSON.parse(recordText)
    expect([location, longitude, latitude]).toEqual([POLYGON, null, null])
    expect(polygon.properties).toEqual(withListTexts(record))
    expect(polygon.properties).toMatchObject(LIST_TEXTS)
    expect(Object.keys(polygon.properties)).not.toContain('longitude')
    expect(revoked.properties).toMatchObject({ longitude: expect.any(Number), latitude: expect.any(Number) })
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

  it.each(FAMILY_NAMES)('has a collection of %s, with pages, filters and single features', async (family) => {
    const path = `/ogc/collections/location-${family}/items`
    const uids = uidsOf(family)
    const others = new Set(FAMILY_NAMES.filter((name) => name !== family).flatMap(uidsOf))
    expect([uids.length > 2, others.size > 2]).toEqual([true, true])
    const seen: string[] = []
    let next: string | undefined = `${path}?limit=400`
    while (next !== undefined) {
      const { body } = await get(next, 'application/geo+json')
      expect(body.numberMatched).toBe(uids.length)
      const [self, collection] = body.links
      expect([self.href.includes(path), collection.href]).toEqual([true, `${service.url}${path.replace('/items', '')}`])
      seen.push(...body.features.map(({ id }: { id: string }) => id))
      next = body.links.find(({ rel }: { rel: string }) => rel === 'next')?.href
    }
    expect(seen).toEqual(uids)
    const filtered = async (search: string) => (await get(`${path}?limit=1000&${search}`, 'application/geo+json')).body
    for (const search of [
      'bbox=-20,-40,60,70',
      'chain=base-sepolia',
      `filter=${encodeURIComponent('NOT revoked = TRUE')}`,
    ]) {
      const all = await items(`limit=1000&${search}`)
      const body = await filtered(search)
      expect(body.numberMatched).toBeGreaterThan(0)
      expect(body.numberMatched).toBeLessThan(all.numberMatched)
      for (const { id } of body.features) expect(others.has(id)).toBe(false)
    }
    const { body: mercator, headers } = await get(`${path}?limit=1&crs=${EPSG}3857`, 'application/geo+json')
    expect(headers.get('content-crs')).toBe(`<${EPSG}3857>`)
    expect(mercator.features[0].id).toBe(uids[0])
    const { body: feature } = await get(`${path}/${uids[2]}`, 'application/geo+json')
    expect(FAMILIES[family]).toContain(feature.geometry.type)
    expect(feature.links[0].href).toBe(`${service.url}${path}/${uids[2]}`)
    const { body: missing } = await get(`${path}/${[...others][0]}`, 'application/json', 404)
    expect(missing.detail).toBe(`No attestation with UID ${[...others][0]} was found in location-${family}`)
    const { body: queryables } = await get(path.replace('items', 'queryables'), 'application/schema+json')
    const [single, multi] = FAMILIES[family].map((type) => type.toLowerCase())
    expect(queryables.properties.geometry.format).toBe(`geometry-${single}-or-${multi}`)
    const page = await fetch(`${service.url}${path}?f=html&limit=3`)
    expect(await page.text()).toContain(`href="${service.url}${path}/${uids[2]}"`)
  })

  it('gives the extent of the records of each collection', async () => {
    const { body } = await get('/ogc/collections', 'application/json')
    const extents = Object.fromEntries(
      body.collections.map(({ id, extent }: { id: string; extent: object }) => [id, extent]),
    )
    const time = (seconds: number) => new Date(seconds * 1000).toISOString()
    const uids = new Set(uidsOf('lines'))
    const lines = ALL.filter(({ uid }) => uids.has(uid)).map((record) => record.eventTimeSeconds)
    expect(extents['location-lines']).toEqual({
      spatial: { bbox: [[-30, -21, 25, 31]], crs: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84' },
      temporal: {
        interval: [[time(Math.min(...lines)), time(Math.max(...lines))]],
        trs: 'http://www.opengis.net/def/uom/ISO-8601/0/Gregorian',
      },
    })
    const souths = ALL.map(({ bounds }) => bounds[1])
    const norths = ALL.map(({ bounds }) => bounds[3])
    const wests = ALL.map(({ bounds }) => bounds[0])
    const easts = ALL.map(({ bounds }) => bounds[2])
    expect(extents['location-records'].spatial.bbox).toEqual([
      [Math.min(...wests), Math.min(...souths), Math.max(...easts), Math.max(...norths)],
    ])
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
    ['items?f=kml', 'Invalid f parameter'],
    ['items?offset=5', 'Unknown parameter'],
    ['items?bbox-crs=http://www.opengis.net/def/crs/EPSG/0/27700', 'Invalid bbox-crs parameter'],
    ['items?crs=EPSG:4326', 'Invalid crs parameter'],
    [`items/${uidOf(1)}?crs=http://www.opengis.net/def/crs/EPSG/0/1`, 'Invalid crs parameter'],
    [`items?bbox=95,0,96,1&bbox-crs=${EPSG}4326`, 'Invalid bbox format'],
    [`items?bbox=0,0,1e9,1&bbox-crs=${EPSG}3857`, 'Invalid bbox format'],
    ['items?filter-lang=ecql&filter=revoked=true', 'Invalid filter-lang parameter'],
    ["items?filter=memo='x'", 'Invalid filter'],
    ["items?filter=chain='celo'--", 'Invalid filter'],
    ['items?filter={"op":"drop table","args":[]}&filter-lang=cql2-json', 'Invalid filter'],
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

  it('lists the queryables as a JSON Schema that the collection links to', async () => {
    const { body: collection } = await get('/ogc/collections/location-records', 'application/json')
    const link = collection.links.find(({ rel }: { rel: string }) => rel.endsWith('/queryables'))
    const { body, headers } = await get(link.href, 'application/schema+json')
    expect(body.$id).toBe(link.href)
    expect(headers.get('vary')).toBe('Accept')
    expect(Object.keys(body.properties)).toEqual(
      expect.arrayContaining([
        'geometry',
        'uid',
        'chain',
        'prover',
        'subject',
        'timestamp',
        'event_timestamp',
        'revoked',
      ]),
    )
    expect(body.properties.chain.enum).toContain('celo')
  })

  const query = (parameters: Record<string, string>) =>
    items(new URLSearchParams({ limit: '1000', ...parameters }).toString())

  it.each([
    ["chain = 'celo'", { op: '=', args: [{ property: 'chain' }, 'celo'] }, 'chain=celo'],
    [
      "S_INTERSECTS(geometry, BBOX(-20, -40, 60, 70)) AND chain = 'celo'",
      {
        op: 'and',
        args: [
          { op: 's_intersects', args: [{ property: 'geometry' }, { bbox: [-20, -40, 60, 70] }] },
          { op: '=', args: [{ property: 'chain' }, 'celo'] },
        ],
      },
      'bbox=-20,-40,60,70&chain=celo',
    ],
    [
      "event_timestamp >= TIMESTAMP('2026-09-01T00:00:00Z') and event_timestamp < DATE('2026-10-01')",
      {
        op: 'and',
        args: [
          { op: '>=', args: [{ property: 'event_timestamp' }, { timestamp: '2026-09-01T00:00:00Z' }] },
          { op: '<', args: [{ property: 'event_timestamp' }, { date: '2026-10-01' }] },
        ],
      },
      'datetime=2026-09-01/2026-09-30',
    ],
    [
      `NOT (prover <> '${addressOf(77)}')`,
      { op: 'not', args: [{ op: '<>', args: [{ property: 'prover' }, addressOf(77)] }] },
      `prover=${addressOf(77)}`,
    ],
  ])('filters by %s as the parameters do', async (text, json, parameters) => {
    const expected = await items(`${parameters}&limit=1000`)
    expect(expected.numberMatched).toBeGreaterThan(0)
    for (const filter of [{ filter: text }, { filter: JSON.stringify(json), 'filter-lang': 'cql2-json' }]) {
      const body = await query(filter)
      expect(body.numberMatched).toBe(expected.numberMatched)
      expect(body.features.map(({ id }: { id: string }) => id)).toEqual(
        expected.features.map(({ id }: { id: string }) => id),
      )
    }
  })

  it('pages through a filter that only the database evaluates', async () => {
    const filter = "(chain = 'celo' OR chain = 'base') AND NOT revoked = TRUE AND uid IS NOT NULL"
    const counts = await Promise.all(
      ['celo', 'base'].map(async (chain) => (await items(`chain=${chain}`)).numberMatched),
    )
    const seen = new Set<string>()
    let next: string | undefined = `${service.url}${PAGE}?limit=300&filter=${encodeURIComponent(filter)}`
    while (next !== undefined) {
      const { body } = await get(next, 'application/geo+json')
      expect(body.numberMatched).toBe(counts[0]! + counts[1]!)
      for (const { id, properties } of body.features) {
        expect(['celo', 'base']).toContain(properties.chain)
        seen.add(id)
      }
      next = body.links.find(({ rel }: { rel: string }) => rel === 'next')?.href
    }
    expect(seen.size).toBe(counts[0]! + counts[1]!)
    const revoked = await query({ filter: 'revoked = TRUE' })
    expect(revoked.features.map(({ id }: { id: string }) => id)).toEqual([uidOf(4)])
  })

  it('returns coordinates in EPSG:4326 and EPSG:3857, and reads boxes in them', async () => {
    const one = async (crs: string) => {
      const { body, headers } = await get(
        `${PAGE}/${uidOf(4)}${crs === '' ? '' : `?crs=${crs}`}`,
        'application/geo+json',
      )
      return [body.geometry.coordinates, headers.get('content-crs')]
    }
    expect(await one('')).toEqual([[7, 8], '<http://www.opengis.net/def/crs/OGC/1.3/CRS84>'])
    expect(await one(`${EPSG}4326`)).toEqual([[8, 7], `<${EPSG}4326>`])
    const [mercator, crs] = await one(`${EPSG}3857`)
    expect(crs).toBe(`<${EPSG}3857>`)
    // From PROJ: echo 7 8 | cs2cs EPSG:4326+axis OGC:CRS84 EPSG:3857
    expect(mercator[0]).toBeCloseTo(779_236.436, 2)
    expect(mercator[1]).toBeCloseTo(893_463.751, 2)
    const expected = (await items('bbox=-20,-40,60,70')).numberMatched
    expect((await query({ bbox: '-40,-20,70,60', 'bbox-crs': `${EPSG}4326` })).numberMatched).toBe(expected)
    const metres = [-20, -40, 60, 70].map((degrees, index) =>
      index % 2 === 0
        ? (6_378_137 * degrees * Math.PI) / 180
        : 6_378_137 * Math.log(Math.tan(Math.PI / 4 + (degrees * Math.PI) / 360)),
    )
    expect((await query({ bbox: metres.join(), 'bbox-crs': `${EPSG}3857` })).numberMatched).toBe(expected)
    const filter = `S_INTERSECTS(geometry, BBOX(${metres.join()}))`
    expect((await query({ filter, 'filter-crs': `${EPSG}3857` })).numberMatched).toBe(expected)
    const page = await get(`${PAGE}?crs=${EPSG}4326&limit=2`, 'application/geo+json')
    expect(page.headers.get('content-crs')).toBe(`<${EPSG}4326>`)
    expect(page.body.links.find(({ rel }: { rel: string }) => rel === 'next').href).toContain('crs=')
  })

  it('shows every resource as a page without script to browsers', async () => {
    const paths = ['', '/conformance', '/api', '/collections', '/collections/location-records']
    const others = ['queryables', 'items', `items/${uidOf(5)}`].map((name) => `/collections/location-records/${name}`)
    paths.push('/collections/location-lines', '/collections/location-lines/queryables')
    for (const path of [...paths, ...others]) {
      for (const [search, accept] of [
        ['?f=html', '*/*'],
        ['', 'text/html,application/xhtml+xml,*/*;q=0.8'],
      ] as const) {
        const response = await fetch(`${service.url}/ogc${path}${search}`, { headers: { accept } })
        expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
        expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
        const text = await response.text()
        expect(text).not.toMatch(/<script|javascript:| on\w+=/i)
        expect(text).toContain('<h1>')
      }
    }
  })

  it('shows errors to browsers as pages, with the reason and the status', async () => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
    for (const [path, status, reason] of [
      ['/items?limit=ten', 400, 'Invalid limit parameter'],
      ['/items?%3Cb%3E=1', 400, '&#60;b&#62;'],
      [`/items/${uidOf(0xffff)}`, 404, 'Location record not found'],
    ] as const) {
      const response = await fetch(`${service.url}/ogc/collections/location-records${path}`, { headers: { accept } })
      expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8'])
      expect(response.headers.get('vary')).toBe('Accept')
      const text = await response.text()
      expect(text).toContain(reason)
      expect(text).toContain('href="/docs/guide/ogc"')
    }
  })

  it('orders the links of the landing page for people, and says why a list is empty', async () => {
    const page = async (path: string) =>
      (await fetch(`${service.url}/ogc${path}`, { headers: { accept: 'text/html' } })).text()
    const links = [...(await page('')).matchAll(/<li><a rel="([^"]+)"/g)].map(([, rel]) => rel)
    expect(links).toEqual(['data', 'service-desc', 'conformance', 'alternate'])
    const items = '/collections/location-records/items'
    expect(await page(items)).toContain('role="region" aria-labelledby="features" tabindex="0"')
    const filtered = await page(`${items}?datetime=1990-01-01T00:00:00Z`)
    expect(filtered).toContain('There are no features: no record matches all parameters of this address.')
    expect(filtered).toContain(`<a href="${service.url}/ogc${items}">All features of this collection</a>`)
    expect(filtered).not.toContain('<div class="list"')
  })

  it('shows the links of each collection under its title, and a box on one line', async () => {
    const page = async (path: string) => (await fetch(`${service.url}/ogc${path}?f=html`)).text()
    const collections = (await page('/collections')).split('<h2>').slice(1)
    expect(collections.map((part) => part.slice(0, part.indexOf('<')))).toEqual([
      'Location records',
      ...FAMILY_NAMES.map((family) => `Location records: ${family}`),
    ])
    for (const part of collections) expect(part.match(/<li>/g)).toHaveLength(3)
    expect(await page('/collections/location-records')).toMatch(/\[(?:-?[\d.]+, ){3}-?[\d.]+\]/)
  })
})

/** The properties of a record with lists as JSON text. */
function withListTexts(properties: Record<string, unknown>): Record<string, unknown> {
  const members = Object.entries(properties)
  return Object.fromEntries(
    members.map(([name, value]) => [name, Array.isArray(value) ? JSON.stringify(value) : value]),
  )
}

/** The same filter with the parameters of the record API. */
function listFilter(filter: string): string {
  return filter.replace('datetime=2026-09-01/..', 'fromTimestamp=2026-09-01')
}
