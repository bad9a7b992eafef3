import { beforeAll, describe, expect, it } from 'vitest'
import { EIFFEL, type Loose, NOW, proofOf, SIGNALS, signed, stampOf, unsignedStamp } from '../evidence.ts'
import { createVerifier } from '../verify-runner.ts'

let verifier: Awaited<ReturnType<typeof createVerifier>>
beforeAll(async () => {
  verifier = await createVerifier()
})

type FalseMember = 'signaturesValid' | 'structureValid' | 'signalsConsistent'

/** Defects of a stamp of any kind: its description, the member of the result that must become false, and how to make it. */
const DEFECTS: readonly (readonly [string, FalseMember, (intact: Loose, plugin: string) => Loose])[] = [
  [
    'when it is moved by a metre after signing',
    'signaturesValid',
    (intact) => ({ ...intact, location: pointAt(EIFFEL[0] + 1e-5, EIFFEL[1]) }),
  ],
  [
    'when its time is changed after signing',
    'signaturesValid',
    (intact) => ({ ...intact, temporalFootprint: { start: NOW + 1, end: NOW + 60 } }),
  ],
  [
    'when a signal is added after signing',
    'signaturesValid',
    (intact) => ({ ...intact, signals: { ...intact['signals'], added: 1 } }),
  ],
  ['when a member is added after signing', 'signaturesValid', (intact) => ({ ...intact, note: 'x' })],
  [
    'when it is signed by a key other than the named one',
    'signaturesValid',
    (intact, plugin) => ({
      ...intact,
      signatures: [{ ...readSignature(intact), value: readSignature(stampOf(plugin, {}, 2))['value'] }],
    }),
  ],
  [
    'when a digit of its signature is changed',
    'signaturesValid',
    (intact) => ({
      ...intact,
      signatures: [{ ...readSignature(intact), value: changeDigit(readSignature(intact)['value']) }],
    }),
  ],
  [
    'when its signature is not hex',
    'signaturesValid',
    (intact) => ({ ...intact, signatures: [{ ...readSignature(intact), value: 'not a signature' }] }),
  ],
  [
    'when it has a second, wrong signature',
    'signaturesValid',
    (intact) => ({
      ...intact,
      signatures: [readSignature(intact), { ...readSignature(intact), value: `0x${'11'.repeat(65)}` }],
    }),
  ],
  [
    'when its signature algorithm is unknown',
    'signaturesValid',
    (intact) => ({ ...intact, signatures: [{ ...readSignature(intact), algorithm: 'rot13' }] }),
  ],
  ['when it has no signature', 'signaturesValid', (intact) => ({ ...intact, signatures: [] })],
  ['when it uses another reference system', 'structureValid', (_, plugin) => stampOf(plugin, { srs: 'EPSG:3857' })],
  [
    'when it ends before it begins',
    'structureValid',
    (_, plugin) => stampOf(plugin, { temporalFootprint: { start: NOW, end: NOW - 1 } }),
  ],
  [
    'when its location has another type than it says',
    'structureValid',
    (_, plugin) => stampOf(plugin, { locationType: 'geojson-polygon' }),
  ],
]

type Change = Loose | ((signature: Loose) => Loose)

/** A stamp that cannot be read is neither good nor bad evidence: it is rejected, with a pointer to the member. */
const UNREADABLE_MEMBERS: readonly (readonly [member: string, changes: Change, code?: string])[] = [
  ['lpVersion', { lpVersion: '0.1' }, 'wrong-value'],
  ['lpVersion', { lpVersion: '' }, 'wrong-value'],
  ['plugin', { plugin: '' }],
  ['pluginVersion', { pluginVersion: '' }],
  ['locationType', { locationType: '' }],
  ['srs', { srs: '' }],
  ['signatures/0/value', (signature) => ({ ...signature, value: '' })],
  ['signatures/0/algorithm', (signature) => ({ ...signature, algorithm: '' })],
  ['signatures/0/signer/value', (signature) => ({ ...signature, signer: { ...signature['signer'], value: '' } })],
  ['signatures/0/signer/scheme', (signature) => ({ ...signature, signer: { ...signature['signer'], scheme: '' } })],
]

describe('a stamp that cannot be read', () => {
  for (const [member, changes, code = 'empty'] of UNREADABLE_MEMBERS) {
    it(`is rejected at ${member}: ${JSON.stringify(changes) ?? 'empty'}`, async () => {
      const stamp = stampOf('gpsd', typeof changes === 'function' ? {} : changes)
      if (typeof changes === 'function') stamp['signatures'] = [changes(readSignature(stamp))]
      const problem = (await verifier.stamp(stamp))['problem']
      expect(problem).toMatchObject({ type: 'validation', invalidParts: [{ pointer: `#/stamp/${member}`, code }] })
      const inProof = (await verifier.proof(proofOf([stampOf(), stamp])))['problem']
      expect(inProof).toMatchObject({
        type: 'validation',
        invalidParts: [{ pointer: `#/proof/stamps/1/${member}`, code }],
      })
    })
  }

  it.each([
    ['signals', { signals: [] }, 'invalid-input'],
    ['signals', { signals: 'none' }, 'invalid-input'],
    ['temporalFootprint', { temporalFootprint: 5 }, 'invalid-input'],
    ['temporalFootprint/end', { temporalFootprint: { start: 5 } }, 'invalid-input'],
    ['plugin', { plugin: undefined }, 'invalid-input'],
    ['plugin', { plugin: 5 }, 'invalid-input'],
    ['signatures', { signatures: {} }, 'invalid-input'],
    ['location', { locationType: 'wkt', location: '' }, 'invalid-input'],
  ])('is rejected when a member has the wrong type, at %s: %j', async (member, changes, type) => {
    const { problem } = await verifier.stamp({ ...stampOf(), ...changes })
    expect(problem).toMatchObject({ type, invalidParts: [{ pointer: `#/stamp/${member}` }] })
  })

  it.each([
    ['an empty subject', 'subject/value', { subject: { scheme: 'eth-address', value: '' } }],
    ['an empty type', 'locationType', { locationType: '' }],
  ])('is rejected, and so is a claim with %s', async (_, member, changes) => {
    const { problem } = await verifier.proof(proofOf([stampOf()], changes))
    expect(problem).toMatchObject({
      type: 'validation',
      detail: `proof.claim.${member.replace('/', '.')}: is empty`,
      invalidParts: [{ pointer: `#/proof/claim/${member}`, code: 'empty' }],
    })
  })
})

describe.each(Object.keys(SIGNALS))('a stamp of %s', (plugin) => {
  it('is valid without a defect', async () => {
    expect((await verifier.stamp(stampOf(plugin)))['valid']).toBe(true)
  })

  for (const [defect, falseMember, breakStamp] of DEFECTS) {
    it(`is not valid ${defect}`, async () => {
      const result = await verifier.stamp(breakStamp(stampOf(plugin), plugin))
      expect(result).toMatchObject({ valid: false, [falseMember]: false })
    })
  }

  it('is not valid when it names another plugin, even if it is signed that way', async () => {
    const other = plugin === 'gpsd' ? 'geoclue' : 'gpsd'
    const result = await verifier.stamp(signed({ ...unsignedStamp(plugin), plugin: other }))
    expect(result).toMatchObject({ valid: false, signaturesValid: true, signalsConsistent: false })
  })
})

describe.each(Object.keys(SIGNALS).filter((plugin) => plugin !== 'mock'))('evidence of %s', (plugin) => {
  it('is not consistent without signals, with other signals, or from the future', async () => {
    const future = { temporalFootprint: { start: NOW + 90_000, end: NOW + 90_060 } }
    for (const changes of [{ signals: {} }, { signals: { source: 5 } }, future]) {
      const result = await verifier.stamp(stampOf(plugin, changes))
      expect(result, JSON.stringify(changes)).toMatchObject({
        valid: false,
        signaturesValid: true,
        signalsConsistent: false,
      })
    }
  })
})

function pointAt(lon: number, lat: number): Loose {
  return { type: 'Point', coordinates: [lon, lat] }
}

function readSignature(stamp: Loose): Loose {
  return stamp['signatures'][0]
}

function changeDigit(hex: string): string {
  return hex.slice(0, 20) + (hex[20] === '0' ? '1' : '0') + hex.slice(21)
}
