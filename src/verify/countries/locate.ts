import { sideOfRing } from '../../topology/exact/point-in-ring.ts'
import type { Coordinates } from '../plugin.ts'
import { countryOutlines, type Outline, toUnitVectors } from './outlines.ts'

/**
 * How far a position may lie inside the outline of a wrong country. There is no verdict for positions nearer than this
 * to an outline. docs/plugins/ip-geolocation.md describes how it was measured.
 */
export const OUTLINE_TOLERANCE_METERS = 35_000

/** Longer edges are measured in pieces: a straight one would deviate from its parallel by more than 30 m. */
const MAX_PIECE_DEGREES = 0.5

/** Whether a position lies in a country, as far as the outlines show. */
export interface CountryVerdict {
  readonly verdict: 'inside' | 'outside' | 'cannot-tell'
  /** Distance to the country's outline; 0 inside. */
  readonly distanceMeters: number
}

/**
 * Judges whether a position lies in a country. The verdict is `inside` or `outside` only for positions that are deeper
 * than the tolerance inside the outline of this country or of another one. At sea it is `cannot-tell`, because small
 * islands and territorial waters have no outline.
 *
 * @param code ISO 3166-1 alpha-2
 * @param distanceMeters returns the distance between two positions
 * @returns undefined when no outline of that code is known
 */
export function judgeCountry(
  code: string,
  position: Coordinates,
  distanceMeters: (a: Coordinates, b: Coordinates) => number,
): CountryVerdict | undefined {
  const outlines = countryOutlines()
  const outline = code === '' ? undefined : outlines.get(code)
  if (outline === undefined) return undefined
  const { lon, lat } = position
  const distanceToOutline = (other: Outline) => distanceMeters(position, nearestPoint(other, lon, lat))
  const distance = distanceToOutline(outline)
  if (isInside(outline, lon, lat)) {
    return { verdict: distance > OUTLINE_TOLERANCE_METERS ? 'inside' : 'cannot-tell', distanceMeters: 0 }
  }
  const isElsewhere =
    distance > OUTLINE_TOLERANCE_METERS &&
    countriesAt(position).some(
      (other) => other !== '' && distanceToOutline(outlines.get(other)!) > OUTLINE_TOLERANCE_METERS,
    )
  return { verdict: isElsewhere ? 'outside' : 'cannot-tell', distanceMeters: distance }
}

/**
 * Returns every code whose outline contains the position: none at sea, '' in an area that ISO 3166-1 assigns to no
 * country.
 */
export function countriesAt({ lon, lat }: Coordinates): string[] {
  return [...countryOutlines()].filter(([, outline]) => isInside(outline, lon, lat)).map(([code]) => code)
}

/** Counts by the even-odd rule over all rings, so that holes are outside. A position on the outline is inside. */
function isInside(outline: Outline, lon: number, lat: number): boolean {
  const { vertices, ringStarts, west, east, south, north } = outline
  if (lat < south || lat > north) return false
  for (const offset of [0, 360, -360]) {
    const x = lon + offset
    if (x < west || x > east) continue
    let depth = 0
    for (let ring = 0; ring < ringStarts.length - 1; ring++) {
      const side = sideOfRing(vertices, ringStarts[ring]!, ringStarts[ring + 1]!, x, lat)
      if (side === 0) return true
      if (side > 0) depth++
    }
    if (depth % 2 === 1) return true
  }
  return false
}

/** Returns the point of the outline that is nearest to a position, by straight-line distance through a sphere. */
function nearestPoint({ vertices, unitVectors: units, ringStarts }: Outline, lon: number, lat: number): Coordinates {
  const target = toUnitVectors([lon, lat])
  let leastSquared = Number.POSITIVE_INFINITY
  let nearest: Coordinates = { lon, lat }
  /** Edges that are farther away than this in latitude, in degrees, cannot be nearer. */
  let reach = 180
  const take = (squared: number, fraction: number, ends: readonly number[]) => {
    if (squared >= leastSquared) return
    const [x1, y1, x2, y2] = ends as [number, number, number, number]
    leastSquared = squared
    nearest = { lon: wrap(x1 + fraction * (x2 - x1)), lat: y1 + fraction * (y2 - y1) }
    reach = (2 * Math.asin(Math.min(1, Math.sqrt(squared) / 2)) * 180) / Math.PI + MAX_PIECE_DEGREES
  }
  for (let ring = 0; ring < ringStarts.length - 1; ring++) {
    for (let i = ringStarts[ring]!; i < ringStarts[ring + 1]! - 1; i++) {
      const y1 = vertices[2 * i + 1]!
      const y2 = vertices[2 * i + 3]!
      if (Math.min(y1, y2) - lat > reach || lat - Math.max(y1, y2) > reach) continue
      const ends = vertices.subarray(2 * i, 2 * i + 4)
      const pieces = Math.ceil(Math.max(Math.abs(ends[2]! - ends[0]!), Math.abs(y2 - y1)) / MAX_PIECE_DEGREES)
      if (pieces <= 1) {
        const { squared, fraction } = closestOnEdge(target, units, 3 * i)
        if (squared < leastSquared) take(squared, fraction, [...ends])
      } else
        for (const piece of splitEdge(ends, pieces)) {
          const { squared, fraction } = closestOnEdge(target, toUnitVectors(piece), 0)
          take(squared, fraction, piece)
        }
    }
  }
  return nearest
}

function splitEdge(ends: Float64Array, count: number): number[][] {
  const [x1, y1, x2, y2] = ends as unknown as [number, number, number, number]
  const at = (step: number) => [x1 + (step / count) * (x2 - x1), y1 + (step / count) * (y2 - y1)]
  return Array.from({ length: count }, (_, step) => [...at(step), ...at(step + 1)])
}

/**
 * Returns where the straight line between two neighbouring vertices is nearest to p: squared distance, and fraction of
 * the line.
 */
function closestOnEdge(p: Float64Array, units: Float64Array, at: number): { squared: number; fraction: number } {
  const [ax, ay, az] = [units[at]!, units[at + 1]!, units[at + 2]!]
  const [dx, dy, dz] = [units[at + 3]! - ax, units[at + 4]! - ay, units[at + 5]! - az]
  const [px, py, pz] = [p[0]! - ax, p[1]! - ay, p[2]! - az]
  const length = dx * dx + dy * dy + dz * dz
  const fraction = length === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy + pz * dz) / length))
  const [x, y, z] = [px - fraction * dx, py - fraction * dy, pz - fraction * dz]
  return { squared: x * x + y * y + z * z, fraction }
}

function wrap(lon: number): number {
  return lon - 360 * Math.round(lon / 360)
}
