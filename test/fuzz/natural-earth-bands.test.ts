import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { kernelPoleResolver } from '../../src/compute/validity.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { contains } from '../../src/topology/contains.ts'
import { intersects } from '../../src/topology/intersects.ts'
import { unwrapRing } from '../../src/topology/layout/unwrap.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { seededNumbers } from '../near-touch-cases.ts'

interface Collection {
  readonly features: readonly { readonly geometry: Geometry; readonly properties: { readonly name?: string } }[]
}
/** topojson-client has no type declarations. */
const { feature } = createRequire(import.meta.url)('topojson-client') as {
  feature: (topology: object, object: object) => Collection
}

const kernel = loadKernel()
const poleOf = kernelPoleResolver(kernel)
const read = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 200_000, maxParts: 2000 })

/** The most polygons to test of a geometry that is not valid as a whole. */
const MOST_POLYGONS = 100

interface Shape {
  readonly name: string
  readonly geometry: Geometry
  /** The range of latitudes of each polygon. */
  readonly ranges: readonly (readonly [south: number, north: number])[]
}

/** Returns the valid geometries of a map of Natural Earth. */
function readShapes(file: string, object: string): Shape[] {
  const text = readFileSync(new URL(`../../node_modules/world-atlas/${file}`, import.meta.url), 'utf8')
  const topology = JSON.parse(text) as { objects: Record<string, object> }
  return feature(topology, topology.objects[object]!).features.flatMap(
    ({ geometry, properties: { name = object } }) => {
      if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') return []
      const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
      if (findInvalidity(read(geometry), poleOf) === undefined) {
        return [{ name, geometry, ranges: polygons.map(([exterior]) => latitudeRange(exterior!)) }]
      }
      // Quantisation makes some rings self-intersect: the geometry's other polygons are used one by one.
      return polygons.slice(0, MOST_POLYGONS).flatMap((coordinates): Shape[] => {
        const polygon: Geometry = { type: 'Polygon', coordinates }
        if (findInvalidity(read(polygon), poleOf) !== undefined) return []
        return [{ name, geometry: polygon, ranges: [latitudeRange(coordinates[0]!)] }]
      })
    },
  )
}

function latitudeRange(ring: Position[]): readonly [number, number] {
  const lats = ring.map(([, lat]) => lat)
  const { pole } = unwrapRing(Float64Array.from(ring.flat()), poleOf)
  return [pole < 0 ? -90 : Math.min(...lats), pole > 0 ? 90 : Math.max(...lats)]
}

/** Returns the ring of a band, from any of its vertices, in either direction, with or without vertices along its parallels. */
function bandRing(south: number, north: number, random: () => number): Position[] {
  const lons = random() < 0.5 ? [-180, 180] : [-180, -90, 0, 90, 180]
  const open = [...lons.map((lon): Position => [lon, south]), ...lons.toReversed().map((lon): Position => [lon, north])]
  const start = Math.floor(random() * open.length)
  const rotated = [...open.slice(start), ...open.slice(0, start)]
  if (random() < 0.5) rotated.reverse()
  return [...rotated, rotated[0]!]
}

describe.each([
  ['land-50m.json', 'land', 90],
  ['countries-10m.json', 'countries', 255],
])('bands around the globe and %s, %s', (file, object, minCount) => {
  const shapes = readShapes(file, object)

  it('intersect and contain the geometries that their latitudes predict', () => {
    expect(shapes.length).toBeGreaterThanOrEqual(minCount)
    const random = seededNumbers(126)
    const wrong: unknown[] = []
    const tally = { held: 0, met: 0, apart: 0 }
    for (const { name, geometry, ranges } of shapes) {
      const [lowest, highest] = [Math.min(...ranges.map(([s]) => s)), Math.max(...ranges.map(([, n]) => n))]
      const bands: (readonly [number, number])[] = [
        [-90, 90],
        [-90, lowest],
        [highest, 90],
        [lowest, highest],
        [Math.max(-90, lowest - 1), Math.min(90, highest + 1)],
        [-60 + Math.floor(random() * 60), 1 + Math.floor(random() * 60)],
      ]
      const flat = read(geometry)
      for (const [south, north] of bands) {
        if (!(south < north)) continue
        const ring = bandRing(south, north, random)
        const band = read({ type: 'Polygon', coordinates: [ring] })
        expect(findInvalidity(band, poleOf), JSON.stringify(ring)).toBeUndefined()
        const meets = ranges.some(([s, n]) => s <= north && n >= south)
        const holds = ranges.every(([s, n]) => s >= south && n <= north)
        const actual = [
          intersects(band, flat, poleOf, kernel),
          intersects(flat, band, poleOf, kernel),
          contains(band, flat, poleOf, kernel),
          contains(flat, band, poleOf, kernel),
        ]
        if (actual.join() !== [meets, meets, holds, false].join())
          wrong.push([name, south, north, actual, meets, holds])
        tally[holds ? 'held' : meets ? 'met' : 'apart']++
      }
    }
    expect(wrong).toEqual([])
    for (const count of Object.values(tally)) expect(count).toBeGreaterThan(50)
  }, 120_000)
})
