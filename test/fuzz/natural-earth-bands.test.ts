import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { poleOf as poleOfKernel } from '../../src/compute/validity.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { contains } from '../../src/topology/contains.ts'
import { intersects } from '../../src/topology/intersects.ts'
import { unwrapRing } from '../../src/topology/unwrap.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { seededNumbers } from '../near-touch-cases.ts'

interface Collection {
  readonly features: readonly { readonly geometry: Geometry; readonly properties: { readonly name?: string } }[]
}
/** Without types of its own. */
const { feature } = createRequire(import.meta.url)('topojson-client') as {
  feature: (topology: object, object: object) => Collection
}

const kernel = loadKernel()
const poleOf = poleOfKernel(kernel)
const read = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 200_000, maxParts: 2000 })

/** Of a geometry that is not valid as a whole. */
const MOST_POLYGONS = 100

interface Shape {
  readonly name: string
  readonly geometry: Geometry
  /** Latitudes of each polygon. */
  readonly ranges: readonly (readonly [south: number, north: number])[]
}

/** What is valid of a map of Natural Earth. */
function shapesOf(file: string, object: string): Shape[] {
  const text = readFileSync(new URL(`../../node_modules/world-atlas/${file}`, import.meta.url), 'utf8')
  const topology = JSON.parse(text) as { objects: Record<string, object> }
  return feature(topology, topology.objects[object]!).features.flatMap(
    ({ geometry, properties: { name = object } }) => {
      if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') return []
      const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
      if (findInvalidity(read(geometry), poleOf) === undefined) {
        return [{ name, geometry, ranges: polygons.map(([exterior]) => rangeOf(exterior!)) }]
      }
      // The rings of some are not simple after quantisation: their other polygons one by one.
      return polygons.slice(0, MOST_POLYGONS).flatMap((coordinates): Shape[] => {
        const polygon: Geometry = { type: 'Polygon', coordinates }
        if (findInvalidity(read(polygon), poleOf) !== undefined) return []
        return [{ name, geometry: polygon, ranges: [rangeOf(coordinates[0]!)] }]
      })
    },
  )
}

function rangeOf(ring: Position[]): readonly [number, number] {
  const lats = ring.map(([, lat]) => lat)
  const { pole } = unwrapRing(Float64Array.from(ring.flat()), poleOf)
  return [pole < 0 ? -90 : Math.min(...lats), pole > 0 ? 90 : Math.max(...lats)]
}

/** The ring of a band from any of its vertices, either way, with or without vertices along its parallels. */
function bandRing(south: number, north: number, random: () => number): Position[] {
  const lons = random() < 0.5 ? [-180, 180] : [-180, -90, 0, 90, 180]
  const open = [...lons.map((lon): Position => [lon, south]), ...lons.toReversed().map((lon): Position => [lon, north])]
  const start = Math.floor(random() * open.length)
  const turned = [...open.slice(start), ...open.slice(0, start)]
  if (random() < 0.5) turned.reverse()
  return [...turned, turned[0]!]
}

describe.each([
  ['land-50m.json', 'land', 90],
  ['countries-10m.json', 'countries', 255],
])('bands around the globe and %s, %s', (file, object, least) => {
  const shapes = shapesOf(file, object)

  it('meet and hold what their latitudes say', () => {
    expect(shapes.length).toBeGreaterThanOrEqual(least)
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
        const found = [
          intersects(band, flat, poleOf, kernel),
          intersects(flat, band, poleOf, kernel),
          contains(band, flat, poleOf, kernel),
          contains(flat, band, poleOf, kernel),
        ]
        if (found.join() !== [meets, meets, holds, false].join()) wrong.push([name, south, north, found, meets, holds])
        tally[holds ? 'held' : meets ? 'met' : 'apart']++
      }
    }
    expect(wrong).toEqual([])
    for (const count of Object.values(tally)) expect(count).toBeGreaterThan(50)
  }, 120_000)
})
