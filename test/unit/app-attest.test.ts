import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readAppAttestation } from '../../src/verify/device/app-attest.ts'
import { readCbor } from '../../src/verify/device/cbor.ts'
import { verifyChain } from '../../src/verify/device/chain.ts'
import { trustAnchors } from '../../src/verify/device/trust.ts'
import { APP_ID, type AppAttestOptions, appAttestation } from '../app-attest-maker.ts'
import { ellipticKey, phoneMaker } from '../certificates.ts'
import { commitment, deviceContext, judgeDevice } from '../device-context.ts'
import type { Loose } from '../evidence.ts'
import vectors from '../vectors/app-attest.json' with { type: 'json' }

const maker = phoneMaker()
const trust = { appleRoots: [maker.rootPem], appleAppIds: [APP_ID] }

function judge(
  options: AppAttestOptions = {},
  settings: Loose = {},
  signals: Loose = {},
  boundBy: 'sha256' | 'FileHash' = 'sha256',
) {
  const { attestation } = appAttestation(maker, commitment(deviceContext(), boundBy), options)
  return judgeDevice(deviceContext({ 'DeviceCheck.Attestation': attestation, ...signals }), { ...trust, ...settings })
}

describe('App Attest', () => {
  it.each(vectors.cases)(
    'reads an attestation that Apple issued to an iPhone for $environment',
    ({ attestation, challenge, keyId, environment }) => {
      // Apple's real signatures verify under the pinned root at a date in the week when they were made.
      const read = readAppAttestation(Buffer.from(attestation, 'base64'))
      expect(read.environment).toBe(environment)
      expect(read.counter).toBe(0)
      expect(Buffer.from(read.credentialId).toString('base64')).toBe(keyId)
      expect(Buffer.from(read.rpIdHash)).toEqual(createHash('sha256').update(vectors.appId).digest())
      const policy = { anchors: trustAnchors('apple', []), revokedSerials: new Set<string>() }
      const chain = verifyChain(read.certificates, { ...policy, atSeconds: Date.parse('2024-02-08T00:00:00Z') / 1000 })
      if (!chain.ok) throw new Error(chain.reason)
      const nonce = chain.certificates[0]!.extensions.get('1.2.840.113635.100.8.2')!
      const hash = createHash('sha256').update(Buffer.from(challenge, 'base64')).digest()
      const expectedNonce = createHash('sha256').update(read.authenticatorData).update(hash).digest()
      // SEQUENCE { [1] { OCTET STRING } } is 6 bytes before the nonce.
      expect(Buffer.from(nonce.subarray(6))).toEqual(expectedNonce)
      const late = verifyChain(read.certificates, { ...policy, atSeconds: Date.parse('2026-02-08T00:00:00Z') / 1000 })
      expect(late).toMatchObject({ ok: false, fault: 'not-valid-then', at: 0 })
      expect(
        verifyChain(read.certificates, { ...policy, anchors: trustAnchors('android', []), atSeconds: 1_707_350_400 }),
      ).toMatchObject({
        ok: false,
        fault: 'unknown-root',
      })
    },
  )

  it('is accepted when it is bound to this stamp, from a known app and under a trusted root', () => {
    const { failed, warned, facts } = judge()
    expect({ failed, warned }).toEqual({ failed: [], warned: [] })
    expect(facts.appAttest).toEqual({ environment: 'production', boundBy: 'sha256' })
  })

  it('warns when it covers only the file, and when no app is configured', () => {
    const file = { failed: [], warned: ['app-attest-covers-location'], facts: {} }
    expect(judge({}, {}, {}, 'FileHash')).toMatchObject(file)
    expect(judge({}, { appleAppIds: [] })).toMatchObject({ failed: [], warned: ['app-attest-app'] })
  })

  it('accepts an app in development only if the settings allow it', () => {
    expect(judge({ aaguid: 'appattestdevelop' }).failed).toEqual(['app-attest-environment'])
    expect(judge({ aaguid: 'appattestdevelop' }, { allowDevelopmentApps: true }).failed).toEqual([])
  })

  const BROKEN: readonly (readonly [string, string, AppAttestOptions, Loose?, Loose?])[] = [
    ['a nonce for another stamp', 'app-attest-binding', { nonce: Buffer.alloc(32) }],
    ['a stamp that was changed afterwards', 'app-attest-binding', {}, {}, { 'Location.Latitude': '48.9' }],
    ['another app', 'app-attest-app', { appId: 'ABCDE12345.org.example.other' }],
    ['a key that was used before', 'app-attest-counter', { counter: 1 }],
    ['an unknown environment', 'app-attest-environment', { aaguid: 'appattest\0\0\0\0\0\0\u0001' }],
    ['another credential', 'app-attest-key', { credentialId: Buffer.alloc(32) }],
    [
      'another key identifier',
      'app-attest-key-id',
      {},
      {},
      { 'DeviceCheck.KeyId': Buffer.alloc(32).toString('base64') },
    ],
    ['another format', 'app-attest-form', { fmt: 'packed' }],
    ['a root that is not pinned', 'app-attest-chain', {}, { appleRoots: [] }],
    ['a revoked authority', 'app-attest-chain', {}, { revokedSerials: ['2'] }],
    ['a key on another curve', 'app-attest-chain', { key: ellipticKey('secp256k1').publicKey }],
    ['an attestation that is not base64', 'app-attest-form', {}, {}, { 'DeviceCheck.Attestation': '%' }],
    ['an attestation that is not a string', 'app-attest-form', {}, {}, { 'DeviceCheck.Attestation': 7 }],
    ['an object of 40 KB', 'app-attest-form', {}, {}, { 'DeviceCheck.Attestation': 'AAAA'.repeat(14_000) }],
  ]
  for (const [name, id, options, settings = {}, signals = {}] of BROKEN) {
    it(`rejects ${name}`, () => {
      expect(judge(options, settings, signals).failed).toContain(id)
    })
  }

  it('reports a failed check for every flipped byte outside the receipt', () => {
    const bytes = Buffer.from(appAttestation(maker, commitment(deviceContext())).attestation, 'base64')
    // The name of the receipt member, and the start of its value.
    const receipts = [bytes.indexOf('receipt'), bytes.lastIndexOf('receipt')]
    for (let offset = 0; offset < bytes.length; offset += 7) {
      const copy = Buffer.from(bytes)
      copy[offset]! ^= 4
      const { failed } = judgeDevice(deviceContext({ 'DeviceCheck.Attestation': copy.toString('base64') }), trust)
      // The receipt is meant for Apple's servers and is not verified here.
      if (receipts.some((start) => offset >= start && offset < start + 7)) continue
      expect(failed.length, `byte ${offset}`).toBeGreaterThan(0)
    }
  })
})

describe('CBOR', () => {
  it.each([
    ['no bytes', ''],
    ['bytes after the value', '0000'],
    ['an indefinite length', '9fff'],
    ['a float', 'fb3ff0000000000000'],
    ['a number that is not in its shortest form', '1817'],
    ['a length beyond the end', '58ff00'],
    ['a giant array', '9a00ffffff'],
    ['a repeated key', 'a201000100'],
    ['a key that is an array', 'a18000'],
    ['a text that is not UTF-8', '61ff'],
    ['nesting without end', '81'.repeat(100)],
  ])('rejects %s', (_, hex) => {
    expect(() => readCbor(Buffer.from(hex, 'hex'))).toThrow(/./)
  })

  it('reads the examples of RFC 8949, appendix A', () => {
    expect(readCbor(Buffer.from('1903e8', 'hex'))).toBe(1000)
    expect(readCbor(Buffer.from('3903e7', 'hex'))).toBe(-1000)
    expect(readCbor(Buffer.from('8301820203820405', 'hex'))).toEqual([1, [2, 3], [4, 5]])
    expect(readCbor(Buffer.from('62c3bc', 'hex'))).toBe('ü')
  })
})
