/** Inputs with a salt, whose references nobody can guess. */
import { beforeAll, describe, expect, it } from 'vitest'
import { createClient, createReceipt, readReceipt, verifyReceipt, verifyResult } from '../../src/client/client.ts'
import { createRecompute } from '../../src/client/recompute.ts'
import { canonicalGeometry } from '../../src/crypto/canonical.ts'
import { utf8 } from '../../src/crypto/hex.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { proofOf, stampOf } from '../evidence.ts'
import { EAST, EIFFEL_TOWER, ROAD, ROME, SQUARE } from '../fixtures.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { type SharedService, sharedService } from '../service.ts'

const CHAIN = 84532
const SALT = `0x${'5a'.repeat(31)}0F`
const OTHER_SALT = `0x${'00'.repeat(31)}01`
const keccak = await createKeccak()
const recompute = createRecompute()

const saltedRef = (geometry: Geometry, salt: string) =>
  keccak.hashHex(Buffer.concat([utf8(canonicalGeometry(geometry)), Buffer.from(salt.slice(2), 'hex')]))
const plainRef = (geometry: Geometry) => keccak.hashHex(utf8(canonicalGeometry(geometry)))

/** Every operation, with the names and values of its inputs. */
const REQUESTS: readonly (readonly [string, readonly (readonly [string, Geometry])[], object])[] = [
  [
    'distance',
    [
      ['from', EIFFEL_TOWER],
      ['to', ROME],
    ],
    {},
  ],
  [
    'distance',
    [
      ['from', SQUARE],
      ['to', ROME],
    ],
    {},
  ],
  [
    'within',
    [
      ['geometry', EIFFEL_TOWER],
      ['target', SQUARE],
    ],
    { radius: 50_000 },
  ],
  ['length', [['geometry', ROAD]], {}],
  ['area', [['geometry', SQUARE]], {}],
  [
    'contains',
    [
      ['container', SQUARE],
      ['containee', EIFFEL_TOWER],
    ],
    {},
  ],
  [
    'intersects',
    [
      ['geometry1', SQUARE],
      ['geometry2', EAST],
    ],
    {},
  ],
  [
    'relate',
    [
      ['geometry1', SQUARE],
      ['geometry2', EAST],
    ],
    { pattern: 'T********' },
  ],
  [
    'covers',
    [
      ['geometry1', SQUARE],
      ['geometry2', EAST],
    ],
    {},
  ],
  [
    'nearest',
    [
      ['from', SQUARE],
      ['to', ROME],
    ],
    {},
  ],
  ['buffer', [['geometry', ROME]], { radius: 100 }],
  ['repair', [['geometry', SQUARE]], {}],
]

describe.each(ADAPTERS)('inputs with a salt over %s', (adapter) => {
  let service: SharedService
  beforeAll(async () => {
    service = await sharedService(adapter)
  })
  const post = (operation: string, members: object) =>
    service.post(`/compute/v0/${operation}`, { chainId: CHAIN, ...members })
  const options = (inputs: readonly object[]) => ({
    attester: service.attester,
    chainId: CHAIN,
    inputs: inputs as Geometry[],
    recompute,
  })

  it.each(REQUESTS)(
    'change only the references of %s, and the answer names the salts',
    async (operation, inputs, rest) => {
      const plain = await post(operation, { ...Object.fromEntries(inputs), ...rest })
      expect(plain.body).not.toHaveProperty('inputSalts')
      const [first, ...others] = inputs
      const salted = { input: first![1], salt: SALT }
      const { status, body } = await post(operation, { [first![0]]: salted, ...Object.fromEntries(others), ...rest })
      expect([status, body.detail]).toEqual([200, undefined])
      expect(body.inputSalts).toEqual([SALT.toLowerCase(), ...others.map(() => null)])
      expect(body.inputRefs).toEqual([saltedRef(first![1], SALT), ...others.map(([, geometry]) => plainRef(geometry))])
      for (const member of ['result', 'operation', 'units', 'matrix', 'geometry', 'ref', 'changes', 'from', 'to'])
        expect(body[member]).toEqual(plain.body[member])
    },
  )

  it('get a new random salt in each answer', async () => {
    const request = { from: { input: EIFFEL_TOWER, salt: 'random' }, to: { input: ROME, salt: 'random' } }
    const answers = []
    for (let i = 0; i < 5; i++) answers.push((await post('distance', request)).body)
    const salts = answers.flatMap(({ inputSalts }) => inputSalts as string[])
    expect(new Set(salts).size).toBe(10)
    for (const { inputSalts, inputRefs } of answers)
      expect(inputRefs).toEqual([saltedRef(EIFFEL_TOWER, inputSalts[0]), saltedRef(ROME, inputSalts[1])])
  })

  it('are verified with the salts of the answer, and with no others', async () => {
    const request = { container: SQUARE, containee: { input: EIFFEL_TOWER, salt: 'random' } }
    const { body } = await post('contains', request)
    const [, salt] = body.inputSalts as [null, string]
    const statusOf = async (answer: object, inputs: readonly object[]) => {
      const verdict = await verifyResult(answer, options(inputs))
      return [verdict.ok, verdict.checks.find(({ id }) => id === 'inputs')?.status]
    }
    for (const containee of [EIFFEL_TOWER, request.containee, { input: EIFFEL_TOWER, salt }])
      expect(await statusOf(body, [SQUARE, containee])).toEqual([true, 'pass'])
    for (const containee of [ROME, { input: ROME, salt }, { input: EIFFEL_TOWER, salt: OTHER_SALT }])
      expect(await statusOf(body, [SQUARE, containee])).toEqual([false, 'fail'])
    for (const inputSalts of [[null, null], [salt, null], [null, OTHER_SALT], []])
      expect(await statusOf({ ...body, inputSalts }, [SQUARE, EIFFEL_TOWER])).toEqual([false, 'fail'])
    const { inputSalts: _, ...unsalted } = body
    expect(await statusOf(unsalted, [SQUARE, { input: EIFFEL_TOWER, salt }])).toEqual([true, 'pass'])
    expect(await statusOf(unsalted, [SQUARE, request.containee])).toEqual([false, 'fail'])
  })

  it('are carried by receipts, which are valid', async () => {
    const { body } = await post('within', {
      geometry: { input: EIFFEL_TOWER, salt: SALT },
      target: ROME,
      radius: 1_000_000,
    })
    const receipt = await createReceipt(body, { baseUrl: service.url, inputs: [EIFFEL_TOWER, ROME] })
    const verdict = await verifyReceipt(receipt, { attester: service.attester })
    expect([verdict.status, verdict.checks.find(({ id }) => id === 'inputs')?.status]).toEqual(['valid', 'pass'])
    // The salt would only help to guess an input that the receipt does not show.
    const hiding = await readReceipt(await createReceipt(body, { baseUrl: service.url }))
    expect(hiding.response).not.toHaveProperty('inputSalts')
    expect(hiding.response['inputRefs']).toEqual(body.inputRefs)
  })

  it('are never verified or sent when they have another form too', async () => {
    const { body } = await post('distance', { from: { input: EIFFEL_TOWER, salt: SALT }, to: ROME })
    const client = createClient({ baseUrl: service.url, chainId: CHAIN })
    const salted = { input: EIFFEL_TOWER, salt: SALT }
    for (const shown of [
      { ...ROAD, ...salted },
      { type: 'Feature', geometry: ROAD, properties: {}, ...salted },
      { uid: OTHER_SALT, ...salted },
      { ref: OTHER_SALT, ...salted },
      { verifiedProof: {}, ...salted },
      { input: { input: EIFFEL_TOWER, salt: SALT }, salt: SALT },
      { input: { uid: OTHER_SALT, ref: OTHER_SALT }, salt: SALT },
    ]) {
      const verdict = await verifyResult(body, options([shown, ROME]))
      expect([shown, verdict.checks.find(({ id }) => id === 'inputs')?.status]).toEqual([shown, 'fail'])
      await expect(client.compute.distance(shown as never, ROME)).rejects.toThrow(TypeError)
    }
  })

  it('give receipts only the salts of inputs that these show', async () => {
    const { body } = await post('distance', {
      from: { input: EIFFEL_TOWER, salt: SALT },
      to: { input: ROME, salt: OTHER_SALT },
    })
    const read = async (inputs: readonly object[]) => {
      const address = await createReceipt(body, { baseUrl: service.url, inputs: inputs as Geometry[] })
      const { status } = await verifyReceipt(address, { attester: service.attester })
      return { status, ...(await readReceipt(address)) }
    }
    const partial = await read([{ ref: body.inputRefs[0] }, ROME])
    expect([partial.status, partial.response['inputSalts']]).toEqual(['valid', [null, OTHER_SALT]])
    for (const inputs of [[], [{ ref: body.inputRefs[0] }, { ref: body.inputRefs[1] }]])
      expect((await read(inputs)).response).not.toHaveProperty('inputSalts')
    // No signature covers the other members of a Feature.
    const feature = { type: 'Feature', geometry: EIFFEL_TOWER, properties: { name: 'secret' } }
    const whole = await read([{ input: feature, salt: SALT, name: 'secret' }, ROME])
    expect(whole.status).toBe('valid')
    expect(whole.inputs).toEqual([{ input: EIFFEL_TOWER, salt: SALT }, ROME])
  })

  it('can be verified proofs without an attestation', async () => {
    const { body: proven } = await service.post('/verify/v0/proof', {
      proof: proofOf([stampOf()]),
      options: { chainId: CHAIN },
    })
    const { attestation, delegatedAttestation, ...unsigned } = proven
    const { body } = await post('distance', { from: { input: { verifiedProof: unsigned }, salt: SALT }, to: ROME })
    const inputs = [{ verifiedProof: unsigned }, ROME]
    const verdict = await verifyResult(body, options(inputs))
    expect(verdict.checks.filter(({ status }) => status === 'fail')).toEqual([])
    expect(verdict.checks.find(({ id }) => id === 'inputs')?.status).toBe('pass')
    const attested = await post('distance', { from: { input: { verifiedProof: proven }, salt: SALT }, to: ROME })
    expect([attested.status, attested.body.errors[0].code]).toEqual([400, 'salted-attestation'])
  })

  it('work in batches with every kind of attestation, beside items without a salt', async () => {
    const client = createClient({ baseUrl: service.url, chainId: CHAIN })
    for (const attest of ['each', 'merkle', 'none'] as const) {
      const items = [
        { op: 'distance', from: { input: EIFFEL_TOWER, salt: SALT }, to: ROME },
        { op: 'distance', from: EIFFEL_TOWER, to: ROME },
        { op: 'contains', container: { input: SQUARE, salt: 'random' }, containee: EIFFEL_TOWER },
        { op: 'distance', from: { input: EIFFEL_TOWER, salt: 'short' }, to: ROME },
        { op: 'distance', from: { input: EIFFEL_TOWER, salt: OTHER_SALT }, to: ROME },
      ] as never[]
      const { results, merkle } = (await client.batch.run(items, { attest })) as unknown as {
        // biome-ignore lint/suspicious/noExplicitAny: results of several kinds
        results: any[]
        merkle?: object
      }
      expect(results[0].inputRefs).toEqual([saltedRef(EIFFEL_TOWER, SALT), plainRef(ROME)])
      expect(results[1]).not.toHaveProperty('inputSalts')
      expect(results[2].inputSalts).toEqual([expect.stringMatching(/^0x[0-9a-f]{64}$/), null])
      expect(results[3].error.errors[0].pointer).toBe('#/items/3/from/salt')
      expect(results[4].inputRefs[0]).toBe(saltedRef(EIFFEL_TOWER, OTHER_SALT))
      if (attest === 'none') continue
      for (const [index, inputs] of [
        [0, [EIFFEL_TOWER, ROME]],
        [2, [SQUARE, EIFFEL_TOWER]],
      ] as const) {
        const verdict = await verifyResult(results[index], { ...options(inputs), ...(merkle && { merkle }) } as never)
        expect(verdict.checks.filter(({ status }) => status === 'fail')).toEqual([])
        expect(verdict.checks.find(({ id }) => id === 'inputs')?.status).toBe('pass')
      }
    }
  })

  it.each([
    [{ input: EIFFEL_TOWER }, '#/from/salt', 'missing-member'],
    [{ input: EIFFEL_TOWER, salt: 'Random' }, '#/from/salt', 'invalid-salt'],
    [{ input: EIFFEL_TOWER, salt: `0x${'1'.repeat(63)}` }, '#/from/salt', 'invalid-salt'],
    [{ input: EIFFEL_TOWER, salt: 5 }, '#/from/salt', 'invalid-salt'],
    [{ input: { input: EIFFEL_TOWER, salt: SALT }, salt: SALT }, '#/from/input', 'salted-twice'],
    [{ input: { uid: SALT }, salt: SALT }, '#/from/salt', 'salted-attestation'],
    [{ input: { ...EIFFEL_TOWER, coordinates: [200, 0] }, salt: SALT }, '#/from/input/coordinates/0', undefined],
    [{ input: null, salt: SALT }, '#/from/input', 'wrong-type'],
    [{ ...EIFFEL_TOWER, input: ROME, salt: SALT }, '#/from', 'ambiguous-input'],
    // An answer without a salt must not pass for one with a salt.
    [{ ...EIFFEL_TOWER, salt: 'random' }, '#/from/salt', 'salt-without-input'],
    [{ type: 'Feature', geometry: EIFFEL_TOWER, properties: {}, salt: SALT }, '#/from/salt', 'salt-without-input'],
    [
      { type: 'Feature', geometry: { ...EIFFEL_TOWER, salt: SALT }, properties: {} },
      '#/from/geometry/salt',
      'salt-without-input',
    ],
    [
      { type: 'GeometryCollection', geometries: [ROAD, { ...EIFFEL_TOWER, salt: SALT }] },
      '#/from/geometries/1/salt',
      'salt-without-input',
    ],
    [{ uid: SALT, salt: SALT }, '#/from/salt', 'salt-without-input'],
    [{ input: { ...EIFFEL_TOWER, salt: SALT }, salt: SALT }, '#/from/input/salt', 'salt-without-input'],
  ])('are rejected as %j', async (from, pointer, code) => {
    const { status, body } = await post('distance', { from, to: ROME })
    expect([status, body.errors[0].pointer]).toEqual([400, pointer])
    if (code !== undefined) expect(body.errors[0].code).toBe(code)
  })

  it('are rejected when an option is in the query, which JSON requests do not read', async () => {
    const item = { from: EIFFEL_TOWER, to: ROME }
    const batch = { chainId: CHAIN, items: [{ op: 'distance', ...item }] }
    const proof = { proof: proofOf([stampOf()]), options: { chainId: CHAIN } }
    for (const [path, body] of [
      ['/compute/v0/distance', { chainId: CHAIN, ...item }],
      ['/compute/v0/batch', batch],
      ['/verify/v0/proof', proof],
    ] as const) {
      for (const name of ['submitOnchain', 'submitOnChain', 'salt']) {
        const { status, body: answer } = await service.post(`${path}?${name}=true`, body)
        expect([path, status, answer.errors?.[0]]).toMatchObject([
          path,
          400,
          { pointer: `#/${name}`, code: 'unknown-parameter' },
        ])
      }
      expect((await service.post(`${path}?v=1`, body)).status).toBe(200)
    }
  })

  it('get a hint that says which salts there are', async () => {
    const { body } = await post('distance', { from: { input: EIFFEL_TOWER, salt: `0x${'1'.repeat(62)}` }, to: ROME })
    expect(body.errors[0].hint).toMatch(/"random".*0x and 64 hex digits/)
  })

  it('are not hidden by a salt beside the inputs, which is rejected', async () => {
    const body = { from: EIFFEL_TOWER, to: ROME, salt: 'random' }
    const single = await post('distance', body)
    expect([single.status, single.body.errors[0]]).toMatchObject([
      400,
      { pointer: '#/salt', code: 'salt-without-input' },
    ])
    const batch = await service.post('/compute/v0/batch', { chainId: 84532, items: [{ op: 'distance', ...body }] })
    expect(batch.body.results[0].error.errors[0]).toMatchObject({ code: 'salt-without-input' })
  })
})
