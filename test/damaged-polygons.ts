/** Polygons of Natural Earth that were damaged, as real data is: by hand, by rounding, by copying. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Geometry } from '../src/types/generated.ts'
import fc from './seeded.ts'

export type Ring = [number, number][]
export type Polygons = Ring[][]

/** topojson-client has no type declarations. */
const { feature } = createRequire(import.meta.url)('topojson-client') as {
  feature: (topology: object, object: object) => { readonly features: readonly { readonly geometry: Geometry }[] }
}

function countriesOf(file: string): Geometry[] {
  const topology = JSON.parse(readFileSync(new URL(`../node_modules/world-atlas/${file}`, import.meta.url), 'utf8'))
  return feature(topology, topology.objects.countries).features.map(({ geometry }) => geometry)
}

/** Quantised, so that many are not valid. */
export const COUNTRIES_10M = countriesOf('countries-10m.json').filter(
  ({ type }) => type === 'Polygon' || type === 'MultiPolygon',
)

/** The polygons of countries, each with its holes. */
const POLYGONS = ['countries-110m.json', 'countries-50m.json']
  .flatMap(countriesOf)
  .flatMap(
    (geometry): Polygons =>
      geometry.type === 'Polygon'
        ? [geometry.coordinates as Ring[]]
        : geometry.type === 'MultiPolygon'
          ? (geometry.coordinates as Polygons)
          : [],
  )
  .filter((rings) => rings.flat().length <= 400)

/** Kinds of damage. Each takes rings that may be changed, and whole numbers from 0 to 2³² − 1. */
const DAMAGES: Readonly<Record<string, (polygons: Polygons, random: () => number) => Polygons>> = {
  swap: (polygons, random) =>
    onRing(polygons, random, (ring) => {
      const [i, j] = [1 + (random() % (ring.length - 2)), 1 + (random() % (ring.length - 2))]
      ;[ring[i], ring[j]] = [ring[j]!, ring[i]!]
    }),
  repeat: (polygons, random) =>
    onRing(polygons, random, (ring) => {
      const i = random() % ring.length
      ring.splice(i, 0, ring[i]!, ring[i]!)
    }),
  spike: (polygons, random) =>
    onRing(polygons, random, (ring) => {
      const i = random() % (ring.length - 1)
      const [lon, lat] = ring[i]!
      ring.splice(i + 1, 0, near([lon, lat], random, 2), [lon, lat])
    }),
  move: (polygons, random) =>
    onRing(polygons, random, (ring) => {
      const i = 1 + (random() % (ring.length - 2))
      ring[i] = near(ring[i]!, random, 5)
    }),
  reverse: (polygons, random) =>
    onRing(polygons, random, (ring) => {
      const [i, j] = [random() % (ring.length - 2), random() % (ring.length - 2)]
      const piece = ring.slice(1 + Math.min(i, j), 1 + Math.max(i, j)).reverse()
      ring.splice(1 + Math.min(i, j), piece.length, ...piece)
    }),
  quantise: (polygons, random) => {
    const step = [0.01, 0.1, 0.5, 2][random() % 4]!
    const round = (value: number, most: number) => Math.max(-most, Math.min(most, Math.round(value / step) * step)) + 0
    return polygons.map((rings) => rings.map((ring) => ring.map(([lon, lat]) => [round(lon, 180), round(lat, 90)])))
  },
  open: (polygons, random) => onRing(polygons, random, (ring) => void (ring.length > 4 && ring.pop())),
  overlap: (polygons, random) => {
    const [dx, dy] = near([0, 0], random, 3)
    const copy = polygons[random() % polygons.length]!.map((ring) =>
      ring.map(([lon, lat]) => clamp(lon + dx, lat + dy)),
    )
    return [...polygons, copy]
  },
  hole: (polygons, random) => {
    const shell = polygons[0]![0]!
    const [dx, dy] = near([0, 0], random, 2)
    const [lon, lat] = shell[random() % shell.length]!
    const hole = shell.map(([x, y]) => clamp(lon + (x - lon) / 2 + dx, lat + (y - lat) / 2 + dy))
    return [[...polygons[0]!, hole], ...polygons.slice(1)]
  },
  // Across longitude ±180.
  shift: (polygons) => {
    const [lon] = polygons[0]![0]![0]!
    const turn = (value: number) => (value > 180 ? value - 360 : value < -180 ? value + 360 : value)
    return polygons.map((rings) => rings.map((ring) => ring.map(([x, y]) => [turn(x - lon + 180), y])))
  },
  same: (polygons) => [...polygons, polygons[0]!.map((ring) => [...ring])],
}
const KINDS = Object.keys(DAMAGES)

function clamp(lon: number, lat: number): [number, number] {
  return [Math.max(-180, Math.min(180, lon)), Math.max(-90, Math.min(90, lat))]
}

function near([lon, lat]: readonly [number, number], random: () => number, degrees: number): [number, number] {
  const step = () => ((random() / 2 ** 32) * 2 - 1) * degrees
  return clamp(lon + step(), lat + step())
}

function onRing(polygons: Polygons, random: () => number, change: (ring: Ring) => void): Polygons {
  const rings = polygons[random() % polygons.length]!
  const ring = rings[random() % rings.length]!
  change(ring)
  const isOpen = ring.length < 4
  if (isOpen) ring.push(ring[0]!)
  return polygons
}

/** Damages a polygon a few times. The first and the last position stay the same, except where the ring was opened. */
export const damaged = fc
  .record({
    index: fc.nat(POLYGONS.length - 1),
    kinds: fc.array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 3 }),
    seed: fc.nat(),
  })
  .map(({ index, kinds, seed }): Geometry => {
    let state = seed >>> 0
    const random = () => {
      // A linear congruential generator; its low bits repeat soon, so the high ones come first.
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return (state ^ (state >>> 15)) >>> 0
    }
    let polygons = [POLYGONS[index]!.map((ring) => ring.map(([lon, lat]): [number, number] => [lon, lat]))]
    for (const kind of kinds) polygons = DAMAGES[kind]!(polygons, random)
    return { type: 'MultiPolygon', coordinates: polygons as never }
  })
