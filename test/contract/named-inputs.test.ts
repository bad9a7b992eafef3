/** Inputs that the items of a batch name, instead of repeating them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, verifyResult } from '../../src/client/client.ts'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { eventually } from '../eventually.ts'
import { proofOf, stampOf } from '../evidence.ts'
import { EAST, EIFFEL_TOWER, ROAD, ROME, SQUARE } from '../fixtures.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'

// biome-ignore lint/suspicious/noExplicitAny: a response may have any members; the tests check them
type Loose = any

const CHAIN = 84532
const SALT = `0x${'5a'.repeat(32)}`
const BOW_TIE = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [2, 2],
      [2, 0],
      [0, 2],
      [0, 0],
    ],
  ],
}
/** A zone with heights, a number with an exponent and a negative zero, whose text is not canonical. */
const ZONE =
  '{"coordinates":[[[2e0,48,7],[3,48.0,8],[3,49,9],[2,49,-0.0],[2,48,7]]],"type":"Polygon","bbox":[2,48,3,49],"note":"zone"}'

/** The geometries of the table by name, as JSON. */
const TABLE: Readonly<Record<string, string>> = {
  zone: ZONE,
  square: JSON.stringify(SQUARE),
  east: JSON.stringify({ type: 'Feature', properties: { a: 1 }, geometry: EAST }),
  road: JSON.stringify(ROAD),
  tower: JSON.stringify(EIFFEL_TOWER),
  rome: JSON.stringify(ROME),
  tie: JSON.stringify(BOW_TIE),
}

/** For each operation, the names of its inputs in the table, and its other members. */
const CASES: Readonly<Record<string, readonly (readonly [readonly string[], object?])[]>> = {
  distance: [[['tower', 'rome']], [['zone', 'rome']], [['square', 'square']]],
  area: [[['zone']], [['east']], [['tie']]],
  length: [[['road']], [['zone']]],
  contains: [[['zone', 'tower']], [['square', 'tower'], { edges: 'geodesic' }], [['tie', 'tower']]],
  within: [[['tower', 'zone'], { radius: 5000 }]],
  intersects: [[['zone', 'road']], [['square', 'east'], { edges: 'geodesic' }]],
  relate: [[['square', 'east']], [['square', 'zone'], { pattern: 'T********' }]],
  equals: [[['zone', 'square']]],
  disjoint: [[['zone', 'east']]],
  touches: [[['square', 'east']]],
  crosses: [[['road', 'zone']]],
  overlaps: [[['zone', 'square']]],
  covers: [[['zone', 'tower']]],
  coveredBy: [[['tower', 'zone']]],
  direct: [[['tower'], { azimuthDegrees: 30, distanceMeters: 1000 }]],
  waypoints: [[['tower', 'rome'], { everyMeters: 200_000 }]],
  nearest: [[['zone', 'rome']]],
  buffer: [[['tower'], { radius: 1000 }]],
  repair: [[['tie']], [['zone']]],
}

/** Every case as an item: with all names, with only the first, and with salts. `write` gives the JSON of an input. */
function itemsOf(write: (name: string) => string): string[] {
  const written = (name: string) => TABLE[name]!
  const salted = (name: string) => `{"input":${write(name)},"salt":"${SALT}"}`
  return Object.entries(CASES).flatMap(([op, cases]) =>
    cases.flatMap(([names, others]) =>
      [
        [write, write],
        [write, written],
        [salted, write],
        [salted, salted],
      ].map((writers) => {
        const inputs = OPERATIONS[op as keyof typeof OPERATIONS].inputs
        const members = inputs.map((input, index) => `"${input}":${writers[index]!(names[index]!)}`)
        return `{"op":"${op}",${members.join()},${JSON.stringify({ id: `${op} ${names}`, ...others }).slice(1)}`
      }),
    ),
  )
}

const named = (name: string) => `{"named":${JSON.stringify(name)}}`
const NAMED_ITEMS = itemsOf(named)
const WRITTEN_ITEMS = itemsOf((name) => TABLE[name]!)
const table = (entries: Readonly<Record<string, string>>) =>
  `{${Object.entries(entries)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join()}}`

describe('named inputs of a batch', () => {
  let service: TestService
  const send = async (path: string, body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': service.developerKey, ...headers },
      body,
    })
    const text = await response.text()
    return { status: response.status, text, body: headers['content-type'] === undefined ? JSON.parse(text) : undefined }
  }
  const batch = (items: readonly string[], geometries: string | undefined, options: object = {}) => {
    const head = JSON.stringify({ chainId: CHAIN, ...options }).slice(0, -1)
    const member = geometries === undefined ? '' : `,"geometries":${geometries}`
    return send('/compute/v0/batch', `${head}${member},"items":[${items.join()}]}`)
  }
  /** Sends two batches until both are computed in the same second. */
  const together = async (
    first: () => Promise<Loose>,
    second: () => Promise<Loose>,
  ): Promise<readonly [Loose, Loose]> => {
    const times = (body: Loose) => body.results.map(({ timestamp = 0 }: Loose) => timestamp)
    let pair: readonly [Loose, Loose] = [undefined, undefined]
    await eventually(async () => {
      const [a, b] = await Promise.all([first(), second()])
      expect([a.status, b.status], `${a.text.slice(0, 300)} ${b.text.slice(0, 300)}`).toEqual([200, 200])
      expect(times(a.body)).toEqual(times(b.body))
      pair = [a.body, b.body]
    })
    return pair
  }
  // A signature also covers the deadline and the nonce, which are those of its batch.
  const comparable = (result: Loose) => {
    const { attestation, delegatedAttestation, error, ...members } = result
    return {
      ...members,
      error: error && { ...error, requestId: undefined },
      signed: attestation && { ...attestation, signature: undefined },
    }
  }
  const problem = ({ status, body }: { status: number; body?: Loose }) => {
    const [part] = body.errors ?? []
    return { status, pointer: part?.pointer, code: part?.code, detail: body.detail, hint: part?.hint }
  }

  beforeAll(async () => {
    service = await startTestService({
      ...NO_LOCAL_CALLERS,
      RECORDS: '1',
      RATE_LIMIT_DEVELOPER: '100000',
      JOB_POLL_MS: '20',
      MAX_BODY_BYTES: '200000',
      MAX_VERTICES: '500',
    })
    await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
  })
  afterAll(() => service?.stop())

  it('are tested with every operation', () => {
    expect(Object.keys(CASES).sort()).toEqual(Object.keys(OPERATIONS).sort())
  })

  it.each(['each', 'merkle', 'none'])('give the answers of the inputs themselves, with attest %s', async (attest) => {
    const [used, written] = await together(
      () => batch(NAMED_ITEMS, table(TABLE), { attest }),
      () => batch(WRITTEN_ITEMS, undefined, { attest }),
    )
    expect(used.count).toBe(NAMED_ITEMS.length)
    // A bow tie is not valid, so it has no area and contains nothing. A polygon has no length.
    const failed = used.results.filter(({ error }: Loose) => error !== undefined)
    expect(new Set(failed.map(({ id }: Loose) => id))).toEqual(
      new Set(['area tie', 'contains tie,tower', 'length zone']),
    )
    expect(used.results.map(comparable)).toEqual(written.results.map(comparable))
    expect(used.merkle?.root).toBe(written.merkle?.root)
    expect(used.merkle?.leafCount).toBe(written.merkle?.leafCount)
    if (attest === 'merkle') expect(used.merkle.root).toMatch(/^0x/)
  })

  it('give the answers of the inputs themselves with consecutive nonces', async () => {
    const options = { sequence: 'consecutive' }
    for (let begin = 0; begin < NAMED_ITEMS.length; begin += 40) {
      const items = NAMED_ITEMS.slice(begin, begin + 40)
      const entries = Object.entries(TABLE).filter(([name]) => items.some((item) => item.includes(named(name))))
      const [used, written] = await together(
        () => batch(items, table(Object.fromEntries(entries)), options),
        () => batch(WRITTEN_ITEMS.slice(begin, begin + 40), undefined, options),
      )
      const data = ({ multi }: Loose) => multi.map(({ schema, data }: Loose) => ({ schema, data }))
      expect(data(used)).toEqual(data(written))
    }
  })

  it('are signed so that the client accepts them for the geometry', async () => {
    const client = createClient({ baseUrl: service.url, apiKey: service.developerKey, chainId: CHAIN })
    const geometries = { zone: JSON.parse(ZONE) as Loose }
    const item = { op: 'contains', container: { named: 'zone' }, containee: EIFFEL_TOWER } as const
    const { results } = await client.batch.run([item], { geometries })
    const verify = (input: Loose) =>
      verifyResult(results[0] as Loose, { attester: service.attester, chainId: CHAIN, inputs: [input, EIFFEL_TOWER] })
    const inputsOf = async (input: Loose) => (await verify(input)).checks.find(({ id }) => id === 'inputs')
    expect(await inputsOf(geometries.zone)).toMatchObject({ status: 'pass' })
    const unknown = await inputsOf({ named: 'zone' })
    expect(unknown).toMatchObject({ status: 'fail' })
    expect(JSON.stringify(unknown)).toContain('says nothing outside its batch')
  })

  it('may be stored geometries, but no proofs', async () => {
    const put = await fetch(`${service.url}/compute/v0/geometries`, {
      method: 'PUT',
      headers: { 'x-api-key': service.developerKey },
      body: `{"geometry":${ZONE}}`,
    })
    const { ref } = (await put.json()) as Loose
    const request = { proof: proofOf([stampOf()]), options: { chainId: CHAIN } }
    const verified = await send('/verify/v0/proof', JSON.stringify(request))
    expect(verified.status).toBe(200)
    const proven = table({ place: JSON.stringify({ verifiedProof: verified.body }) })
    const refused = await batch([`{"op":"distance","from":${named('place')},"to":${ZONE}}`], proven, { attest: 'none' })
    expect(refused.body.errors[0]).toMatchObject({ pointer: '#/geometries/place', code: 'name-of-evidence' })
    const inputs = { zone: JSON.stringify({ ref }) }
    const items = (write: (name: keyof typeof inputs) => string) => [
      `{"op":"distance","from":${write('zone')},"to":{"type":"Point","coordinates":[1,1]}}`,
      `{"op":"repair","geometry":${write('zone')}}`,
      `{"op":"area","geometry":{"input":${write('zone')},"salt":"${SALT}"}}`,
    ]
    const [used, written] = await together(
      () => batch(items(named), table(inputs), { attest: 'none' }),
      () =>
        batch(
          items((name) => inputs[name]),
          undefined,
          { attest: 'none' },
        ),
    )
    expect(used.results.map(comparable)).toEqual(written.results.map(comparable))
  })

  it('may be attestations, which are resolved for each item', async () => {
    const uid = JSON.stringify({ uid: `0x${'1'.repeat(64)}` })
    const items = (write: (name: string) => string) => [
      `{"op":"area","geometry":${write('place')}}`,
      `{"op":"area","geometry":{"input":${write('place')},"salt":"random"}}`,
    ]
    const used = await batch(items(named), table({ place: uid }), { attest: 'none' })
    const written = await batch(
      items(() => uid),
      undefined,
      { attest: 'none' },
    )
    const errors = ({ body }: Loose) => body.results.map(({ error }: Loose) => error.errors)
    expect(errors(used)).toEqual(errors(written))
    expect(used.body.results.map(({ error }: Loose) => error.errors[0].code)).toEqual(['no-rpc', 'salted-attestation'])
  })

  it('are charged once, and the vertices of an item do not include them', async () => {
    const ring = Array.from({ length: 400 }, (_, index) => {
      const angle = (2 * Math.PI * index) / 400
      return [10 + Math.cos(angle), 50 + Math.sin(angle)]
    })
    const disc = JSON.stringify({ type: 'Polygon', coordinates: [[...ring, ring[0]]] })
    const item = `{"op":"intersects","geometry1":${named('disc')},"geometry2":`
    // Two of these discs have more vertices than a request may have.
    const written = await batch([`{"op":"intersects","geometry1":${disc},"geometry2":${disc}}`], undefined)
    expect(written.body.results[0].error.errors[0].code).toBe('too-many-vertices')
    const { body } = await batch([`${item}${disc}}`, `${item}${named('disc')}}`], table({ disc }))
    expect(body.results.map(({ result }: Loose) => result)).toEqual([true, true])

    const vertices = async () => {
      const text = await (await fetch(`${service.url}/metrics`)).text()
      const rows = text.split('\n').filter((line) => /^cost_charged_total\{.*resource="vertices"/.test(line))
      expect(rows.length, text.slice(0, 2000)).toBeGreaterThan(0)
      return rows.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
    }
    const before = await vertices()
    const point = JSON.stringify(ROME)
    const items = Array.from({ length: 300 }, () => `${item}${point}}`)
    expect((await batch(items, table({ disc }), { attest: 'none' })).body.failed).toBe(0)
    await eventually(async () => expect((await vertices()) - before).toBe(401 + 300))
  })

  const area = (name: string) => `{"op":"area","geometry":${named(name)}}`
  const good = TABLE['square']!

  it.each<[string, string, string, object]>([
    [
      'used by no item',
      area('a'),
      table({ a: good, b: good }),
      { status: 400, pointer: '#/geometries/b', code: 'unused-name' },
    ],
    [
      'that refer to another name',
      `${area('a')},${area('b')}`,
      table({ a: good, b: named('a') }),
      { status: 400, pointer: '#/geometries/b', code: 'name-of-name' },
    ],
    [
      'with a salt of their own',
      area('a'),
      table({ a: `{"input":${good},"salt":"random"}` }),
      { status: 400, pointer: '#/geometries/a/salt', code: 'salt-in-table' },
    ],
    [
      'that are no geometry',
      area('a'),
      table({ a: '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,95],[0,0]]]}' }),
      { status: 400, pointer: '#/geometries/a/coordinates/0/2/1', code: 'latitude-range' },
    ],
    [
      'that are text',
      area('a'),
      table({ a: '"POINT (1 2)"' }),
      { status: 400, pointer: '#/geometries/a', code: 'wrong-type' },
    ],
    [
      'with an open ring',
      area('a/b'),
      table({ 'a/b': '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}' }),
      { status: 400, pointer: '#/geometries/a~1b/coordinates/0' },
    ],
    ['that are not JSON', area('a'), '{"a":{"type":]}', { status: 400, code: 'not-json' }],
    ['with a name that is no string', area('a'), '{a:{}}', { status: 400, pointer: '#/geometries', code: 'not-json' }],
    ['with a comma too many', area('a'), `{"a":${good},}`, { status: 400, pointer: '#/geometries', code: 'not-json' }],
    [
      'with a name that occurs twice',
      area('a'),
      `{"a":${good},"\\u0061":${good}}`,
      { status: 400, pointer: '#/geometries/a', code: 'duplicate-name' },
    ],
    [
      'with an empty name',
      area(''),
      table({ '': good }),
      { status: 400, pointer: '#/geometries', code: 'invalid-name' },
    ],
    [
      'with a name of 65 characters',
      area('é'.repeat(65)),
      table({ ['é'.repeat(65)]: good }),
      { status: 400, pointer: '#/geometries', code: 'invalid-name' },
    ],
    [
      'with a control character',
      area('a\n'),
      table({ 'a\n': good }),
      { status: 400, pointer: '#/geometries', code: 'invalid-name' },
    ],
    [
      'that are stored by nobody',
      area('a'),
      table({ a: `{"ref":"0x${'12'.repeat(32)}"}` }),
      { status: 404, pointer: '#/geometries/a/ref', code: 'unknown-ref' },
    ],
    [
      'that are too many',
      area('1'),
      table(Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`${index}`, good]))),
      { status: 400, pointer: '#/geometries', code: 'too-many-names' },
    ],
    [
      'that are too large together',
      `${area('a')},${area('b')}`,
      table({ a: good, b: `${' '.repeat(200_000)}${good}` }),
      { status: 413, pointer: '#/geometries', code: 'geometries-too-large' },
    ],
    [
      'with too many vertices together',
      `${area('a')},${area('b')}`,
      table({ a: multiPoint(300), b: multiPoint(201) }),
      { status: 400, pointer: '#/geometries/b', code: 'too-many-vertices' },
    ],
    ['in a list', area('a'), `[${good}]`, { status: 400, pointer: '#/geometries', code: 'wrong-type' }],
  ])('make the batch fail if there are some %s', async (_what, items, geometries, expected) => {
    expect(problem(await batch([items], geometries))).toMatchObject(expected)
  })

  it('are each as good as 64 characters long, and 64 of them', async () => {
    const names = Array.from({ length: 64 }, (_, index) => `😀 ${index}`.padEnd(65, '"'))
    const { body } = await batch(names.map(area), table(Object.fromEntries(names.map((name) => [name, good]))))
    expect([body.failed, body.count]).toEqual([0, 64])
  })

  it('may be used under an escaped name, and stand before or after the items', async () => {
    const item = `{"op":"area","geometry":{"\\u006eamed":"\\u007aone"}}`
    for (const text of [
      `{"chainId":${CHAIN},"geometries":${table({ zone: ZONE })},"items":[${item}]}`,
      `{"items":[${item}],"geometries" : ${table({ zone: ZONE })},"chainId":${CHAIN}}`,
    ]) {
      const { body } = await send('/compute/v0/batch', text)
      expect(body.failed, JSON.stringify(body)).toBe(0)
    }
  })

  it('make only their item fail if they are unknown', async () => {
    const items = [area('zone'), area('zona'), area('other')]
    const { body } = await batch(items, table({ zone: ZONE }), { attest: 'none' })
    expect(body.results[0].result).toBeGreaterThan(0)
    const [, near, far] = body.results.map(({ error }: Loose) => error?.errors[0])
    expect(near).toMatchObject({
      pointer: '#/items/1/geometry/named',
      code: 'unknown-name',
      hint: 'did you mean "zone"?',
    })
    expect(far).toMatchObject({ pointer: '#/items/2/geometry/named', code: 'unknown-name' })
    const without = await batch([area('zone')], undefined)
    expect(without.body.results[0].error.errors[0]).toMatchObject({ code: 'unknown-name' })
  })

  it('are rejected in requests that have no names', async () => {
    const outside = { pointer: '#/geometry/named', code: 'name-outside-batch' }
    const single = await send('/compute/v0/area', `{"chainId":${CHAIN},"geometry":${named('zone')}}`)
    expect(problem(single)).toMatchObject({ status: 400, ...outside })
    const salted = await send(
      '/compute/v0/area',
      `{"chainId":${CHAIN},"geometry":{"input":${named('zone')},"salt":"random"}}`,
    )
    expect(problem(salted)).toMatchObject({ status: 400, pointer: '#/geometry/input/named', code: outside.code })
    const lines = await send(`/compute/v0/batch?chainId=${CHAIN}`, `${area('zone')}\n`, {
      'content-type': 'application/x-ndjson',
    })
    expect(JSON.parse(lines.text).error.errors[0]).toMatchObject(outside)
    const body = `{"chainId":${CHAIN},"geometries":${table({ zone: ZONE })},"items":[${area('zone')}]}`
    const job = await send('/compute/v0/jobs', body)
    expect(problem(job)).toMatchObject({ status: 400, pointer: '#/geometries', code: 'not-for-jobs' })
  })
})

function multiPoint(points: number): string {
  return JSON.stringify({
    type: 'MultiPoint',
    coordinates: Array.from({ length: points }, (_, index) => [index / 100, 1]),
  })
}
