import { beforeAll, describe, expect, it } from 'vitest'
import { claimOf, type Loose, NOW, signed, unsignedStamp } from '../evidence.ts'
import { scaled } from '../scale.ts'
import fc from '../seeded.ts'
import { createVerifier } from '../verify-runner.ts'

const RUNS = { numRuns: scaled(150) }

let verifier: Awaited<ReturnType<typeof createVerifier>>
beforeAll(async () => {
  verifier = await createVerifier()
})

const degrees = (limit: number) => fc.double({ min: -limit, max: limit, noNaN: true })
const position = fc.tuple(
  degrees(180).filter((lon) => Math.abs(lon) < 179.9),
  degrees(89.9),
)
const location = fc.oneof(
  position.map((coordinates) => ({ type: 'Point', coordinates })),
  fc.tuple(position, position).map((coordinates) => ({ type: 'MultiPoint', coordinates })),
  position.map(([lon, lat]) => ({
    type: 'LineString',
    coordinates: [
      [lon, lat],
      [lon + 0.05, lat - 0.05],
    ],
  })),
  position.map(([lon, lat]) => ({
    type: 'Polygon',
    coordinates: [
      [
        [lon, lat],
        [lon + 0.02, lat],
        [lon + 0.02, lat + 0.02],
        [lon, lat + 0.02],
        [lon, lat],
      ],
    ],
  })),
)
const interval = fc
  .tuple(
    fc.double({ min: -1e4, max: 1e4, noNaN: true }),
    fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e5, noNaN: true })),
  )
  .map(([start, length]) => ({ start: NOW + start, end: NOW + start + length }))

/** Stamps of every plugin and of an unknown one: correctly signed, signed by another key, or unsigned. */
const stamp = fc
  .record({
    plugin: fc.constantFrom(
      'mock',
      'mock-b',
      'gpsd',
      'geoclue',
      'wifi-mls',
      'ip-geolocation',
      'proofmode',
      'witnesschain',
    ),
    location,
    temporalFootprint: interval,
    signer: fc.integer({ min: 1, max: 3 }),
    isBroken: fc.boolean(),
    accuracy: fc.oneof(fc.constant(undefined), fc.double({ noNaN: true, noDefaultInfinity: true })),
  })
  .map(({ plugin, location, temporalFootprint, signer, isBroken, accuracy }) => {
    const locationType = `geojson-${location.type.toLowerCase()}`
    const unsigned = unsignedStamp(plugin, { location, locationType, temporalFootprint })
    const signals = accuracy === undefined ? {} : { accuracyMeters: accuracy, accuracy, 'Location.Accuracy': accuracy }
    const signedStamp = signed({ ...unsigned, signals: { ...unsigned['signals'], ...signals } }, signer)
    return isBroken ? { ...signedStamp, plugin: 'mock-broken' } : signedStamp
  })

const proof = fc.record({
  stamps: fc.array(stamp, { minLength: 1, maxLength: 6 }),
  claim: fc.record({ location, radius: fc.double({ min: 1e-3, max: 1e7, noNaN: true }), time: interval }).map(claimOf),
})

const evaluate = async (value: Loose): Promise<Loose> => {
  const { credibility, problem } = await verifier.proof(value, {}, NOW + 3600)
  expect(problem).toBeUndefined()
  return credibility
}

/** Every number and string under a value. */
function leafValues(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [value]
  return Object.values(value).flatMap(leafValues)
}

describe('a credibility vector', () => {
  it('has fractions from 0 to 1, means that do not exceed the maximum, and finite numbers', () =>
    fc.assert(
      fc.asyncProperty(proof, async (value) => {
        const { dimensions, stampResults, extensions } = await evaluate(value)
        const { spatial, temporal, validity, independence } = dimensions
        const { pluginNames, ...ratios } = independence
        const fractions = [spatial.withinRadiusFraction, extensions.boundToSubjectFraction]
        for (const group of [temporal, validity, ratios]) fractions.push(...(Object.values(group) as number[]))
        for (const fraction of fractions) {
          expect(fraction).toBeGreaterThanOrEqual(0)
          expect(fraction).toBeLessThanOrEqual(1)
        }
        expect(spatial.meanDistanceMeters).toBeLessThanOrEqual(spatial.maxDistanceMeters)
        expect(temporal.minOverlap).toBeLessThanOrEqual(temporal.meanOverlap)
        expect(extensions.weightedMeanDistance).toBeLessThanOrEqual(spatial.maxDistanceMeters)
        expect(independence.uniquePluginRatio).toBe(pluginNames.length / stampResults.length)
        for (const { details: _, ...result } of stampResults) {
          expect(leafValues(result)).not.toContain(null)
          expect(result.distanceMeters).toBeLessThanOrEqual(20_003_932)
        }
        for (const leaf of [dimensions, extensions].flatMap(leafValues)) expect(leaf).not.toBeNull()
      }),
      RUNS,
    ))

  it('does not depend on the order of the stamps', () =>
    fc.assert(
      fc.asyncProperty(proof, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), async (value, random) => {
        const shuffled = value.stamps
          .map((item) => ({ item, key: random.next().value as number }))
          .sort((a, b) => a.key - b.key)
          .map(({ item }) => item)
        const [first, second] = [await evaluate(value), await evaluate({ ...value, stamps: shuffled })]
        const sorted = ({ dimensions, extensions }: Loose) => ({
          dimensions: {
            ...dimensions,
            independence: { ...dimensions.independence, pluginNames: [...dimensions.independence.pluginNames].sort() },
          },
          extensions,
        })
        expect(sorted(second as Loose)).toEqual(sorted(first as Loose))
      }),
      RUNS,
    ))

  it('does not count more support when bad stamps or copies of good ones are added', () =>
    fc.assert(
      fc.asyncProperty(proof, fc.array(stamp, { maxLength: 3 }), async (value, more) => {
        const badStamps = more.map((extra) => ({ ...extra, signatures: [], location: value.claim['location'] }))
        const { extensions, stampResults } = await evaluate(value)
        const { extensions: padded } = await evaluate({
          ...value,
          stamps: [...badStamps, ...value.stamps, ...value.stamps],
        })
        expect(padded.supportingStamps).toBeLessThanOrEqual(extensions.supportingStamps)
        expect(padded.supportingSigners).toBeLessThanOrEqual(extensions.supportingSigners)
        expect(extensions.supportingSigners).toBeLessThanOrEqual(extensions.distinctSigners)
        const signedStamp = stampResults.filter(
          ({ signaturesValid, structureValid, signalsConsistent, withinRadius, temporalOverlap }: Loose) =>
            signaturesValid && structureValid && signalsConsistent && withinRadius && temporalOverlap > 0,
        )
        expect(extensions.supportingStamps).toBeLessThanOrEqual(signedStamp.length)
        expect(extensions.supportingStamps > 0).toBe(signedStamp.length > 0)
      }),
      RUNS,
    ))

  it('counts a repeated stamp as a duplicate and lowers the ratio of unique plugins', () =>
    fc.assert(
      fc.asyncProperty(proof, async (value) => {
        const { extensions, dimensions } = await evaluate({ ...value, stamps: [...value.stamps, value.stamps[0]] })
        expect(extensions.duplicateStamps).toBeGreaterThanOrEqual(1)
        expect(dimensions.independence.uniquePluginRatio).toBeLessThan(1)
      }),
      RUNS,
    ))
})
