import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyResult } from '../../src/client/client.ts'
import { eventually } from '../eventually.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'

// biome-ignore lint/suspicious/noExplicitAny: a response may have any members; the tests check them
type Loose = any

const square = (west: number, south: number, size: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [west + size, south],
      [west + size, south + size],
      [west, south + size],
      [west, south],
    ],
  ],
})
const feature = (geometry: object, properties: object | null = null, id?: string | number) => ({
  type: 'Feature',
  ...(id === undefined ? {} : { id }),
  geometry,
  properties,
})
const ZONES = [
  feature(square(0, 0, 10), { name: 'west', rank: 1 }, 'W'),
  feature(square(10, 0, 10), { name: 'east', rank: 2 }, 'E'),
  feature({ type: 'Point', coordinates: [5, 20, 100] }, { name: 'tower' }),
]
const collection = (features: readonly object[]) => ({ type: 'FeatureCollection', features })
const point = (lon: number, lat: number, id?: string | number) => ({
  type: 'Point',
  coordinates: [lon, lat],
  ...(id === undefined ? {} : { id }),
})

describe('sets of features', () => {
  let service: TestService
  const request = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/compute/v0/sets${path}`, {
      method,
      headers: { 'x-api-key': service.developerKey, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await request(method, path, body, headers)
    return { status: response.status, body: (await response.json()) as Loose }
  }
  const NDJSON = { 'content-type': 'application/x-ndjson' }
  const toLines = (values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('')
  const match = async (name: string, points: readonly object[], query = ''): Promise<Loose[]> => {
    const response = await request('POST', `/${name}/match${query}`, toLines(points), NDJSON)
    const text = await response.text()
    expect(response.status, text).toBe(200)
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }

  beforeAll(async () => {
    service = await startTestService({
      ...NO_LOCAL_CALLERS,
      RECORDS: '1',
      STORED_MAX_BYTES_PER_KEY: '200000',
      RATE_LIMIT_DEVELOPER: '1000000',
    })
    await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
    expect((await send('PUT', '/zones', collection(ZONES))).status).toBe(200)
  })
  afterAll(() => service?.stop())

  it('match points in their order', async () => {
    const points = [point(5, 5, 'a'), point(15, 5), point(10, 5, 3), point(5, 20), point(50, 50)]
    expect(await match('zones', points)).toEqual([
      { id: 'a', matches: [{ feature: 'W' }] },
      { matches: [{ feature: 'E' }] },
      { id: 3, matches: [{ feature: 'W' }, { feature: 'E' }] },
      { matches: [{ feature: 2 }] },
      { matches: [] },
    ])
    // A boundary is not contained.
    expect((await match('zones', [point(10, 5)], '?predicate=contains'))[0].matches).toEqual([])
    const [asFeature] = await match('zones', [feature(point(5, 5), null, 'f')], '?properties=true&limit=1')
    expect(asFeature).toEqual({ id: 'f', matches: [{ feature: 'W', properties: { name: 'west', rank: 1 } }] })
    const many = Array.from({ length: 2000 }, (_, index) => point((index % 30) + 0.5, 5, index))
    const lines = await match('zones', many)
    expect(lines.map(({ id }) => id)).toEqual(many.map(({ id }) => id))
    for (const { id, matches } of lines)
      expect(matches).toEqual(id % 30 < 10 ? [{ feature: 'W' }] : id % 30 < 20 ? [{ feature: 'E' }] : [])
  })

  it('match points by distance, as distance measures it', async () => {
    const [near] = await match('zones', [point(5, 11)], '?nearest=2&properties=name')
    const distances = await Promise.all(
      [ZONES[0]!, ZONES[1]!].map(async ({ geometry }) => {
        const body = { chainId: 84532, from: point(5, 11), to: geometry }
        const { body: answer } = await service.post('/compute/v0/distance', body, { 'x-api-key': service.developerKey })
        return answer.result
      }),
    )
    expect(near.matches).toEqual([
      { feature: 'W', properties: { name: 'west' }, distance: distances[0] },
      { feature: 'E', properties: { name: 'east' }, distance: distances[1] },
    ])
    const [within] = await match('zones', [point(5, 11)], `?within=${distances[0]}`)
    expect(within.matches).toEqual([{ feature: 'W', distance: distances[0] }])
    const [none] = await match('zones', [point(5, 11)], `?within=${distances[0] - 0.01}`)
    expect(none.matches).toEqual([])
  })

  it('sign matches as the same single requests are signed', async () => {
    const [{ matches }] = await match(
      'zones',
      [point(5, 5)],
      '?predicate=contains&attest=each&chainId=84532&properties=name',
    )
    const [{ feature: name, properties, ...answer }] = matches
    expect([name, properties]).toEqual(['W', { name: 'west' }])
    const inputs = [ZONES[0]!.geometry, point(5, 5)] as Loose
    const verdict = await verifyResult(answer, { attester: service.attester, inputs })
    expect(verdict.ok, JSON.stringify(verdict)).toBe(true)
    expect(answer).toMatchObject({ result: true, operation: 'contains' })
    // The match as it is: what it says of the feature is skipped, because it was not signed.
    const whole = await verifyResult(matches[0], { attester: service.attester, inputs })
    expect(whole.ok, JSON.stringify(whole)).toBe(true)
    const skipped = whole.checks.filter(({ status }) => status === 'skip').map(({ id }) => id)
    expect(skipped).toEqual(['feature', 'properties', 'notes'])
    const [nearest] = await match('zones', [point(5, 21)], '?nearest=1&attest=each&chainId=84532')
    expect((await verifyResult(nearest.matches[0])).ok).toBe(true)
    for (const forged of [
      { ...nearest.matches[0], distance: 0 },
      { ...matches[0], distance: 1 },
      { ...answer, properties },
      { ...matches[0], feature: { id: 'W' } },
      { ...matches[0], near: true },
    ])
      expect((await verifyResult(forged)).ok, JSON.stringify(forged)).toBe(false)
    for (const [unsigned, reason] of [
      [{ feature: 'W' }, /attest=each/],
      [{ id: 1, matches }, /each of its matches/],
    ] as const)
      expect((await verifyResult(unsigned)).checks).toEqual([
        expect.objectContaining({ status: 'fail', detail: expect.stringMatching(reason) }),
      ])
    expect(nearest.matches[0]).toMatchObject({ feature: 2, operation: 'distance', units: 'meters' })
    expect(nearest.matches[0].result).toBe(nearest.matches[0].distance)
  })

  it('are described, listed, read back and deleted', async () => {
    const description = {
      name: 'zones',
      features: 3,
      vertices: 11,
      bytes: expect.any(Number),
      created: expect.any(Number),
      expires: expect.any(Number),
    }
    expect((await send('GET', '/zones')).body).toEqual(description)
    expect((await send('GET', '')).body.sets).toContainEqual(description)
    const features = (await (await request('GET', '/zones/features')).text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(features).toEqual([ZONES[0], ZONES[1], { ...ZONES[2], geometry: { type: 'Point', coordinates: [5, 20] } }])
    await send('PUT', '/gone', collection(ZONES))
    expect((await send('DELETE', '/gone')).body).toEqual({ deleted: 'gone' })
    for (const answer of [
      await send('DELETE', '/gone'),
      await send('GET', '/gone'),
      await send('POST', '/gone/match', point(1, 1)),
    ])
      expect(answer.status).toBe(404)
  })

  it('belong to the key that stored them', async () => {
    const other = { 'x-api-key': service.internalKey }
    for (const [method, path, body] of [
      ['GET', '/zones', undefined],
      ['GET', '/zones/features', undefined],
      ['DELETE', '/zones', undefined],
      ['POST', '/zones/match', point(1, 1)],
    ] as const) {
      const answer = await send(method, path, body, other)
      expect(answer.status, `${method} ${path}`).toBe(404)
      expect(answer.body.detail).toContain('this API key has no set "zones"')
      const none = await fetch(`${service.url}/compute/v0/sets${path}`, {
        method,
        ...(body && { body: JSON.stringify(body) }),
      })
      expect(none.status).toBe(401)
      await none.text()
    }
    expect((await fetch(`${service.url}/compute/v0/sets/x`, { method: 'PUT', body: '{}' })).status).toBe(401)
    expect((await send('PUT', '/zones', collection([feature(square(40, 0, 5))]), other)).status).toBe(200)
    expect((await match('zones', [point(5, 5)]))[0].matches).toEqual([{ feature: 'W' }])
  })

  it('are replaced in one step, and stay as they are if the new one is wrong', async () => {
    await send('PUT', '/shift', toLines([feature(square(0, 0, 1))]), NDJSON)
    const wrong = await send(
      'PUT',
      '/shift',
      toLines([feature(square(5, 5, 1)), feature({ type: 'Point', coordinates: [0, 99] })]),
      NDJSON,
    )
    expect(wrong.status).toBe(400)
    expect(wrong.body.detail).toContain('features[1].geometry.coordinates[1]')
    expect((await match('shift', [point(0.5, 0.5)]))[0].matches).toEqual([{ feature: 0 }])
    expect((await send('PUT', '/shift', toLines([feature(square(5, 5, 1))]), NDJSON)).body).toMatchObject({
      features: 1,
    })
    expect(await match('shift', [point(0.5, 0.5), point(5.5, 5.5)])).toEqual([
      { matches: [] },
      { matches: [{ feature: 0 }] },
    ])
    const before = (await send('GET', '')).body.sets.length
    await send('DELETE', '/shift')
    expect((await send('GET', '')).body.sets.length).toBe(before - 1)
  })

  it('have many features', async () => {
    const features = Array.from({ length: 1500 }, (_, index) =>
      feature(point((index % 100) / 10, Math.floor(index / 100)), { n: index }),
    )
    const stored = await send('PUT', '/grid', toLines(features), NDJSON)
    expect(stored.body).toMatchObject({ features: 1500, vertices: 1500 })
    const lines = await match('grid', [point(3.3, 7), point(0.04, 0.4)], '?nearest=1&properties=n')
    expect(lines.map(({ matches }) => matches[0].properties.n)).toEqual([733, 0])
    await send('DELETE', '/grid')
  })

  it.each([
    [
      'a bowtie',
      collection([
        feature({
          type: 'Polygon',
          coordinates: [
            [
              [0, 0],
              [1, 1],
              [1, 0],
              [0, 1],
              [0, 0],
            ],
          ],
        }),
      ]),
      400,
      /features\[0\].*self-intersection|crosses/,
    ],
    [
      'a collection of geometries',
      collection([feature({ type: 'GeometryCollection', geometries: [point(0, 0)] })]),
      400,
      /GeometryCollection/,
    ],
    ['no geometry', collection([feature(null as never)]), 400, /features\[0\]\.geometry/],
    ['no collection', { type: 'Feature' }, 400, /FeatureCollection/],
    ['another list', { features: [] }, 400, /FeatureCollection/],
    ['properties that are no object', collection([{ ...feature(point(0, 0)), properties: 3 }]), 400, /properties/],
    ['an id that is a list', collection([{ ...feature(point(0, 0)), id: [] }]), 400, /id/],
    [
      'more than the quota',
      collection(Array.from({ length: 4000 }, () => feature(point(1.123456789, 2.123456789)))),
      413,
      /of 200000 bytes/,
    ],
  ])('are refused: %s', async (_, body, status, detail) => {
    const answer = await send('PUT', '/refused', body)
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringMatching(detail)])
    expect((await send('GET', '/refused')).status).toBe(404)
  })

  it('have names of letters and digits', async () => {
    for (const name of ['-a', 'a%20b', 'x'.repeat(65)])
      expect((await send('PUT', `/${name}`, collection(ZONES))).body.errors[0].code).toBe('set-name')
    expect((await send('PUT', '/A.b_c-9', collection(ZONES))).status).toBe(200)
    await send('DELETE', '/A.b_c-9')
  })

  it('are not replaced by an upload without features', async () => {
    await send('PUT', '/filled', collection(ZONES))
    for (const answer of [
      await send('PUT', '/filled', collection([])),
      await send('PUT', '/filled', '', NDJSON),
      await send('PUT', '/filled', '\n \n', NDJSON),
    ]) {
      expect(answer.status).toBe(400)
      expect(answer.body.errors).toEqual([
        expect.objectContaining({ code: 'no-features', hint: expect.stringContaining('DELETE') }),
      ])
    }
    expect((await send('GET', '/filled')).body.features).toBe(3)
    await send('DELETE', '/filled')
  })

  it('are uploaded and matched in the wrong form: the error says the right one', async () => {
    const lines = toLines(ZONES)
    const problem = async (method: string, path: string, body: string, headers?: Record<string, string>) => {
      const response = await request(method, path, body, headers)
      const { errors, error } = JSON.parse((await response.text()).split('\n')[0]!)
      const { code, hint } = (errors ?? error.errors)[0]
      return [response.status, code, hint]
    }
    expect(await problem('PUT', '/form', lines)).toEqual([
      400,
      'not-json',
      'for one Feature per line send content-type: application/x-ndjson',
    ])
    expect(await problem('PUT', '/form', JSON.stringify(collection(ZONES)), NDJSON)).toEqual([
      400,
      'feature-collection',
      expect.stringContaining('application/json'),
    ])
    expect(await problem('PUT', '/form', JSON.stringify(ZONES[0], null, 2), NDJSON)).toEqual([
      400,
      'not-json',
      expect.stringContaining('each line is one whole Feature'),
    ])
    expect(await problem('POST', '/zones/match?predicate=within', lines)).toEqual([
      400,
      'match-option',
      expect.stringContaining('within=<meters>'),
    ])
    for (const [body, code] of [
      [JSON.stringify({ points: [] }), 'wrong-geometry-type'],
      [JSON.stringify(collection([point(1, 1)])), 'wrong-geometry-type'],
      [JSON.stringify(point(1, 1), null, 2), 'not-json'],
    ] as const)
      expect(await problem('POST', '/zones/match', body), body).toEqual([
        200,
        code,
        'send one whole Point, or Feature of a Point, per line',
      ])
  })

  it.each([
    '?predicate=touches',
    '?predicate=contains&within=5',
    '?within=0',
    '?nearest=0',
    '?nearest=1.5',
    '?limit=5000',
    '?attest=each',
    '?attest=merkle',
    '?attest=each&chainId=1',
    '?near=3',
    '?nearest=1&nearest=2',
  ])('refuse the options %s', async (query) => {
    const answer = await send('POST', `/zones/match${query}`, point(1, 1))
    expect(answer.status).toBe(400)
  })

  it.each([1_000, 50_000])('answer 404 without waiting for all of %i points if there is no such set', async (count) => {
    const response = await request('POST', '/absent/match', toLines(Array(count).fill(point(1, 1))), NDJSON)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining('"absent"') })
  })

  it('refuse ids that a number does not hold, and keep the others as they are', async () => {
    for (const id of ['12345678901234567890', '-9007199254740993', '1e400']) {
      const body = `{"type":"Feature","id":${id},"geometry":{"type":"Point","coordinates":[1,2]},"properties":null}`
      const put = await send('PUT', '/ids', body, NDJSON)
      expect(put.status, id).toBe(400)
      expect(put.body.errors[0]).toMatchObject({ pointer: '#/features/0/id', hint: expect.stringContaining('string') })
      const [line] = (await (await request('POST', '/zones/match', body, NDJSON)).text()).trim().split('\n')
      expect(JSON.parse(line!), id).toEqual({ error: expect.objectContaining({ status: 400 }) })
    }
    const features = [9007199254740991, -1.5, '12345678901234567890'].map((id) => feature(point(1, 2), null, id))
    expect((await send('PUT', '/ids', toLines(features), NDJSON)).status).toBe(200)
    expect((await match('ids', [point(1, 2)]))[0].matches).toEqual(features.map(({ id }: Loose) => ({ feature: id })))
    await send('DELETE', '/ids')
  })

  it('return no more matches than the limit, also of the nearest', async () => {
    const [line] = await match('zones', [point(5, 5)], '?nearest=3&limit=2')
    expect(line.matches.map(({ feature: name }: Loose) => name)).toEqual(['W', 'E'])
    expect(line.truncated).toBe(true)
    expect((await match('zones', [point(5, 5)], '?nearest=3'))[0].matches).toHaveLength(3)
  })

  it('answer wrong lines with their problem, and the others', async () => {
    const body = `${JSON.stringify(point(5, 5, 'a'))}\n{"type":"Point","coordinates":[0,95],"id":"b"}\nno\n${JSON.stringify(ZONES[0])}\n${JSON.stringify(point(15, 5))}`
    const response = await request('POST', '/zones/match', body)
    const lines = (await response.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ id, matches, error }) => [id, matches, error?.status])).toEqual([
      ['a', [{ feature: 'W' }], undefined],
      ['b', undefined, 400],
      [undefined, undefined, 400],
      ['W', undefined, 400],
      [undefined, [{ feature: 'E' }], undefined],
    ])
  })
})
