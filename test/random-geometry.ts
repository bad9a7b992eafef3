import geodesic from 'geographiclib-geodesic'
import type { Geometry, Position } from '../src/types/generated.ts'
import type { KnownPolygon, LonLat, Shape } from './distance-oracle.ts'

const { WGS84 } = geodesic.Geodesic

export type Random = () => number

/** Park and Miller's generator: numbers in (0, 1), the same on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed % 2147483647 || 1
  return () => {
    state = (state * 16807) % 2147483647
    return state / 2147483647
  }
}

export type RandomBetween = (low: number, high: number) => number

/** As `seededRandom`: numbers between two others. */
export function seededBetween(seed: number): RandomBetween {
  const random = seededRandom(seed)
  return (low, high) => low + random() * (high - low)
}

/** Latitudes in degrees where geodesics behave differently. */
export const LATITUDES: Readonly<Record<string, (random: RandomBetween) => number>> = {
  anywhere: (random) => random(-90, 90),
  'at the equator': (random) => random(-1e-6, 1e-6),
  'on the equator': () => 0,
  'in the tropics': (random) => random(-23, 23),
  'at high latitude': (random) => random(66, 89),
  'at the north pole': (random) => 90 - 10 ** random(-9, 0),
  'on the south pole': () => -90,
}

export interface RandomGeometry {
  readonly geometry: Geometry
  readonly shape: Shape
}

export const TYPES = [
  'Point',
  'MultiPoint',
  'LineString',
  'MultiLineString',
  'Polygon',
  'MultiPolygon',
  'GeometryCollection',
] as const

/** Returns the point at a distance of `meters` from another, in the given direction. */
export function walk([lon, lat]: LonLat, azimuthDegrees: number, meters: number): LonLat {
  const { lat2, lon2 } = WGS84.Direct(lat, lon, azimuthDegrees, meters)
  return [lon2!, lat2!]
}

const position = ([lon, lat]: LonLat): Position => [lon, lat]
const somewhere = (random: Random, centre: LonLat, size: number) =>
  walk(centre, 360 * random(), Math.min(size, 19.9e6) * Math.sqrt(random()))

/**
 * Returns a random geometry of about `size` metres around a centre. Polygons are stars around their own centres, with sides of at
 * most 4,000 km, so that the interior is known: it is the side without poles, or the smaller side.
 */
export function randomGeometry(
  random: Random,
  type: (typeof TYPES)[number],
  centre: LonLat,
  size: number,
): RandomGeometry {
  const some = (most: number) => 1 + Math.floor(most * random())
  const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)
  const point = () => somewhere(random, centre, size)
  const line = () => randomLine(random, centre, size)
  const polygon = () => randomPolygon(random, somewhere(random, centre, size / 2), Math.min(size / 2, 4e6))
  const rings = ({ rings }: KnownPolygon) => rings.map((ring) => ring.map(position))
  switch (type) {
    case 'Point':
      return pointsOf([centre], (points) => ({ type, coordinates: points[0]! }))
    case 'MultiPoint':
      return pointsOf(times(some(4), point), (coordinates) => ({ type, coordinates }))
    case 'LineString':
      return linesOf([line()], (lines) => ({ type, coordinates: lines[0]! }))
    case 'MultiLineString':
      return linesOf(times(some(3), line), (coordinates) => ({ type, coordinates }))
    case 'Polygon': {
      const one = polygon()
      return { geometry: { type, coordinates: rings(one) }, shape: { points: [], lines: [], polygons: [one] } }
    }
    case 'MultiPolygon': {
      const polygons = times(some(2), polygon)
      return { geometry: { type, coordinates: polygons.map(rings) }, shape: { points: [], lines: [], polygons } }
    }
    case 'GeometryCollection': {
      const members = times(some(3), () => randomGeometry(random, TYPES[Math.floor(6 * random())]!, centre, size))
      return {
        geometry: { type, geometries: members.map(({ geometry }) => geometry) },
        shape: {
          points: members.flatMap(({ shape }) => shape.points),
          lines: members.flatMap(({ shape }) => shape.lines),
          polygons: members.flatMap(({ shape }) => shape.polygons),
        },
      }
    }
  }
}

/** Returns two geometries of any types, 10 m to 10,000 km in size, at a distance of up to three times their size. */
export function randomPair(seed: number): readonly [RandomGeometry, RandomGeometry] {
  const random = seededRandom(seed)
  random()
  const size = 10 ** (1 + 6 * random())
  const centre: LonLat = [360 * random() - 180, 180 * random() - 90]
  const other = walk(centre, 360 * random(), Math.min(1.9e7, 3 * size * random()))
  const anyType = () => TYPES[Math.floor(TYPES.length * random())]!
  return [randomGeometry(random, anyType(), centre, size), randomGeometry(random, anyType(), other, size)]
}

function pointsOf(points: LonLat[], make: (positions: Position[]) => Geometry): RandomGeometry {
  return { geometry: make(points.map(position)), shape: { points, lines: [], polygons: [] } }
}

function linesOf(lines: LonLat[][], make: (lines: Position[][]) => Geometry): RandomGeometry {
  return { geometry: make(lines.map((line) => line.map(position))), shape: { points: [], lines, polygons: [] } }
}

function randomLine(random: Random, centre: LonLat, size: number): LonLat[] {
  const line = [somewhere(random, centre, size)]
  const count = 1 + Math.floor(3 * random())
  for (let i = 0; i < count; i++) {
    const last = line[line.length - 1]!
    // Some edges lead almost to the antipode, some along a meridian or a parallel.
    const way = size > 5e6 ? random() : 1
    if (way < 0.15) line.push(somewhere(random, [last[0] <= 0 ? last[0] + 180 : last[0] - 180, -last[1]], 3e5))
    else if (way < 0.25) line.push([last[0], Math.round(160 * random() - 80)])
    else line.push(somewhere(random, centre, size))
  }
  return line
}

function randomPolygon(random: Random, centre: LonLat, size: number): KnownPolygon {
  const count = 3 + Math.floor(5 * random())
  const turn = 360 * random()
  const star = Array.from({ length: count }, (_, index) => ({
    azimuth: turn + (360 * (index + 0.4 * random())) / count,
    meters: size * (0.3 + 0.7 * random()),
  }))
  const ring = (scale: number) => {
    const open = star.map(({ azimuth, meters }) => walk(centre, azimuth, scale * meters))
    return [...open, open[0]!]
  }
  return random() < 0.4
    ? { rings: [ring(1), ring(0.4)], reference: centre, isInside: false }
    : { rings: [ring(1)], reference: centre, isInside: true }
}
