/** Values with the types of @types/geojson are inputs of the client. The compiler is the test: `npm run check` runs it. */
import type { Feature, FeatureCollection, Geometry, LineString, MultiPolygon, Point, Polygon } from 'geojson'
import { describe, expect, it } from 'vitest'
import type { BatchOperation } from '../../src/client/batch.ts'
import {
  type GeometryLike,
  type InputLike,
  type ProofLike,
  type Recompute,
  type StampLike,
  verifyResult,
} from '../../src/client/client.ts'
import type { Compute } from '../../src/client/compute.ts'
import type { EvidenceProof, LocationStamp } from '../../src/types/generated.ts'

/** An interface, unlike a type alias, has no index signature. */
interface Shop {
  name: string
}

const point: Point = { type: 'Point', coordinates: [2.2945, 48.8584] }
const line: LineString = { type: 'LineString', coordinates: [point.coordinates, [2.3522, 48.8566, 35]] }
const polygon: Polygon = {
  type: 'Polygon',
  coordinates: [
    [
      [2, 48],
      [3, 48],
      [3, 49],
      [2, 48],
    ],
  ],
  bbox: [2, 48, 3, 49],
}
const several: MultiPolygon = { type: 'MultiPolygon', coordinates: [polygon.coordinates] }
const shop: Feature<Polygon, Shop> = { type: 'Feature', id: 7, geometry: polygon, properties: { name: 'Berthillon' } }
const collection: FeatureCollection<Polygon, Shop> = { type: 'FeatureCollection', features: [shop] }
const position: readonly [number, number] = [2, 48]
const literal = {
  type: 'LineString',
  coordinates: [
    [2, 48],
    [3, 49],
  ],
} as const
const geometries: Geometry[] = [
  point,
  line,
  polygon,
  several,
  { type: 'MultiPoint', coordinates: line.coordinates },
  { type: 'MultiLineString', coordinates: polygon.coordinates },
  { type: 'GeometryCollection', geometries: [point, { type: 'GeometryCollection', geometries: [] }] },
]

describe('the types of inputs', () => {
  it('accept geometries, Features and positions of @types/geojson', () => {
    const inputs: InputLike[] = [
      ...geometries,
      ...collection.features,
      shop,
      literal,
      { type: 'Point', coordinates: position },
      { type: 'MultiPoint', coordinates: [position] },
      { type: 'Point', coordinates: [2, 48], name: 'a foreign member' },
      { type: 'Feature', properties: null, geometry: point, id: 'a' },
      { uid: `0x${'1'.repeat(64)}` },
      `0x${'1'.repeat(64)}`,
    ]
    expect(inputs).toHaveLength(geometries.length + 9)
    const shapes: GeometryLike[] = [...geometries, literal]
    expect(shapes).toHaveLength(geometries.length + 1)
  })

  it('accept them in every function that takes an input', async () => {
    const call = async (compute: Compute, recompute: Recompute, geometry: Geometry) => [
      await compute.distance(shop, point),
      await compute.area(polygon),
      await compute.length(literal),
      await compute.contains(several, geometry),
      await compute.within(geometry, line, 5),
      await compute.intersects(shop, shop),
      recompute('area', [polygon]),
    ]
    expect(call).toBeTypeOf('function')
    const items: BatchOperation[] = [
      { op: 'distance', from: shop, to: point },
      { op: 'area', geometry: several },
      { op: 'contains', container: shop, containee: literal },
      { op: 'within', geometry: point, target: line, radius: 5 },
      { op: 'intersects', geometry1: shop, geometry2: collection.features[0]! },
    ]
    expect(items).toHaveLength(5)
    expect(await verifyResult({}, { inputs: [shop, point, literal] })).toMatchObject({ ok: false })
    const withLocation = (stamp: LocationStamp, proof: EvidenceProof): ProofLike => {
      const placed: StampLike = { ...stamp, location: shop.geometry }
      return { ...proof, claim: { ...proof.claim, location: point }, stamps: [placed, stamp] }
    }
    expect(withLocation).toBeTypeOf('function')
  })

  it('reject what is no input', () => {
    // @ts-expect-error a collection is not one input
    const whole: InputLike = collection
    // @ts-expect-error the Feature may have no geometry
    const empty: InputLike = { type: 'Feature', properties: null, geometry: null } as Feature<Point | null>
    // @ts-expect-error a ring is not a position
    const ring: InputLike = { type: 'Point', coordinates: [[2, 48]] } as const
    expect([whole, empty, ring]).toHaveLength(3)
  })
})
