import { describe, expect, it } from 'vitest'
import { pack, unpack } from '../../src/base/bytes.ts'
import { boxDistance } from '../../src/compute/box-distance.ts'
import { createEngine } from '../../src/compute/engine.ts'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { type Outcome, runOperation } from '../../src/compute/run.ts'
import { boundFeature } from '../../src/compute/set-tree.ts'
import { runSetTask } from '../../src/compute/sets.ts'
import { kernelPoleResolver } from '../../src/compute/validity.ts'
import type { Geometry } from '../../src/types/generated.ts'
import type { FeaturesResult, IndexResult, MatchOptions, MatchResult, SetShape } from '../../src/wire/set-messages.ts'

const limits = {
  maxVertices: 50_000,
  maxParts: 10_000,
  maxCollectionDepth: 8,
  maxJsonDepth: 32,
  maxWork: 1e9,
  maxPreparedBytes: 1_048_576,
  chainIds: [84532],
}
const engine = createEngine(limits)
/** The same shapes and points in every run. */
let state = 20_261_127
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}
const between = (low: number, high: number) => low + random() * (high - low)

function disc(lon: number, lat: number, radius: number, vertices: number): Geometry {
  const ring = Array.from({ length: vertices }, (_, index): [number, number] => {
    const angle = (2 * Math.PI * index) / vertices
    return [lon + radius * Math.cos(angle), lat + (radius / 2) * Math.sin(angle)]
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0]!]] }
}

const box = (west: number, south: number, east: number, north: number): Geometry => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ],
  ],
})

/** Shapes at the places where boxes are difficult, and many at random ones. */
const GEOMETRIES: readonly Geometry[] = [
  box(170, -10, -170, 10), // across the antimeridian
  box(178, 40, 180, 60),
  box(-180, 40, -178, 60),
  box(-180, 70, 180, 90),
  box(-180, -30, 180, -20),
  {
    type: 'Polygon',
    coordinates: [
      [
        [0, 80],
        [90, 80],
        [180, 80],
        [-90, 80],
        [0, 80],
      ],
    ],
  },
  box(-60, 50, 60, 60), // edges that bulge as geodesics
  box(-80, -60, 80, -50),
  {
    type: 'LineString',
    coordinates: [
      [-100, 45],
      [0, 45],
    ],
  },
  {
    type: 'LineString',
    coordinates: [
      [170, 0],
      [-170, 5],
      [-160, 20],
    ],
  },
  {
    type: 'MultiPoint',
    coordinates: [
      [179.9, 0],
      [-179.9, 0],
      [0, 90],
    ],
  },
  { type: 'Point', coordinates: [180, 10] },
  { type: 'Point', coordinates: [-180, 10] },
  { type: 'Point', coordinates: [12, -90] },
  ...Array.from({ length: 30 }, () =>
    disc(between(-170, 170), between(-75, 75), between(0.1, 8), 3 + Math.floor(between(0, 200))),
  ),
  ...Array.from(
    { length: 30 },
    (): Geometry => ({ type: 'Point', coordinates: [between(-180, 180), between(-90, 90)] }),
  ),
  ...Array.from({ length: 10 }, (): Geometry => {
    const [lon, lat] = [between(-150, 150), between(-70, 70)]
    return {
      type: 'MultiPolygon',
      coordinates: [disc(lon, lat, 1, 80), disc(lon + 5, lat, 1, 5)].map(
        (part) => (part as unknown as { coordinates: [number, number][][] }).coordinates,
      ),
    }
  }),
  ...Array.from(
    { length: 10 },
    (): Geometry => ({
      type: 'LineString',
      coordinates: Array.from({ length: 5 }, () => [between(-60, 60), between(-60, 60)] as [number, number]),
    }),
  ),
]

const POINTS: readonly [number, number][] = [
  ...Array.from({ length: 150 }, (): [number, number] => [between(-180, 180), between(-90, 90)]),
  ...GEOMETRIES.flatMap((geometry) => firstPosition(geometry)),
  ...[180, -180].flatMap((lon) => [-85, 0, 10, 50, 85].map((lat): [number, number] => [lon, lat])),
  [0, 90],
  [77, -90],
  [0, 59.99],
  [0, 61],
]

function firstPosition(geometry: Geometry): [number, number][] {
  let value: unknown = geometry.type === 'GeometryCollection' ? [] : geometry.coordinates
  while (Array.isArray((value as unknown[])[0])) value = (value as unknown[])[0]
  return [value as [number, number]]
}

function makeSet(geometries: readonly Geometry[]): SetShape {
  const lines = geometries.map((geometry, index) =>
    Buffer.from(JSON.stringify({ type: 'Feature', geometry, properties: { index, name: `f${index}` } })),
  )
  const read = runSetTask(
    { type: 'features', lines: pack(lines), first: 0, isRequest: true },
    engine,
    limits,
  ) as FeaturesResult
  if (read.type === 'problem') throw new Error(JSON.stringify(read.problem))
  const { trees } = runSetTask({ type: 'index', features: read.features }, engine, limits) as IndexResult
  return { id: `set-${Math.random()}`, count: geometries.length, features: read.features, trees }
}

const set = makeSet(GEOMETRIES)
const DEFAULTS: MatchOptions = {
  predicate: undefined,
  withinMeters: undefined,
  nearest: undefined,
  properties: 'none',
  limit: 1000,
}

function match(
  points: readonly (readonly [number, number])[],
  options: Partial<MatchOptions>,
  signed?: { chainId: number; recipient: `0x${string}` },
): MatchResult {
  const lines = pack(points.map((coordinates, id) => Buffer.from(JSON.stringify({ type: 'Point', id, coordinates }))))
  const task = {
    type: 'match',
    set,
    options: { ...DEFAULTS, ...options },
    lines,
    signed,
    timestampSeconds: 1_800_000_000,
  } as const
  return runSetTask(task, engine, limits) as MatchResult
}

// biome-ignore lint/suspicious/noExplicitAny: a line may have any members
const linesOf = ({ texts }: MatchResult): any[] =>
  Array.from({ length: texts.offsets.length - 1 }, (_, index) =>
    JSON.parse(Buffer.from(unpack(texts, index)).toString()),
  )

function expected(
  operation: 'contains' | 'intersects' | 'distance',
  feature: number,
  point: readonly [number, number],
): Outcome {
  const ofFeature = { geometry: GEOMETRIES[feature]!, path: [], ref: undefined }
  const ofPoint = {
    geometry: { type: 'Point' as const, coordinates: [...point] as [number, number] },
    path: [],
    ref: undefined,
  }
  const operands = operation === 'distance' ? [ofPoint, ofFeature] : [ofFeature, ofPoint]
  return runOperation(OPERATIONS[operation], operands, {}, { kernel: engine.kernel, keccak: engine.keccak, limits })
}

describe('the features of a set that match points', () => {
  it.each(['contains', 'intersects'] as const)('are those that a single request finds: %s', (predicate) => {
    const lines = linesOf(match(POINTS, { predicate }))
    let matches = 0
    POINTS.forEach((point, index) => {
      const all = GEOMETRIES.flatMap((_, feature) => {
        const outcome = expected(predicate, feature, point)
        return outcome.kind === 'boolean' && outcome.value ? [{ feature }] : []
      })
      matches += all.length
      expect(lines[index], JSON.stringify(point)).toEqual({ id: index, matches: all })
    })
    expect(matches).toBeGreaterThan(100)
  })

  it('are those within a distance, the nearest first, and the nearest', () => {
    const within = linesOf(match(POINTS, { withinMeters: 900_000 }))
    const nearest = linesOf(match(POINTS, { nearest: 4 }))
    const both = linesOf(match(POINTS, { nearest: 2, withinMeters: 300_000 }))
    POINTS.forEach((point, index) => {
      const all = GEOMETRIES.map((_, feature) => {
        const outcome = expected('distance', feature, point)
        if (outcome.kind !== 'numeric') throw new Error('not numeric')
        return { feature, measure: outcome.measure, distance: Number(outcome.integer) / 100 }
      }).sort((a, b) => a.measure - b.measure || a.feature - b.feature)
      const shown = (list: typeof all) => list.map(({ feature, distance }) => ({ feature, distance }))
      const label = JSON.stringify(point)
      expect(within[index].matches, label).toEqual(shown(all.filter(({ distance }) => distance <= 900_000)))
      expect(nearest[index].matches, label).toEqual(shown(all.slice(0, 4)))
      expect(both[index].matches, label).toEqual(shown(all.slice(0, 2).filter(({ distance }) => distance <= 300_000)))
    })
  })

  it('carry what a single request signs', () => {
    const signed = { chainId: 84532, recipient: `0x${'0'.repeat(40)}` as const }
    const points = POINTS.slice(0, 30)
    for (const [options, operation] of [
      [{ predicate: 'contains' }, 'contains'],
      [{ nearest: 2 }, 'distance'],
    ] as const) {
      const { unfinished } = match(points, options, signed)
      let matches = 0
      for (const [index, { outcome }] of unfinished) {
        if (outcome.type !== 'matches') throw new Error(JSON.stringify(outcome))
        for (const { head, computed } of outcome.matches) {
          const { feature } = JSON.parse(`{${head.slice(0, -1)}}`)
          const { inputRefs } = expected(operation, feature, points[index]!)
          expect(JSON.parse(`{${computed.members}}`).inputRefs).toEqual(inputRefs)
          matches++
        }
      }
      expect(matches).toBeGreaterThan(0)
    }
  })

  it('show that there are more than the limit, and the properties that were asked for', () => {
    const [line] = linesOf(
      match([[0, 0]], { nearest: undefined, withinMeters: 20_000_000, limit: 3, properties: ['name'] }),
    )
    expect(line.matches).toHaveLength(3)
    expect(line.truncated).toBe(true)
    expect(line.matches[0].properties).toEqual({ name: `f${line.matches[0].feature}` })
    const [all] = linesOf(match([[0, 0]], { nearest: 1, properties: 'all' }))
    expect(all.matches[0].properties).toEqual({ index: all.matches[0].feature, name: `f${all.matches[0].feature}` })
    expect(all.truncated).toBeUndefined()
  })

  it('fail line by line', () => {
    const lines = pack(
      ['{"type":"Point","coordinates":[0,95],"id":"a"}', 'no', '{"type":"LineString","coordinates":[[0,0],[1,1]]}'].map(
        (text) => Buffer.from(text),
      ),
    )
    const task = { type: 'match', set, options: DEFAULTS, lines, signed: undefined, timestampSeconds: 0 } as const
    const { unfinished } = runSetTask(task, engine, limits) as MatchResult
    expect([...unfinished.values()].map(({ id, outcome }) => [id, outcome.type])).toEqual([
      ['"id":"a",', 'problem'],
      ['', 'problem'],
      ['', 'problem'],
    ])
  })

  it('may be none, in an empty set', () => {
    const empty = makeSet([])
    const lines = pack([Buffer.from('{"type":"Point","coordinates":[0,0]}')])
    for (const options of [{ predicate: 'contains' as const }, { nearest: 1 }]) {
      const task = {
        type: 'match',
        set: empty,
        options: { ...DEFAULTS, ...options },
        lines,
        signed: undefined,
        timestampSeconds: 0,
      } as const
      expect(linesOf(runSetTask(task, engine, limits) as MatchResult)).toEqual([{ matches: [] }])
    }
  })
})

describe('the boxes of a set', () => {
  it('hold the geodesic edges of features', () => {
    const bounds = new Float64Array(4)
    for (let feature = 0; feature < GEOMETRIES.length; feature++) {
      const geometry = GEOMETRIES[feature]!
      if (geometry.type !== 'Polygon' && geometry.type !== 'LineString') continue
      boundFeature(set.features, feature, kernelPoleResolver(engine.kernel), bounds)
      const [west, south, east, north] = bounds as unknown as [number, number, number, number]
      const rings = (geometry.type === 'Polygon' ? geometry.coordinates : [geometry.coordinates]) as [
        number,
        number,
      ][][]
      for (const ring of rings) {
        for (let i = 1; i < ring.length; i++) {
          const [[lon1, lat1], [lon2, lat2]] = [ring[i - 1]!, ring[i]!]
          if (Math.abs(lon1 - lon2) >= 360) continue
          const length = engine.kernel.inverse(lat1, lon1, lat2, lon2)
          const azimuth = (Math.atan2(engine.kernel.salp1(), engine.kernel.calp1()) * 180) / Math.PI
          for (const share of [0.1, 0.3, 0.5, 0.7, 0.9]) {
            const place = expectedPlace(lon1, lat1, azimuth, share * length)
            expect(place[1]).toBeGreaterThanOrEqual(south - 1e-9)
            expect(place[1]).toBeLessThanOrEqual(north + 1e-9)
            if (east - west < 360) {
              expect(place[0]).toBeGreaterThanOrEqual(west - 1e-9)
              expect(place[0]).toBeLessThanOrEqual(east + 1e-9)
            }
          }
        }
      }
    }
  })

  it('are never farther than a place in them', () => {
    for (let round = 0; round < 5000; round++) {
      const [west, south] = [between(-180, 180), between(-90, 90)]
      const [east, north] = [between(west, Math.min(180, west + between(0, 360))), between(south, 90)]
      const [lon, lat] = [between(-180, 180), between(-90, 90)]
      const bound = boxDistance(lon, lat, west, south, east, north)
      for (const [x, y] of [
        [west, south],
        [east, north],
        [between(west, east), between(south, north)],
        [west, between(south, north)],
      ] as const)
        expect(engine.kernel.inverse(lat, lon, y, x)).toBeGreaterThanOrEqual(bound)
      if (lon >= west && lon <= east && lat >= south && lat <= north) expect(bound).toBe(0)
    }
  })
})

function expectedPlace(
  lon: number,
  lat: number,
  azimuthDegrees: number,
  distanceMeters: number,
): readonly [number, number] {
  const operand = {
    geometry: { type: 'Point' as const, coordinates: [lon, lat] as [number, number] },
    path: [],
    ref: undefined,
  }
  const outcome = runOperation(OPERATIONS.direct, [operand], { azimuthDegrees, distanceMeters } as never, {
    kernel: engine.kernel,
    keccak: engine.keccak,
    limits,
  })
  if (outcome.kind !== 'geometry') throw new Error('not a geometry')
  return JSON.parse(`{${outcome.members}}`).geometry.coordinates
}
