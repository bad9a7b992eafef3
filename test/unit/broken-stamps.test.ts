import { beforeAll, describe, expect, it } from 'vitest'
import { EIFFEL, type Loose, NOW, proofOf, SIGNALS, signed, stampOf, unsignedStamp } from '../evidence.ts'
import { createVerifier } from '../verify-runner.ts'

let verifier: Awaited<ReturnType<typeof createVerifier>>
beforeAll(async () => {
  verifier = await createVerifier()
})

type Verdict = 'signaturesValid' | 'structureValid' | 'signalsConsistent'

/** Ways to break a stamp of any kind, and what of the answer must become false by it. */
const WAYS: readonly (readonly [string, Verdict, (good: Loose, plugin: string) => Loose])[] = [
  [
    'moved by a metre after signing',
    'signaturesValid',
    (good) => ({ ...good, location: at(EIFFEL[0] + 1e-5, EIFFEL[1]) }),
  ],
  [
    'of another minute after signing',
    'signaturesValid',
    (good) => ({ ...good, temporalFootprint: { start: NOW + 1, end: NOW + 60 } }),
  ],
  [
    'with a signal added after signing',
    'signaturesValid',
    (good) => ({ ...good, signals: { ...good['signals'], added: 1 } }),
  ],
  ['with a member added after signing', 'signaturesValid', (good) => ({ ...good, note: 'x' })],
  [
    'signed by another than it names',
    'signaturesValid',
    (good, plugin) => ({
      ...good,
      signatures: [{ ...signatureOf(good), value: signatureOf(stampOf(plugin, {}, 2))['value'] }],
    }),
  ],
  [
    'with a digit of its signature changed',
    'signaturesValid',
    (good) => ({ ...good, signatures: [{ ...signatureOf(good), value: flipped(signatureOf(good)['value']) }] }),
  ],
  [
    'with a signature that is none',
    'signaturesValid',
    (good) => ({ ...good, signatures: [{ ...signatureOf(good), value: 'not a signature' }] }),
  ],
  [
    'with a second, false signature',
    'signaturesValid',
    (good) => ({ ...good, signatures: [signatureOf(good), { ...signatureOf(good), value: `0x${'11'.repeat(65)}` }] }),
  ],
  [
    'of an algorithm nobody knows',
    'signaturesValid',
    (good) => ({ ...good, signatures: [{ ...signatureOf(good), algorithm: 'rot13' }] }),
  ],
  ['without a signature', 'signaturesValid', (good) => ({ ...good, signatures: [] })],
  ['in another reference system', 'structureValid', (_, plugin) => stampOf(plugin, { srs: 'EPSG:3857' })],
  [
    'that ends before it begins',
    'structureValid',
    (_, plugin) => stampOf(plugin, { temporalFootprint: { start: NOW, end: NOW - 1 } }),
  ],
  [
    'of a type that its location is not',
    'structureValid',
    (_, plugin) => stampOf(plugin, { locationType: 'geojson-polygon' }),
  ],
]

type Change = Loose | ((signature: Loose) => Loose)

/** What cannot be read is no evidence, good or bad: it is refused, with its place. */
const UNREADABLE: readonly (readonly [member: string, changes: Change, code?: string])[] = [
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
  for (const [member, changes, code = 'empty'] of UNREADABLE) {
    it(`is refused at ${member}: ${JSON.stringify(changes) ?? 'empty'}`, async () => {
      const stamp = stampOf('gpsd', typeof changes === 'function' ? {} : changes)
      if (typeof changes === 'function') stamp['signatures'] = [changes(signatureOf(stamp))]
      const alone = (await verifier.stamp(stamp))['problem']
      expect(alone).toMatchObject({ type: 'validation', places: [{ pointer: `#/stamp/${member}`, code }] })
      const inProof = (await verifier.proof(proofOf([stampOf(), stamp])))['problem']
      expect(inProof).toMatchObject({ type: 'validation', places: [{ pointer: `#/proof/stamps/1/${member}`, code }] })
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
  ])('is refused where its shape is wrong, at %s: %j', async (member, changes, type) => {
    const { problem } = await verifier.stamp({ ...stampOf(), ...changes })
    expect(problem).toMatchObject({ type, places: [{ pointer: `#/stamp/${member}` }] })
  })

  it.each([
    ['an empty subject', 'subject/value', { subject: { scheme: 'eth-address', value: '' } }],
    ['an empty type', 'locationType', { locationType: '' }],
  ])('and a claim of %s is refused too', async (_, member, changes) => {
    const { problem } = await verifier.proof(proofOf([stampOf()], changes))
    expect(problem).toMatchObject({
      type: 'validation',
      detail: `proof.claim.${member.replace('/', '.')}: is empty`,
      places: [{ pointer: `#/proof/claim/${member}`, code: 'empty' }],
    })
  })
})

describe.each(Object.keys(SIGNALS))('a stamp of %s', (plugin) => {
  it('is valid unbroken', async () => {
    expect((await verifier.stamp(stampOf(plugin)))['valid']).toBe(true)
  })

  for (const [way, verdict, breaking] of WAYS) {
    it(`is not valid ${way}`, async () => {
      const answer = await verifier.stamp(breaking(stampOf(plugin), plugin))
      expect(answer).toMatchObject({ valid: false, [verdict]: false })
    })
  }

  it('is not valid for another kind of evidence, though signed as such', async () => {
    const other = plugin === 'gpsd' ? 'geoclue' : 'gpsd'
    const answer = await verifier.stamp(signed({ ...unsignedStamp(plugin), plugin: other }))
    expect(answer).toMatchObject({ valid: false, signaturesValid: true, signalsConsistent: false })
  })
})

describe.each(Object.keys(SIGNALS).filter((plugin) => plugin !== 'mock'))('evidence of %s', (plugin) => {
  it('is not consistent without signals, with other signals, or from the future', async () => {
    const future = { temporalFootprint: { start: NOW + 90_000, end: NOW + 90_060 } }
    for (const changes of [{ signals: {} }, { signals: { source: 5 } }, future]) {
      const answer = await verifier.stamp(stampOf(plugin, changes))
      expect(answer, JSON.stringify(changes)).toMatchObject({
        valid: false,
        signaturesValid: true,
        signalsConsistent: false,
      })
    }
  })
})

function at(lon: number, lat: number): Loose {
  return { type: 'Point', coordinates: [lon, lat] }
}

function signatureOf(stamp: Loose): Loose {
  return stamp['signatures'][0]
}

function flipped(hex: string): string {
  return hex.slice(0, 20) + (hex[20] === '0' ? '1' : '0') + hex.slice(21)
}
