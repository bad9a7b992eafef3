import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, it } from 'vitest'
import problemSchema from '../../schemas/problem.schema.json' with { type: 'json' }
import proofSchema from '../../schemas/verified-proof.schema.json' with { type: 'json' }
import responseSchema from '../../schemas/verify-response.schema.json' with { type: 'json' }
import { authenticateAttestation } from '../../src/attest/authenticate.ts'
import { chainTable } from '../../src/attest/chains.ts'
import { decodeVerify } from '../../src/attest/data.ts'
import { readConfig } from '../../src/config/config.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { loadSecp256k1 } from '../../src/crypto/secp256k1.ts'
import { canonicalJson } from '../canonical-json.ts'
import { account, type Loose, NOW, proofOf, SIGNALS, stampOf, unsignedStamp } from '../evidence.ts'
import { RECIPIENT, TOWN_HALL } from '../fixtures.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { type SharedService, sharedService, startTestService } from '../service.ts'

const ajv = new Ajv2020({ strict: false, schemas: [proofSchema, responseSchema] })
const isStampResponse = ajv.getSchema('verify-response.schema.json#/$defs/VerifyStampResponse')!
const isProofResponse = ajv.getSchema('verify-response.schema.json#/$defs/VerifyProofResponse')!
const isProblem = ajv.compile(problemSchema)

describe.each(ADAPTERS)('verify over %s', (adapter) => {
  let service: SharedService
  beforeAll(async () => {
    service = await sharedService(adapter)
  })

  it('lists the plugins', async () => {
    const response = await fetch(`${service.url}/verify/v0/plugins`)
    const { plugins } = (await response.json()) as { plugins: Loose[] }
    const names = plugins.map(({ name }) => name)
    expect(names).toEqual(['proofmode', 'witnesschain', 'gpsd', 'geoclue', 'wifi-mls', 'ip-geolocation', 'mock'])
    expect(plugins[0]).toEqual({
      name: 'proofmode',
      version: '0.1.0',
      environments: ['mobile', 'server'],
      description: expect.any(String),
    })
  })

  it.each(Object.keys(SIGNALS))('verifies a stamp of %s', async (plugin) => {
    const { status, body } = await service.post('/verify/v0/stamp', { stamp: stampOf(plugin) })
    expect(status).toBe(200)
    expect(isStampResponse(body), JSON.stringify(isStampResponse.errors)).toBe(true)
    expect(body).toMatchObject({ valid: true })
    expect(body.pluginResult).toEqual(body.details)
  })

  it('answers 200 for a stamp that is not valid', async () => {
    const { status, body } = await service.post('/verify/v0/stamp', { stamp: { ...stampOf(), signatures: [] } })
    expect({ status, valid: body.valid }).toEqual({ status: 200, valid: false })
  })

  it('does not sign without a chain', async () => {
    const proof = proofOf([stampOf(), stampOf('geoclue')])
    const { status, body } = await service.post('/verify/v0/proof', { proof })
    expect(status).toBe(200)
    expect(isProofResponse(body), JSON.stringify(isProofResponse.errors)).toBe(true)
    expect(body.proof).toEqual(proof)
    expect(Object.keys(body).sort()).toEqual(['credibility', 'evaluatedAt', 'evaluationMethod', 'proof'])
  })

  it('signs the values of its response, for the requested chain', async () => {
    const recipient = RECIPIENT.toLowerCase()
    const proof = proofOf([stampOf(), stampOf('geoclue')])
    const { body, headers } = await service.post('/verify/v0/proof', { proof, options: { chainId: 84532, recipient } })
    expect(isProofResponse(body), JSON.stringify(isProofResponse.errors)).toBe(true)
    expect(headers.get('x-attester-nonce-source')).toBe('default')
    const keccak = await createKeccak()
    const decoded = decodeVerify(body.attestation.data)
    if (!decoded.ok) throw new Error(decoded.reason)
    expect(decoded.value).toEqual({
      proofHash: keccak.hashHex(Buffer.from(canonicalJson(proof))),
      meanDistanceMeters: 0,
      maxDistanceMeters: 0,
      withinRadiusBp: 10_000,
      meanOverlapBp: 10_000,
      minOverlapBp: 10_000,
      signaturesValidBp: 10_000,
      structureValidBp: 10_000,
      signalsConsistentBp: 10_000,
      uniquePluginRatioBp: 10_000,
      stampCount: 2,
    })
    expect(body.attestation).toMatchObject({
      schema: '0x8b3c602e17eb091dc3a26af8b9a05369ec682046eadffa9b36a93ce4215d6e2f',
      recipient: RECIPIENT,
      time: body.evaluatedAt,
      expirationTime: 0,
      revocationTime: 0,
    })
    const checked = authenticateAttestation(body, {
      chain: chainTable(readConfig({}, 1)).get(84532)!,
      attesters: [service.attester.toLowerCase()],
      nowSeconds: body.evaluatedAt,
      maxAgeSeconds: 0,
      keccak,
      secp256k1: await loadSecp256k1(),
    })
    expect(checked).toEqual({ ok: true })
  })

  it('accepts its own response as the input of an operation', async () => {
    const { body } = await service.post('/verify/v0/proof', {
      proof: proofOf([stampOf()]),
      options: { chainId: 84532 },
    })
    const computed = await service.post('/compute/v0/distance', {
      chainId: 84532,
      from: { verifiedProof: body },
      to: TOWN_HALL,
    })
    expect(computed.status).toBe(200)
    expect(computed.body).toMatchObject({ result: 4238.77 })
    expect(computed.body.inputRefs[0]).toBe(body.attestation.uid)
    expect(computed.body.proofInputs).toEqual([
      {
        ref: body.attestation.uid,
        credibility: body.credibility,
        claim: body.proof.claim,
        evaluatedAt: body.evaluatedAt,
        evaluationMethod: 'multifactor-v0',
      },
    ])
    const items = [{ id: 'a', op: 'distance', from: { verifiedProof: body }, to: TOWN_HALL }]
    const batch = await service.post('/compute/v0/batch', { chainId: 84532, items })
    expect(batch.body.results[0]).toMatchObject({ proofInputs: computed.body.proofInputs })
  })

  it('accepts an unsigned response as a geometry, and rejects one with exchanged stamps', async () => {
    const proof = proofOf([stampOf(), stampOf('geoclue')])
    const distance = (verifiedProof: unknown) =>
      service.post('/compute/v0/distance', { chainId: 84532, from: { verifiedProof }, to: TOWN_HALL })
    const unsigned = await service.post('/verify/v0/proof', { proof })
    const computed = await distance(unsigned.body)
    expect(computed.body).toMatchObject({ result: 4238.77 })
    expect(computed.body).not.toHaveProperty('proofInputs')
    const keccak = await createKeccak()
    expect(computed.body.inputRefs[0]).toBe(keccak.hashHex(Buffer.from(canonicalJson(proof))))
    const { body } = await service.post('/verify/v0/proof', { proof, options: { chainId: 84532 } })
    const stamps = [proof['stamps'][1], proof['stamps'][0]]
    const rejected = await distance({ ...body, proof: { ...proof, stamps } })
    expect(rejected.status).toBe(400)
    expect(rejected.body.errors[0]).toMatchObject({ pointer: '#/from/verifiedProof/proof', code: 'proof-hash' })
  })

  it('says that a claim needs a radius', async () => {
    const { body } = await service.post('/verify/v0/proof', { proof: proofOf([stampOf()], { radius: undefined }) })
    expect(body.errors).toEqual([
      {
        pointer: '#/proof/claim/radius',
        detail: 'is missing',
        code: 'missing-member',
        hint: 'send the largest distance from the location in metres, for example "radius": 100',
      },
    ])
  })

  const openRing = { type: 'Polygon', coordinates: [[[0, 0], [1, 0], [1, 1], [0, 1]]] } // biome-ignore format: a ring is one thing
  const many = (count: number) => Array.from({ length: count }, () => stampOf('mock'))
  it.each([
    ['nothing', {}, 'invalid-input', 400],
    ['no stamps', { proof: proofOf([]) }, 'validation', 400],
    ['65 stamps', { proof: proofOf(many(65)) }, 'validation', 400],
    [
      'no radius',
      { proof: { ...proofOf([stampOf()]), claim: { ...proofOf([])['claim'], radius: undefined } } },
      'validation',
      400,
    ],
    ['radius 0', { proof: proofOf([stampOf()], { radius: 0 }) }, 'validation', 400],
    ['no time', { proof: proofOf([stampOf()], { time: undefined }) }, 'validation', 400],
    ['time backwards', { proof: proofOf([stampOf()], { time: { start: 2, end: 1 } }) }, 'validation', 400],
    ['another version', { proof: proofOf([stampOf()], { lpVersion: '0.1' }) }, 'validation', 400],
    ['another srs', { proof: proofOf([stampOf()], { srs: 'EPSG:3857' }) }, 'validation', 400],
    [
      'another scheme',
      { proof: proofOf([stampOf()], { subject: { scheme: 'did:pkh', value: 'x' } }) },
      'validation',
      400,
    ],
    ['no location', { proof: proofOf([stampOf()], { location: undefined }) }, 'invalid-input', 400],
    ['an open ring', { proof: proofOf([stampOf()], { location: openRing }) }, 'invalid-input', 400],
    ['a stamp without signals', { proof: proofOf([{ ...stampOf(), signals: undefined }]) }, 'invalid-input', 400],
    ['a stamp without a plugin', { proof: proofOf([stampOf('gpsd', { plugin: '' })]) }, 'validation', 400],
    ['a stamp of another version', { proof: proofOf([stampOf('gpsd', { lpVersion: '1.0' })]) }, 'validation', 400],
    ['an unknown plugin', { proof: proofOf([stampOf('gpsd', { plugin: 'sextant' })]) }, 'not-implemented', 501],
    [
      'submission without a chain',
      { proof: proofOf([stampOf()]), options: { submitOnchain: true } },
      'validation',
      400,
    ],
    [
      'submission',
      { proof: proofOf([stampOf()]), options: { submitOnchain: true, chainId: 84532 } },
      'not-implemented',
      501,
    ],
    ['an unknown chain', { proof: proofOf([stampOf()]), options: { chainId: 999 } }, 'invalid-input', 400],
  ])('rejects %s', async (_, request, type, expected) => {
    const { status, body } = await service.post('/verify/v0/proof', request)
    expect(isProblem(body)).toBe(true)
    expect({ status, type: body.type }).toEqual({ status: expected, type: `${service.url}/errors/${type}` })
    expect(body.errors[0].pointer).toMatch(/^#/)
  })

  it.each([65, 256, 40_000])('rejects %i stamps because of their number', async (count) => {
    const stamps = `[${Array(count).fill('{}').join()}]`
    const body = `{"proof":{"claim":${JSON.stringify(proofOf([])['claim'])},"stamps":${stamps}}}`
    const { status, body: problem } = await service.post('/verify/v0/proof', body)
    expect({ status, code: problem.errors[0].code }).toEqual({ status: 400, code: 'evidence-limit' })
  })

  it('verifies 64 stamps with 16 signatures each', async () => {
    const stamp = stampOf('mock')
    const signatures = Array(16).fill(stamp['signatures'][0])
    const proof = proofOf(Array(64).fill({ ...stamp, signatures }))
    const { status, body } = await service.post('/verify/v0/proof', { proof })
    expect(status).toBe(200)
    expect(body.credibility.extensions).toMatchObject({ duplicateStamps: 63, mockStamps: 64, distinctSigners: 1 })
  })

  it.each([
    ['an instant', { start: NOW, end: NOW }, { temporalOverlap: 1, structureValid: true }],
    ['fractions of seconds', { start: NOW + 0.25, end: NOW + 0.75 }, { temporalOverlap: 1, structureValid: true }],
    ['an end before the start', { start: NOW, end: NOW - 1 }, { temporalOverlap: 0, structureValid: false }],
    ['a time before the epoch', { start: -5, end: -1 }, { temporalOverlap: 0, structureValid: false }],
    ['all of time', { start: -1.7e308, end: 1.7e308 }, { temporalOverlap: 1, structureValid: false }],
    ['the first second', { start: 0, end: 1 }, { temporalOverlap: 0, structureValid: true }],
    ['a time without end', { start: NOW, end: 1e300 }, { temporalOverlap: 0.5, structureValid: true }],
  ])('evaluates a temporal footprint with %s', async (_, temporalFootprint, expected) => {
    const { status, body } = await service.post('/verify/v0/proof', {
      proof: proofOf([stampOf('mock', { temporalFootprint })]),
    })
    expect(status).toBe(200)
    expect(body.credibility.stampResults[0]).toMatchObject({ signaturesValid: true, ...expected })
    expect(
      JSON.stringify([
        body.credibility.dimensions,
        body.credibility.stampResults[0].details.evaluation.stampDurationSeconds,
      ]),
    ).not.toContain('null')
  })

  it('rejects a claim with a negative time or with numbers that are not finite', async () => {
    for (const claim of [
      { time: { start: -1, end: 5 } },
      { time: { start: '1', end: 5 } },
      { radius: '100' },
      { radius: -1 },
    ]) {
      const { status, body } = await service.post('/verify/v0/proof', { proof: proofOf([stampOf()], claim) })
      expect({ status, type: body.type }).toEqual({ status: 400, type: `${service.url}/errors/validation` })
    }
    const body = JSON.stringify({ proof: proofOf([stampOf()]) }).replace('"radius":100', '"radius":1e999')
    expect((await service.post('/verify/v0/proof', body)).status).toBe(400)
  })

  it('measures the distance between claimed and observed polygons', async () => {
    const square = (west: number) => ({
      type: 'Polygon',
      coordinates: [[[west, 48], [west + 1, 48], [west + 1, 49], [west, 49], [west, 48]]],
    }) // biome-ignore format: a ring is one thing
    const changes = { location: square(2), locationType: 'geojson-polygon', signals: {} }
    const claim = { location: square(4), locationType: 'geojson-polygon' }
    const { body } = await service.post('/verify/v0/proof', { proof: proofOf([stampOf('mock', changes)], claim) })
    const { body: computed } = await service.post('/compute/v0/distance', {
      chainId: 84532,
      from: square(2),
      to: square(4),
    })
    expect(body.credibility.dimensions.spatial.meanDistanceMeters).toBeCloseTo(computed.result, 1)
  })

  it('rejects dangerous members in signals', async () => {
    const text = JSON.stringify({ stamp: stampOf('mock') })
    for (const trap of ['"__proto__":{},', '"constructor":1,', '"provider":"x",']) {
      const { body } = await service.post('/verify/v0/stamp', text.replace('"provider"', `${trap}"provider"`))
      expect(body.type).toBe(`${service.url}/errors/bad-request`)
    }
  })

  it('rejects 300 KB of signals with 200 signatures', async () => {
    const stamp = unsignedStamp('mock', { signals: { padding: 'x'.repeat(300_000) } })
    const one = stampOf('mock')['signatures'][0]
    const body = JSON.stringify({ stamp: { ...stamp, signatures: Array(200).fill(one) } })
    const { status, body: problem } = await service.post('/verify/v0/stamp', body)
    expect({ status, type: problem.type }).toEqual({ status: 400, type: `${service.url}/errors/validation` })
  })

  it('checks whether stamps belong to the subject', async () => {
    const claim = { subject: { scheme: 'eth-address', value: account(1).address.toUpperCase().replace('0X', '0x') } }
    const { body } = await service.post('/verify/v0/proof', {
      proof: proofOf([stampOf(), stampOf('geoclue', {}, 2)], claim),
    })
    const bound = body.credibility.stampResults.map(({ details }: Loose) => details.signatures[0].boundToSubject)
    expect(bound).toEqual([true, false])
    expect(body.credibility.extensions).toMatchObject({ distinctSigners: 2, boundToSubjectFraction: 0.5 })
  })
})

describe('the evaluation that the operator claims', () => {
  const OPERATOR = { EVALUATION_MODE: 'tee', EVALUATION_METHOD: 'acme "v1" é' }

  it('is part of responses, and the startup log attributes it to the operator', async () => {
    const service = await startTestService(OPERATOR)
    const warnings = service.lines
      .filter((line) => line.includes("the operator's claim"))
      .map((line) => JSON.parse(line))
    expect(warnings).toMatchObject([{ level: 'warn', mode: 'tee', method: 'acme "v1" é' }])
    const request = { proof: proofOf([stampOf()]), options: { chainId: 84532 } }
    const { body } = await service.post('/verify/v0/proof', request)
    expect(isProofResponse(body), JSON.stringify(isProofResponse.errors)).toBe(true)
    expect(body).toMatchObject({ evaluationMethod: 'acme "v1" é', credibility: { meta: { evaluationMode: 'tee' } } })
    const chained = await service.post('/compute/v0/distance', {
      chainId: 84532,
      from: { verifiedProof: body },
      to: TOWN_HALL,
    })
    expect(chained.status, JSON.stringify(chained.body)).toBe(200)
    expect(chained.body.proofInputs[0]).toMatchObject({
      evaluationMethod: 'acme "v1" é',
      credibility: { meta: { evaluationMode: 'tee' } },
    })
    await service.stop()
  })

  it('defaults to local and multifactor-v0, and is then not logged at startup', async () => {
    const service = await sharedService(ADAPTERS[0]!)
    expect(service.lines.join('\n')).not.toContain("operator's claim")
    const { body } = await service.post('/verify/v0/proof', { proof: proofOf([stampOf()]) })
    expect(body.evaluationMethod).toBe('multifactor-v0')
    expect(body.credibility.meta.evaluationMode).toBe('local')
  })
})
