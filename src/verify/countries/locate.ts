import { sideOfRing } from '../../topology/point-in-ring.ts'
import type { Coordinates } from '../plugin.ts'
import { countryOutlines, type Outline, unitsOf } from './outlines.ts'

/**
 * How far inside the wrong outline a place may lie, metres: nearer than this to an outline nothing is said.
 * docs/plugins/ip-geolocation.md tells how it was measured.
 */
export const OUTLINE_TOLERANCE_METERS = 35_000

/** Edges longer than this are measured in pieces, degrees: a straight one would leave its parallel by over 30 m. */
const LONGEST_PIECE = 0.5

/** Whether a position lies in a country, as far as the outlines can tell. */
export interface CountryVerdict {
  readonly verdict: 'inside' | 'outside' | 'cannot-tell'
  /** To the country's outline; 0 inside. */
  readonly distanceMeters: number
}

/**
 * Inside and outside are said only of positions that lie deeper than the tolerance in the outline of this country or of
 * another. At sea nothing is said: small islands have no outline, nor have the waters of a country.
 *
 * @param code ISO 3166-1 alpha-2
 * @param distanceMeters of two positions
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
  const depthIn = (other: Outline) => distanceMeters(position, nearestOf(other, lon, lat))
  const away = depthIn(outline)
  if (isInside(outline, lon, lat)) {
    return { verdict: away > OUTLINE_TOLERANCE_METERS ? 'inside' : 'cannot-tell', distanceMeters: 0 }
  }
  const isElsewhere =
    away > OUTLINE_TOLERANCE_METERS &&
    countriesAt(position).some((other) => other !== '' && depthIn(outlines.get(other)!) > OUTLINE_TOLERANCE_METERS)
  return { verdict: isElsewhere ? 'outside' : 'cannot-tell', distanceMeters: away }
}

/** Every code whose outline holds the position; none at sea, '' in an area that ISO 3166-1 gives to no country. */
export function countriesAt({ lon, lat }: Coordinates): string[] {
  return [...countryOutlines()].filter(([, outline]) => isInside(outline, lon, lat)).map(([code]) => code)
}

/** Even-odd over all rings: a hole takes away what its ring around it gave. On the outline counts as inside. */
function isInside(outline: Outline, lon: number, lat: number): boolean {
  const { vertices, ringStarts, west, east, south, north } = outline
  if (lat < south || lat > north) return false
  for (const turn of [0, 360, -360]) {
    const x = lon + turn
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

/** The place of the outline that is nearest, by straight lines through a sphere. */
function nearestOf({ vertices, units, ringStarts }: Outline, lon: number, lat: number): Coordinates {
  const target = unitsOf([lon, lat])
  let least = Number.POSITIVE_INFINITY
  let nearest: Coordinates = { lon, lat }
  /** Degrees of latitude beyond which nothing is nearer. */
  let reach = 180
  const take = (squared: number, share: number, ends: readonly number[]) => {
    if (squared >= least) return
    const [x1, y1, x2, y2] = ends as [number, number, number, number]
    least = squared
    nearest = { lon: wrap(x1 + share * (x2 - x1)), lat: y1 + share * (y2 - y1) }
    reach = (2 * Math.asin(Math.min(1, Math.sqrt(squared) / 2)) * 180) / Math.PI + LONGEST_PIECE
  }
  for (let ring = 0; ring < ringStarts.length - 1; ring++) {
    for (let i = ringStarts[ring]!; i < ringStarts[ring + 1]! - 1; i++) {
      const y1 = vertices[2 * i + 1]!
      const y2 = vertices[2 * i + 3]!
      if (Math.min(y1, y2) - lat > reach || lat - Math.max(y1, y2) > reach) continue
      const ends = vertices.subarray(2 * i, 2 * i + 4)
      const pieces = Math.ceil(Math.max(Math.abs(ends[2]! - ends[0]!), Math.abs(y2 - y1)) / LONGEST_PIECE)
      if (pieces <= 1) {
        const { squared, share } = approach(target, units, 3 * i)
        if (squared < least) take(squared, share, [...ends])
      } else
        for (const piece of piecesOf(ends, pieces)) {
          const { squared, share } = approach(target, unitsOf(piece), 0)
          take(squared, share, piece)
        }
    }
  }
  return nearest
}

function piecesOf(ends: Float64Array, count: number): number[][] {
  const [x1, y1, x2, y2] = ends as unknown as [number, number, number, number]
  const at = (step: number) => [x1 + (step / count) * (x2 - x1), y1 + (step / count) * (y2 - y1)]
  return Array.from({ length: count }, (_, step) => [...at(step), ...at(step + 1)])
}

/** Where the straight line between two neighbouring vertices comes nearest to p. */
function approach(p: Float64Array, units: Float64Array, at: number): { squared: number; share: number } {
  const [ax, ay, az] = [units[at]!, units[at + 1]!, units[at + 2]!]
  const [dx, dy, dz] = [units[at + 3]! - ax, units[at + 4]! - ay, units[at + 5]! - az]
  const [px, py, pz] = [p[0]! - ax, p[1]! - ay, p[2]! - az]
  const length = dx * dx + dy * dy + dz * dz
  const share = length === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy + pz * dz) / length))
  const [x, y, z] = [px - share * dx, py - share * dy, pz - share * dz]
  return { squared: x * x + y * y + z * z, share }
}

function wrap(lon: number): number {
  return lon - 360 * Math.round(lon / 360)
}
