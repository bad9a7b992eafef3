/** Inputs of the benches. They are seeded, so that every run and every contender gets the same numbers. */
import geodesic from 'geographiclib-geodesic'
import type { Geometry, Position } from '../src/types/generated.ts'

const { WGS84 } = geodesic.Geodesic

/** Park and Miller's generator. */
export function generator(seed: number): (low: number, high: number) => number {
  let state = seed
  return (low, high) => {
    state = (state * 16807) % 2147483647
    return low + (state / 2147483647) * (high - low)
  }
}

/** Pairs of positions as flat arrays of lon1, lat1, lon2, lat2 in degrees. */
export function createPairs(count: number): Record<'anywhere' | 'medium' | 'short' | 'antipodal', Float64Array> {
  const random = generator(20260101)
  const randomPosition = () => [random(-180, 180), (Math.asin(random(-1, 1)) * 180) / Math.PI] as const
  const pairAtDistance = (minMeters: number, maxMeters: number) => {
    const [lon, lat] = randomPosition()
    const { lat2, lon2 } = WGS84.Direct(
      lat,
      lon,
      random(0, 360),
      Math.exp(random(Math.log(minMeters), Math.log(maxMeters))),
    )
    return [lon, lat, lon2!, lat2!]
  }
  const pairNearAntipode = () => {
    const [lon, lat] = randomPosition()
    const lon2 = lon + 180 + random(-0.5, 0.5)
    return [lon, lat, lon2 > 180 ? lon2 - 360 : lon2, Math.max(-90, Math.min(90, -lat + random(-0.5, 0.5)))]
  }
  const list = (next: () => readonly number[]) => Float64Array.from(Array.from({ length: count }, next).flat())
  return {
    anywhere: list(() => [...randomPosition(), ...randomPosition()]),
    medium: list(() => pairAtDistance(1e3, 1e6)),
    short: list(() => pairAtDistance(10, 1e3)),
    antipodal: list(pairNearAntipode),
  }
}

/** A closed, regular ring with `count` edges of this length, counter-clockwise, centred at 11°E 48°N. */
export function roundRing(count: number, edgeMeters: number): Position[] {
  const radiusMeters = edgeMeters / (2 * Math.sin(Math.PI / count))
  const ring = Array.from({ length: count }, (_, index): Position => {
    const { lat2, lon2 } = WGS84.Direct(48, 11, (-360 * index) / count, radiusMeters)
    return [lon2!, lat2!]
  })
  return [...ring, ring[0]!]
}

/** A simple polygon with a wavy outline of 37 bays in the lon/lat plane. `radius` is in degrees. */
export function wavyCircle(count: number, radius: number, lon = 0, lat = 0, decimals?: number): Geometry {
  const round = (value: number) => (decimals === undefined ? value : Number(value.toFixed(decimals)))
  const vertices = Array.from({ length: count }, (_, index): Position => {
    const angle = (2 * Math.PI * index) / count
    const distance = radius * (1 + 0.1 * Math.sin(37 * angle))
    return [round(lon + distance * Math.cos(angle)), round(lat + distance * Math.sin(angle))]
  })
  return polygon(vertices)
}

/** A comb whose long thin teeth fit between the teeth of the comb from the other side. 950 teeth are 85 KB of GeoJSON. */
export function comb(teeth: number, side: 1 | -1): Geometry {
  const pitch = 10 / teeth
  const vertices: Position[] = []
  for (let i = 0; i < teeth; i++) {
    const y = i * pitch + (side > 0 ? pitch / 2 : 0)
    vertices.push(
      [side * 10, y],
      [-side * 9, y + 0.05 * pitch],
      [-side * 9, y + 0.2 * pitch],
      [side * 10, y + 0.25 * pitch],
    )
  }
  return polygon([...vertices, [side * 11, 10], [side * 11, 0]])
}

export function point(lon: number, lat: number): Geometry {
  return { type: 'Point', coordinates: [lon, lat] }
}

/** @param vertices an open ring */
export function polygon(vertices: readonly Position[]): Geometry {
  return { type: 'Polygon', coordinates: [[...vertices, vertices[0]!]] }
}

/** Positions as one array of interleaved lon, lat. */
export function interleaved(positions: readonly Position[]): Float64Array {
  return Float64Array.from(positions.flat())
}

/** The bytes of an array of doubles, without a copy. */
export function viewBytes(values: Float64Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
}
