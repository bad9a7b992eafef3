import { beforeAll, describe, expect, it } from 'vitest'
import { attestationUid } from '../../src/attest/uid.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { type Loose, proofOf, stampOf } from '../evidence.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { type SharedService, sharedService, startTestService } from '../service.ts'

describe('the older version of the verify API', () => {
  let service: SharedService
  beforeAll(async () => {
    service = await sharedService(ADAPTERS[0]!)
  })

  it('lists the plugins with its own environment names', async () => {
    const response = await fetch(`${service.url}/v1/verify/plugins`)
    const { plugins } = (await response.json()) as { plugins: Loose[] }
    expect(plugins[0]).toMatchObject({ name: 'proofmode', environments: ['iOS', 'Android', 'React Native', 'Node.js'] })
    expect(plugins[2]).toMatchObject({ name: 'gpsd', environments: ['Node.js'] })
    expect(response.headers.get('deprecation')).toMatch(/^@\d+$/)
  })

  it('verifies a stamp like the current version', async () => {
    const stamp = stampOf()
    const older = await service.post('/v1/verify/stamp', { stamp })
    const { body } = await service.post('/verify/v0/stamp', { stamp })
    expect(older.body).toMatchObject({ valid: true, signaturesValid: true })
    expect(Object.keys(older.body)).toEqual(Object.keys(body))
  })

  it('returns how far each stamp of a proof supports the claim, the attester and a UID', async () => {
    const far = { location: { type: 'Point', coordinates: [3, 48.8584] }, signals: {} }
    const proof = proofOf([stampOf(), stampOf('mock', far)])
    const { status, body } = await service.post('/v1/verify/proof', { proof })
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual(['attester', 'credibility', 'proof', 'timestamp', 'uid'])
    expect(body).toMatchObject({ proof, attester: service.attester, timestamp: expect.any(Number) })
    expect(body.uid).toMatch(/^0x[0-9a-f]{64}$/)
    const { confidence, stampResults, correlation, dimensions } = body.credibility
    expect(confidence).toBe(0.5)
    expect(stampResults).toMatchObject([
      { supportsClaim: true, claimSupportScore: 1 },
      { supportsClaim: false, claimSupportScore: 0 },
    ])
    expect(correlation).toMatchObject({ independence: 1, agreement: 0 })
    expect(correlation.notes[0]).toMatch(/not a calibrated probability/)
    for (const value of Object.values(dimensions)) expect(typeof value).toBe('number')
  })

  it('signs for the requested chain, under the UID of its response', async () => {
    const request = { proof: proofOf([stampOf()]), options: { chainId: 84532 } }
    const { body } = await service.post('/v1/verify/proof', request)
    const { uid, time, expirationTime, ...fields } = body.attestation
    expect(uid).toBe(body.uid)
    const times = { timeSeconds: time, expirationTimeSeconds: expirationTime }
    expect(attestationUid({ ...fields, ...times }, await createKeccak())).toBe(uid)
    expect(body).not.toHaveProperty('chainId') // only submissions have this member
  })

  const broken = () => ({ ...stampOf(), signatures: [{ ...stampOf()['signatures'][0], value: '0x00' }] })
  const emptied = () => ({ ...stampOf(), signatures: [{ ...stampOf()['signatures'][0], value: '' }] })
  const NOBODY = { subject: { scheme: 'eth-address', value: '' } }
  it.each([
    ['a signature that does not verify', 'stamp', () => ({ stamp: broken() }), 422, 'SIGNATURE_INVALID'],
    ['one in a proof', 'proof', () => ({ proof: proofOf([stampOf(), broken()]) }), 422, 'SIGNATURE_INVALID'],
    ['no radius', 'proof', () => ({ proof: proofOf([stampOf()], { radius: undefined }) }), 400, 'MISSING_RADIUS'],
    ['no subject', 'proof', () => ({ proof: proofOf([stampOf()], { subject: undefined }) }), 400, 'INVALID_CLAIM'],
    ['no signals', 'proof', () => ({ proof: proofOf([{ ...stampOf(), signals: 1 }]) }), 400, 'INVALID_STAMP'],
    ['no plugin', 'stamp', () => ({ stamp: stampOf('gpsd', { plugin: '' }) }), 400, 'INVALID_STAMP'],
    ['another version', 'stamp', () => ({ stamp: stampOf('gpsd', { lpVersion: '0.3' }) }), 400, 'INVALID_STAMP'],
    ['an empty signature', 'stamp', () => ({ stamp: emptied() }), 400, 'INVALID_STAMP'],
    ['one in a proof that is empty', 'proof', () => ({ proof: proofOf([stampOf(), emptied()]) }), 400, 'INVALID_STAMP'],
    ['an empty subject', 'proof', () => ({ proof: proofOf([stampOf()], NOBODY) }), 400, 'INVALID_CLAIM'],
    ['no stamps', 'proof', () => ({ proof: proofOf([]) }), 400, 'INVALID_STAMP'],
    ['nothing', 'stamp', () => ({}), 400, 'INVALID_STAMP'],
    ['an unknown plugin', 'stamp', () => ({ stamp: stampOf('gpsd', { plugin: 'sextant' }) }), 400, 'UNKNOWN_PLUGIN'],
    ['no JSON', 'stamp', () => '{', 400, 'BAD_REQUEST'],
  ])('rejects %s with its own error format', async (_, kind, request, status, code) => {
    const rejected = await service.post(`/v1/verify/${kind}`, request())
    expect(rejected.status).toBe(status)
    expect(rejected.body).toEqual({ error: { code, message: expect.any(String) } })
    expect(rejected.headers.get('content-type')).toContain('application/json')
    expect(rejected.headers.get('deprecation')).toMatch(/^@\d+$/)
  })

  it('counts requests and accepts keys like the current version', async () => {
    const wrong = await service.post('/v1/verify/stamp', { stamp: stampOf() }, { 'x-api-key': 'nobody' })
    expect(wrong).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } })
    const { headers } = await service.post('/v1/verify/stamp', { stamp: stampOf() })
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeLessThan(Number(headers.get('x-ratelimit-limit')))
    const current = await fetch(`${service.url}/verify/v0/plugins`)
    expect(current.headers.get('deprecation')).toBeNull()
  })
})

it('the older version can be switched off', async () => {
  const service = await startTestService({ LEGACY_V1: '0' })
  expect((await service.post('/v1/verify/stamp', { stamp: stampOf() })).status).toBe(404)
  expect((await service.post('/verify/v0/stamp', { stamp: stampOf() })).status).toBe(200)
  expect(await service.stop()).toBe(0)
})
