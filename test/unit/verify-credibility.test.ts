import geodesic from 'geographiclib-geodesic'
import { beforeAll, describe, expect, it } from 'vitest'
import { computeOverlap } from '../../src/verify/credibility.ts'
import { account, EIFFEL, type Loose, NOW, proofOf, SIGNALS, stampOf } from '../evidence.ts'
import { createVerifier } from '../verify-runner.ts'

let verifier: Awaited<ReturnType<typeof createVerifier>>
beforeAll(async () => {
  verifier = await createVerifier()
})

const point = (lon: number, lat: number) => ({ type: 'Point', coordinates: [lon, lat] })
const at = (lon: number, lat: number, plugin = 'mock', more: Loose = {}) =>
  stampOf(plugin, { location: point(lon, lat), signals: {}, ...more })
const evaluate = async (stamps: readonly Loose[], claim: Loose = {}, nowSeconds = NOW + 60): Promise<Loose> =>
  (await verifier.proof(proofOf(stamps, claim), {}, nowSeconds))['credibility']

const NEW_YORK = [-74.006, 40.7128] as const
const SAN_FRANCISCO = [-122.4194, 37.7749] as const
const around = (lon: number, lat: number, half = 0.001) => ({
  type: 'Polygon',
  coordinates: [
    [
      [lon - half, lat - half],
      [lon + half, lat - half],
      [lon + half, lat + half],
      [lon - half, lat + half],
      [lon - half, lat - half],
    ],
  ],
})

describe('evaluation of hard cases', () => {
  it('an accuracy of ten thousand kilometres does not put a stamp within the radius', async () => {
    const location = point(...NEW_YORK)
    const stamp = stampOf('gpsd', { location, signals: { source: 'gpsd', mode: 3, accuracyMeters: 1e7 } })
    const { dimensions, stampResults } = await evaluate([stamp], { location: point(...SAN_FRANCISCO) })
    expect(dimensions.spatial.withinRadiusFraction).toBe(0)
    const { withinRadius, details, distanceMeters } = stampResults[0]
    expect(withinRadius).toBe(false)
    expect(details.checks.find(({ id }: Loose) => id === 'implausible-accuracy')).toMatchObject({ ok: false })
    const { s12 } = geodesic.Geodesic.WGS84.Inverse(NEW_YORK[1], NEW_YORK[0], SAN_FRANCISCO[1], SAN_FRANCISCO[0])
    expect(distanceMeters).toBeCloseTo(s12!, 2)
  })

  it('a malformed signature is not valid', async () => {
    const stamp = stampOf('proofmode')
    stamp['signatures'][0].value = 'not a signature'
    expect((await evaluate([stamp]))['dimensions'].validity.signaturesValidFraction).toBe(0)
  })

  it('Tokyo, Paris and Cape Town do not agree', async () => {
    const stamps = [at(139.69, 35.69), at(...EIFFEL), at(18.42, -33.92)]
    expect((await evaluate(stamps))['dimensions'].independence.spatialAgreement).toBe(0)
    expect((await evaluate(Array(5).fill(at(...EIFFEL))))['dimensions'].independence.spatialAgreement).toBe(1)
  })

  it.each([
    ['a minute inside an hour', [0, 60], 1, 1],
    ['an instant inside', [0, 0], 1, 1],
    ['ten years around', [-1e8, 215_360_000], 1, 0],
    ['half inside', [1740, 1860], 0.5, 0],
    ['before', [-5000, -4000], 0, 0],
  ])('%s', async (_, [start, end], overlap, fully) => {
    const temporalFootprint = { start: NOW + start!, end: NOW + end! }
    const { dimensions, stampResults } = await evaluate([at(...EIFFEL, 'mock', { temporalFootprint })])
    expect(dimensions.temporal).toEqual({
      meanOverlap: overlap,
      minOverlap: overlap,
      fullyOverlappingFraction: fully,
    })
    const { stampCoverage, stampDurationSeconds } = stampResults[0].details.evaluation
    expect(stampDurationSeconds).toBe(end! - start!)
    if (stampDurationSeconds > 1e8) expect(stampCoverage).toBeCloseTo(1.1e-5, 6)
  })

  it('the distance to a polygon is measured to the polygon itself', async () => {
    for (const plugin of ['mock', 'witnesschain']) {
      const changes = { location: around(...NEW_YORK), locationType: 'geojson-polygon', signals: SIGNALS[plugin]! }
      const { stampResults, dimensions } = await evaluate([stampOf(plugin, changes)])
      expect(stampResults[0].distanceMeters).toBeGreaterThan(5_800_000)
      expect(dimensions.spatial.meanDistanceMeters).toBe(stampResults[0].distanceMeters)
    }
    const inside = stampOf('mock', { location: around(...EIFFEL), locationType: 'geojson-polygon', signals: {} })
    expect((await evaluate([inside]))['dimensions'].spatial.maxDistanceMeters).toBe(0)
  })

  it('99.96 m along a meridian are within 100 m', async () => {
    // 0.000904° of latitude at the equator: 99.96 m on the ellipsoid, 100.52 m on the sphere.
    const { stampResults } = await evaluate([at(0, 0.000904)], { location: point(0, 0) })
    expect(stampResults[0].distanceMeters).toBeCloseTo(99.96, 2)
    expect(stampResults[0].withinRadius).toBe(true)
  })

  it('copies of a stamp are counted', async () => {
    const { dimensions, extensions } = await evaluate(Array(5).fill(stampOf()))
    expect(dimensions.independence.uniquePluginRatio).toBe(0.2)
    expect(extensions.duplicateStamps).toBe(4)
  })
})

describe('overlap', () => {
  it('is zero for an interval that ends before it begins', () => {
    expect(computeOverlap({ start: 5, end: 4 }, { start: 0, end: 10 })).toMatchObject({ ratio: 0, isInside: false })
  })

  it('is zero for touching intervals and complete for an instant on the border', () => {
    expect(computeOverlap({ start: 0, end: 5 }, { start: 5, end: 10 }).ratio).toBe(0)
    expect(computeOverlap({ start: 5, end: 5 }, { start: 5, end: 10 }).ratio).toBe(1)
  })
})

describe('the implied speed of a signer', () => {
  const travel = (seconds: number, n = 1) => [
    at(...EIFFEL),
    stampOf('gpsd', {
      location: point(...NEW_YORK),
      signals: { source: 'gpsd', mode: 3, accuracyMeters: 8 },
      temporalFootprint: { start: NOW + seconds - 60, end: NOW + seconds },
    }, n),
  ] // biome-ignore format: two stamps
  it('is impossible for a signer who crosses an ocean in five minutes', async () => {
    const { stampResults, extensions } = await evaluate(travel(300), {}, NOW + 300)
    expect(stampResults.map(({ signalsConsistent }: Loose) => signalsConsistent)).toEqual([true, false])
    expect(extensions.maxImpliedSpeedMps).toBeGreaterThan(19_000)
  })

  // Regression: speed was computed only between neighbours in time, and only for the first of two copies.
  it('is not hidden by a vague stamp in between, nor by a copy', async () => {
    const [origin, destination] = travel(300)
    const vague = stampOf('witnesschain', {
      location: point(-38, 47),
      temporalFootprint: { start: NOW + 100, end: NOW + 160 },
      signals: { ...SIGNALS['witnesschain'], knowLocUncertaintyKm: 5000 },
    })
    const { stampResults, extensions } = await evaluate([origin!, vague, destination!, destination!], {}, NOW + 300)
    expect(stampResults.slice(2).map(({ signalsConsistent }: Loose) => signalsConsistent)).toEqual([false, false])
    expect(extensions.maxImpliedSpeedMps).toBeGreaterThan(19_000)
  })

  it('allows for travel in either direction within long footprints', async () => {
    const hours = (start: number, end: number) => ({ start: NOW + 3600 * start, end: NOW + 3600 * end })
    const day = at(...EIFFEL, 'mock', { temporalFootprint: hours(0, 24) })
    const morning = at(...NEW_YORK, 'mock', { temporalFootprint: hours(1, 2) })
    // At New York in the second hour, back in Paris by the end of the day: 5,837 km in 23 hours at most.
    const { extensions } = await evaluate([day, morning], {}, NOW + 86_400)
    expect(extensions.maxImpliedSpeedMps).toBeCloseTo(5_852_000 / 82_800, -1)
  })

  it('is unusual for a signer who does it in three hours, and is not computed between two signers', async () => {
    const { stampResults, extensions } = await evaluate(travel(10_800), {}, NOW + 10_800)
    expect(stampResults[1].signalsConsistent).toBe(true)
    expect(stampResults[1].details.checks.find(({ id }: Loose) => id === 'implied-speed')).toMatchObject({ ok: false })
    expect(extensions.maxImpliedSpeedMps).toBeGreaterThan(500)
    expect((await evaluate(travel(300, 2), {}, NOW + 300))['extensions'].maxImpliedSpeedMps).toBe(0)
  })
})

describe('a result', () => {
  it('is the same to the byte a hundred times, from two engines in turn', async () => {
    const stamps = [...Object.keys(SIGNALS).map((plugin, index) => stampOf(plugin, {}, 1 + (index % 3))), at(2.3, 48.9)]
    const body = { proof: proofOf(stamps), options: { chainId: 84532 } }
    const engines = [verifier, await createVerifier()]
    const answers = new Set<string>()
    for (let run = 0; run < 100; run++)
      answers.add(JSON.stringify(await engines[run % 2]!.run('proof', body, NOW + 60)))
    expect(answers.size).toBe(1)
    expect([...answers][0]).toContain('"ok":true')
  })
})

describe('support of a claim', () => {
  it('counts distinct good stamps and the keys behind them', async () => {
    const distant = stampOf('geoclue', { location: point(...NEW_YORK) }, 2)
    const unsigned = { ...stampOf('geoclue', {}, 3), signatures: [] }
    const late = stampOf('geoclue', { temporalFootprint: { start: NOW - 90_000, end: NOW - 89_000 } }, 4)
    const good = [stampOf('gpsd', {}, 5), stampOf('geoclue', {}, 5), stampOf('wifi-mls', {}, 6)]
    const { extensions } = await evaluate([distant, unsigned, late, ...good, ...good])
    expect(extensions).toMatchObject({ supportingStamps: 3, supportingSigners: 2, duplicateStamps: 4 })
  })
})

describe('independent signers', () => {
  // Regression: three spellings of one key counted as three signers.
  it('are counted by key, however a stamp names the key', async () => {
    const uncompressed = Buffer.from(account(5).publicKey)
    const compressed = Buffer.concat([Buffer.of(2 + (uncompressed[64]! & 1)), uncompressed.subarray(1, 33)])
    const signers = [
      { scheme: 'eth-address', value: account(5).address },
      { scheme: 'device-pubkey', value: `0x${uncompressed.toString('hex')}` },
      { scheme: 'device-pubkey', value: compressed.toString('hex').toUpperCase() },
    ]
    const spelled = signers.map((signer, minute) => {
      const start = NOW - 60 * minute
      const stamp = stampOf('geoclue', { temporalFootprint: { start, end: start + 60 } }, 5)
      return { ...stamp, signatures: [{ ...stamp['signatures'][0], signer }] }
    })
    const { dimensions, extensions } = await evaluate(spelled)
    expect(dimensions.validity.signaturesValidFraction).toBe(1)
    expect(extensions.distinctSigners).toBe(1)
    const { extensions: two } = await evaluate([...spelled, stampOf('geoclue', {}, 6)])
    expect(two.distinctSigners).toBe(2)
  })

  it('are subject to the speed limit even when they name their key in another way', async () => {
    const [origin, destination] = [
      at(...EIFFEL),
      stampOf('gpsd', {
        location: point(...NEW_YORK),
        signals: { source: 'gpsd', mode: 3, accuracyMeters: 8 },
        temporalFootprint: { start: NOW + 240, end: NOW + 300 },
      }),
    ]
    const signer = { scheme: 'device-pubkey', value: `0x${Buffer.from(account(1).publicKey).toString('hex')}` }
    const renamed = { ...destination, signatures: [{ ...destination!['signatures'][0], signer }] }
    const { stampResults } = await evaluate([origin!, renamed], {}, NOW + 300)
    expect(stampResults.map(({ signalsConsistent }: Loose) => signalsConsistent)).toEqual([true, false])
  })
})
