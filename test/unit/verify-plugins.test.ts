import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import geodesic from 'geographiclib-geodesic'
import { beforeAll, describe, expect, it } from 'vitest'
import { account, EIFFEL, type Loose, NOW, personalSign, SIGNALS, stampOf } from '../evidence.ts'
import { createVerifier } from '../verify-runner.ts'

let verifier: Awaited<ReturnType<typeof createVerifier>>
beforeAll(async () => {
  verifier = await createVerifier()
})

const PLUGINS = Object.keys(SIGNALS)

describe('a stamp of each plugin', () => {
  it.each(PLUGINS)('%s is valid when everything fits', async (plugin) => {
    const response = await verifier.stamp(stampOf(plugin))
    const failedChecks = [...response['details'].checks, ...response['details'].structure].filter(
      ({ ok }: Loose) => !ok,
    )
    expect(failedChecks).toEqual([])
    expect(response).toMatchObject({
      valid: true,
      signaturesValid: true,
      structureValid: true,
      signalsConsistent: true,
    })
    expect(response['pluginResult']).toEqual(response['details'])
  })

  it.each(PLUGINS)('%s is evaluated the same a hundred times', async (plugin) => {
    const texts = new Set(
      await Promise.all(Array.from({ length: 100 }, async () => JSON.stringify(await verifier.stamp(stampOf(plugin))))),
    )
    expect(texts.size).toBe(1)
  })
})

/** Signals that are merged deeply into valid ones, and the check that they break. */
const BROKEN: readonly (readonly [plugin: string, id: string, changes: Loose])[] = [
  ['mock', 'provider', { provider: 'gps' }],
  ['mock', 'signals-location', { latitude: 48.9 }],
  ['gpsd', 'source', { source: 'gps' }],
  ['gpsd', 'fix-mode', { mode: 1 }],
  ['gpsd', 'accuracy', { accuracyMeters: 0 }],
  ['gpsd', 'accuracy', { accuracyMeters: '8' }],
  ['gpsd', 'speed', { speedMs: 600 }],
  ['gpsd', 'tpv-simulated', { tpv: { status: 8 } }],
  ['gpsd', 'tpv-mode', { tpv: { mode: 2 } }],
  ['gpsd', 'tpv-location', { tpv: { lat: 48.8585 } }],
  ['gpsd', 'tpv-time', { tpv: { time: new Date((NOW + 600) * 1000).toISOString() } }],
  ['gpsd', 'tpv-ecef', { tpv: { ecefx: 6_378_137, ecefy: 0, ecefz: 0 } }],
  [
    'gpsd',
    'sky-used',
    {
      sky: {
        satellites: [
          { PRN: 1, used: true },
          { PRN: 2, used: true },
        ],
      },
    },
  ],
  ['gpsd', 'sky-class', { sky: { class: 'TPV' } }],
  ['geoclue', 'source', { source: 'gps' }],
  ['geoclue', 'platform', { platform: 'darwin' }],
  ['geoclue', 'accuracy', { accuracyMeters: 0 }],
  ['geoclue', 'accuracy', { accuracyMeters: 3e7 }],
  ['wifi-mls', 'source', { source: 'gps' }],
  ['wifi-mls', 'ap-count', { apCount: 0 }],
  ['wifi-mls', 'ap-count', { apCount: 1.5 }],
  ['wifi-mls', 'access-point-count', { apCount: 3 }],
  ['wifi-mls', 'mac-syntax', { accessPoints: [{ macAddress: 'zz', signalStrength: -50 }] }],
  ['wifi-mls', 'mac-multicast', { accessPoints: [{ macAddress: '01:1a:2b:3c:4d:5e', signalStrength: -50 }] }],
  ['wifi-mls', 'mac-blank', { accessPoints: [{ macAddress: 'ff:ff:ff:ff:ff:ff', signalStrength: -50 }] }],
  [
    'wifi-mls',
    'mac-duplicates',
    { accessPoints: Array(2).fill({ macAddress: '00:1a:2b:3c:4d:5e', signalStrength: -5 }) },
  ],
  ['wifi-mls', 'signal-strength', { accessPoints: [{ macAddress: '00:1a:2b:3c:4d:5e', signalStrength: 3 }] }],
  ['wifi-mls', 'access-points', { accessPoints: 'many' }],
  ['ip-geolocation', 'ip-syntax', { ip: '999.1.1.1' }],
  ...[
    '10.0.0.1',
    '127.0.0.1',
    '100.64.0.1',
    '169.254.1.1',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    'fe80::1',
    'fc00::1',
  ].map((ip) => ['ip-geolocation', 'non-routable-ip', { ip }] as const),
  ['ip-geolocation', 'non-routable-ip', { ip: '::ffff:192.168.0.1' }],
  ['ip-geolocation', 'accuracy', { accuracyMeters: 10 }],
  ['proofmode', 'signals-location', { 'Location.Latitude': '48.86' }],
  ['proofmode', 'signals-location', { 'Location.Longitude': 'NaN' }],
  ['proofmode', 'location-time', { 'Location.Time': (NOW + 7200) * 1000 }],
  ['proofmode', 'accuracy', { 'Location.Accuracy': '-1' }],
  ['proofmode', 'integrity-token-form', { 'SafetyNet.JWT': 'a.b' }],
  ['witnesschain', 'challenge-succeeded', { challengeSucceeded: false }],
  ['witnesschain', 'verified', { consolidatedResult: { verified: false } }],
  ['witnesschain', 'know-loc', { consolidatedResult: { KnowLoc: 'yes' } }],
  ['witnesschain', 'challenge-signature', { challenger: account(8).address }],
  ['witnesschain', 'challenge-challengeId', { challengeId: 'c2' }],
  ['witnesschain', 'challenge-challengerClaims', { challengerClaims: { latitude: 50 } }],
  ['witnesschain', 'latency-positive', { pingDelayMicroseconds: 0 }],
  ['witnesschain', 'latency', { pingDelayMicroseconds: 'fast' }],
  ['witnesschain', 'light-speed', { pingDelayMicroseconds: 1000 }],
  ['witnesschain', 'uncertainty', { knowLocUncertaintyKm: -1 }],
  ['witnesschain', 'challenge-message', { challengeResult: { message: 'hello', signature: personalSign('hello', 9) } }],
]

describe('signals that contradict themselves', () => {
  it.each(BROKEN)('%s fails %s', async (plugin, id, changes) => {
    const signals = merge(SIGNALS[plugin]!, changes)
    const { signalsConsistent, valid, signaturesValid, details } = await verifier.stamp(stampOf(plugin, { signals }))
    const failed = details.checks.filter(({ ok, severity }: Loose) => !ok && severity === 'fail')
    expect(failed.map(({ id: name }: Loose) => name)).toContain(id)
    expect({ signalsConsistent, valid, signaturesValid }).toEqual({
      signalsConsistent: false,
      valid: false,
      signaturesValid: true,
    })
  })

  it.each(['gpsd', 'geoclue', 'wifi-mls', 'ip-geolocation', 'proofmode', 'witnesschain'])(
    '%s fails on empty signals',
    async (plugin) => {
      expect((await verifier.stamp(stampOf(plugin, { signals: {} })))['signalsConsistent']).toBe(false)
    },
  )

  it('only warns of unusual values', async () => {
    const cases: readonly (readonly [string, string, Loose])[] = [
      ['gpsd', 'implausible-accuracy', { accuracyMeters: 1e7 }],
      ['gpsd', 'synthetic-sky', { sky: { satellites: [1, 2, 3, 4].map((PRN) => ({ PRN, used: true, ss: 40 })) } }],
      ['ip-geolocation', 'documentation-ip', { ip: '2001:db8::1' }],
      [
        'wifi-mls',
        'mac-locally-administered',
        { apCount: 1, accessPoints: [{ macAddress: '02:1a:2b:3c:4d:5e', signalStrength: -50 }] },
      ],
      ['witnesschain', 'faster-than-fibre', challenged({ pingDelayMicroseconds: 2000 })],
      ['witnesschain', 'challenge-covers', challenged({}, {})],
      ['geoclue', 'accuracy-level', { accuracyLevel: 'country' }],
      ['wifi-mls', 'resolver-retired', { resolver: 'mls' }],
      ['proofmode', 'integrity-basicIntegrity', { 'SafetyNet.JWT': `a.${jwtPart({ basicIntegrity: false })}.c` }],
      ['proofmode', 'integrity-token-payload', { 'SafetyNet.JWT': 'a.!.c' }],
    ]
    for (const [plugin, id, changes] of cases) {
      const response = await verifier.stamp(stampOf(plugin, { signals: merge(SIGNALS[plugin]!, changes) }))
      const found = response['details'].checks.find((check: Loose) => check['id'] === id)
      expect(found, id).toMatchObject({ ok: false, severity: 'warn' })
      expect(response['signalsConsistent'], id).toBe(true)
    }
  })

  it('never repeats the address of an access point or of a connection', async () => {
    for (const plugin of ['wifi-mls', 'ip-geolocation']) {
      const text = JSON.stringify(await verifier.stamp(stampOf(plugin)))
      expect(text).not.toMatch(/00:1a:2b|001a2b3c4d5e|1\.2\.3\.4/)
    }
  })
})

/** Returns signals with a newly signed challenge: with these changes, or with this message. */
function challenged(changes: Loose, otherMessage?: Loose): Loose {
  const original = JSON.parse(SIGNALS['witnesschain']!['challengeResult'].message)
  const message = JSON.stringify(otherMessage ?? { ...original, ...changes })
  return { ...changes, challengeResult: { message, signature: personalSign(message, 9) } }
}

describe('the file that a stamp names', () => {
  const media = Buffer.from('a photograph')
  const FileHash = createHash('sha256').update(media).digest('hex')
  const stamp = stampOf('proofmode', { signals: { ...SIGNALS['proofmode'], FileHash } })
  const checkMedia = async (sentMedia: unknown) => {
    const result = await verifier.run('stamp', { stamp, media: sentMedia }, NOW + 60)
    if (!result.ok) return result.problem.invalidParts![0]
    const { checks } = JSON.parse(`{${result.members}}`).details
    return checks.find(({ id }: Loose) => id === 'file-hash-media')
  }

  it('is hashed when it is sent', async () => {
    expect(await checkMedia(media.toString('base64'))).toMatchObject({
      ok: true,
      measured: media.length,
      limit: FileHash,
    })
    expect(await checkMedia(Buffer.from('another').toString('base64'))).toMatchObject({ ok: false, severity: 'fail' })
    expect(await checkMedia(undefined)).toBeUndefined()
  })

  it('is rejected when it is not base64', async () => {
    for (const sentMedia of ['?', '', 'a=b'])
      expect(await checkMedia(sentMedia)).toMatchObject({ pointer: '#/media', code: 'wrong-format' })
    expect(await checkMedia(5)).toMatchObject({ pointer: '#/media', code: 'wrong-type' })
  })
})

describe('the speed-of-light bound', () => {
  it('is the greatest possible distance of the prover', async () => {
    const { details } = await verifier.stamp(stampOf('witnesschain'))
    // 5 ms for the round trip: 2.5 ms × 299,792.458 km/s.
    expect(details.boundKm).toBeCloseTo(749.481, 3)
    // Measured from the challenger in Brussels, whose own location is uncertain by a kilometre.
    const { s12 } = geodesic.Geodesic.WGS84.Inverse(50.8503, 4.3517, EIFFEL[1], EIFFEL[0])
    expect(details.feasibleRadiusKm).toBeCloseTo(749.481145 + s12! / 1000 + 1, 5)
  })

  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const pubkey = `0x${Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('hex')}`
  /** A server that measured the prover itself and signed the measurement. */
  const anchor = (lat: number, lng: number, rttNs: number, changes: Loose = {}) => {
    const raw = Buffer.from(JSON.stringify({ lat, lng, rttNs }))
    const signature = `0x${sign(null, raw, privateKey).toString('hex')}`
    return { lat, lng, rttNs, challenged: true, pubkey, signature, raw: raw.toString('base64'), ...changes }
  }
  const signedBytes = (text: string) => ({
    raw: Buffer.from(text).toString('base64'),
    signature: `0x${sign(null, Buffer.from(text), privateKey).toString('hex')}`,
  })
  const withAnchors = (...anchors: Loose[]) =>
    verifier.stamp(stampOf('witnesschain', { signals: { ...SIGNALS['witnesschain'], anchors } }))

  it('uses the nearest of several witnesses', async () => {
    const { details, valid } = await withAnchors(anchor(48.9, 2.3, 400_000), anchor(51.5, -0.1, 8_000_000))
    expect(valid).toBe(true)
    expect(details.witnesses).toBe(2) // The challenger, and one key that measured from two locations.
    expect(details.boundKm).toBeCloseTo(59.958, 3)
    expect(details.feasibleRadiusKm).toBeLessThan(65)
  })

  it.each<[string, Loose, string]>([
    ['light would need longer', anchor(40.7, -74, 1_000_000), 'light-speed'],
    ['its signature covers other bytes', anchor(48.9, 2.3, 4e5, { raw: 'AAAA' }), 'anchor-signature'],
    ['its key is a different one', anchor(48.9, 2.3, 4e5, { pubkey: `0x${'11'.repeat(32)}` }), 'anchor-signature'],
    [
      'its signed message has no measurement',
      { ...anchor(48.9, 2.3, 4e5), ...signedBytes('here you are') },
      'anchor-message',
    ],
    ['it signed a different delay', { ...anchor(48.9, 2.3, 4e5), rttNs: 9e5 }, 'anchor-message'],
    ['its location does not exist', anchor(95, 2.3, 4e5), 'anchor-measurement'],
    ['its delay is negative', anchor(48.9, 2.3, -5), 'latency-positive'],
  ])('fails for an anchor when %s', async (_, testedAnchor, id) => {
    const { details, signalsConsistent } = await withAnchors(testedAnchor)
    const failed = details.checks.filter(({ ok, severity }: Loose) => !ok && severity === 'fail')
    expect(failed.map((check: Loose) => check['id'])).toContain(id)
    expect(signalsConsistent).toBe(false)
  })

  // Regression: by measuring with their own key, provers evaded the warning about unknown challengers.
  it('warns of an anchor that the operator does not know', async () => {
    const { challenger: _, challengeResult: __, pingDelayMicroseconds: ___, ...signals } = SIGNALS['witnesschain']!
    const stamp = stampOf('witnesschain', { signals: { ...signals, anchors: [anchor(48.9, 2.3, 4e5)] } })
    const checkAnchorKnown = async (...witnesses: string[]) => {
      const { details } = await (await createVerifier({ allowMock: false, witnesses })).stamp(stamp)
      return details.checks.find(({ id }: Loose) => id === 'anchor-known')
    }
    expect(await checkAnchorKnown(account(8).address)).toMatchObject({ ok: false, severity: 'warn', measured: pubkey })
    expect(await checkAnchorKnown(account(8).address, pubkey)).toMatchObject({ ok: true })
  })

  it('counts a witness once, however often it measured', async () => {
    const { details } = await withAnchors(...Array(32).fill(anchor(48.9, 2.3, 4e5)))
    expect(details.witnesses).toBe(2)
  })

  // Regression: a challenge for another location was accepted if it lay within the speed-of-light bound.
  it('fails when the prover claimed another location', async () => {
    const proverClaims = { latitude: 48.9, longitude: 2.3, radius: 10 }
    const { details, valid } = await verifier.stamp(
      stampOf('witnesschain', { signals: { ...SIGNALS['witnesschain'], proverClaims } }),
    )
    const failedIds = details.checks.filter(({ ok }: Loose) => !ok).map(({ id }: Loose) => id)
    expect({ valid, broken: failedIds }).toEqual({ valid: false, broken: ['prover-location'] })
  })

  it('warns of a witness that the operator does not know', async () => {
    const strict = await createVerifier({ allowMock: false, witnesses: [account(8).address] })
    const { details } = await strict.stamp(stampOf('witnesschain'))
    expect(details.checks.find(({ id }: Loose) => id === 'challenger-known')).toMatchObject({ ok: false })
    const friendly = await createVerifier({ allowMock: false, witnesses: [account(9).address] })
    expect((await friendly.stamp(stampOf('witnesschain')))['details'].checks.every(({ ok }: Loose) => ok)).toBe(true)
  })
})

describe('the structure of a stamp', () => {
  it.each([
    ['plugin-version', { pluginVersion: 'one' }],
    ['location-type', { locationType: 'geojson-polygon' }],
    ['srs', { srs: 'EPSG:3857' }],
    ['footprint-order', { temporalFootprint: { start: NOW, end: NOW - 1 } }],
    [
      'point-location',
      { location: { type: 'MultiPoint', coordinates: [[...EIFFEL]] }, locationType: 'geojson-multipoint' },
    ],
  ])('fails %s', async (id, changes) => {
    const { structureValid, details } = await verifier.stamp(stampOf('gpsd', changes))
    expect(structureValid).toBe(false)
    expect(details.structure.filter(({ ok }: Loose) => !ok).map((check: Loose) => check['id'])).toEqual([id])
  })

  it('needs a signature', async () => {
    const response = await verifier.stamp({ ...stampOf(), signatures: [] })
    expect(response).toMatchObject({ valid: false, structureValid: false, signaturesValid: false })
  })

  it('fails for evidence from the future, except for the mock plugin, which only warns', async () => {
    const temporalFootprint = { start: 4_102_444_800, end: 4_102_444_860 }
    expect((await verifier.stamp(stampOf('geoclue', { temporalFootprint })))['signalsConsistent']).toBe(false)
    expect((await verifier.stamp(stampOf('mock', { temporalFootprint })))['signalsConsistent']).toBe(true)
  })
})

const jwtPart = (value: Loose) => Buffer.from(JSON.stringify(value)).toString('base64url')

function merge(base: Loose, changes: Loose): Loose {
  const merged: Loose = { ...base }
  for (const [name, value] of Object.entries(changes)) {
    const isDeep =
      typeof value === 'object' && value !== null && !Array.isArray(value) && typeof base[name] === 'object'
    merged[name] = isDeep ? merge(base[name], value) : value
  }
  return merged
}
