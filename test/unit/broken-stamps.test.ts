import { beforeAll, describe, expect, it } from 'vitest'
import { EIFFEL, type Loose, NOW, SIGNALS, signed, stampOf, unsignedStamp } from '../evidence.ts'
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
  ['of another version of the protocol', 'structureValid', (_, plugin) => stampOf(plugin, { lpVersion: '0.1' })],
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
