import { sideOfRing } from '../../topology/exact/point-in-ring.ts'
import type { Coordinates } from '../plugin.ts'
import data from './outlines.json' with { type: 'json' }

/** The outline of a country, or of the areas that ISO 3166-1 assigns to no country. */
interface Outline {
  /**
   * Interleaved lon, lat in degrees; longitudes continue past ±180 at the antimeridian. Rings are closed; some are
   * holes.
   */
  readonly vertices: Float64Array
  /** x, y, z of each vertex on the unit sphere. */
  readonly unitVectors: Float64Array
  /** Index of each ring's first vertex, and one past the last. */
  readonly ringStarts: readonly number[]
  readonly west: number
  readonly east: number
  readonly south: number
  readonly north: number
}

let outlines: ReadonlyMap<string, Outline> | undefined

/**
 * Returns the outlines by ISO 3166-1 alpha-2 code; the key '' holds areas without a code. The first call unpacks them,
 * which takes 0.1 s.
 *
 * @see scripts/build-countries.mjs
 */
export function countryOutlines(): ReadonlyMap<string, Outline> {
  if (outlines === undefined) {
    const arcs = unpackArcs()
    outlines = new Map(Object.entries(data.rings).map(([code, rings]) => [code, buildOutline(rings, arcs)]))
  }
  return outlines
}

/** @returns positions of each arc, interleaved lon, lat in degrees */
function unpackArcs(): Float64Array[] {
  const bytes = Buffer.from(data.arcs, 'base64')
  const [scaleX, scaleY] = data.scale as [number, number]
  const [westmost, southmost] = data.translate as [number, number]
  let offset = 0
  const next = (): number => {
    let value = 0
    let factor = 1
    let byte: number
    do {
      byte = bytes[offset++]!
      value += (byte & 127) * factor
      factor *= 128
    } while (byte > 127)
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
  return data.arcLengths.map((length) => {
    const positions = new Float64Array(2 * length)
    let x = 0
    let y = 0
    for (let i = 0; i < 2 * length; i += 2) {
      x += next()
      y += next()
      positions[i] = x * scaleX + westmost
      positions[i + 1] = y * scaleY + southmost
    }
    return positions
  })
}

function buildOutline(rings: readonly (readonly number[])[], arcs: readonly Float64Array[]): Outline {
  const parts = rings.map((ring) => joinArcs(ring, arcs))
  const ringStarts = [0]
  for (const part of parts) ringStarts.push(ringStarts.at(-1)! + part.length / 2)
  const vertices = new Float64Array(2 * ringStarts.at(-1)!)
  for (const [index, part] of parts.entries()) vertices.set(part, 2 * ringStarts[index]!)
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (let i = 0; i < vertices.length; i += 2) {
    west = Math.min(west, vertices[i]!)
    east = Math.max(east, vertices[i]!)
    south = Math.min(south, vertices[i + 1]!)
    north = Math.max(north, vertices[i + 1]!)
  }
  return { vertices, unitVectors: toUnitVectors(vertices), ringStarts, west, east, south, north }
}

/** @returns x, y, z on the unit sphere of each position */
function toUnitVectors(positions: ArrayLike<number>): Float64Array {
  const units = new Float64Array((positions.length / 2) * 3)
  for (let i = 0; i < positions.length / 2; i++) {
    const lon = (positions[2 * i]! * Math.PI) / 180
    const lat = (positions[2 * i + 1]! * Math.PI) / 180
    const radius = Math.cos(lat)
    units[3 * i] = radius * Math.cos(lon)
    units[3 * i + 1] = radius * Math.sin(lon)
    units[3 * i + 2] = Math.sin(lat)
  }
  return units
}

/**
 * Joins the arcs of a ring; neighbours share their ends. A negative index i means arc ~i in reverse, as in TopoJSON.
 */
function joinArcs(ring: readonly number[], arcs: readonly Float64Array[]): number[] {
  const positions: number[] = []
  for (const index of ring) {
    const arc = arcs[index < 0 ? ~index : index]!
    const count = arc.length / 2
    for (let step = positions.length === 0 ? 0 : 1; step < count; step++) {
      const at = 2 * (index < 0 ? count - 1 - step : step)
      positions.push(unwrapLongitude(arc[at]!, positions.at(-2)), arc[at + 1]!)
    }
  }
  const lonDifference = positions.at(-2)! - positions[0]!
  // Only Antarctica runs around the globe. In the plane it is closed along the pole.
  if (Math.abs(lonDifference) > 180)
    positions.push(positions.at(-2)!, -90, positions[0]!, -90, positions[0]!, positions[1]!)
  return positions
}

/**
 * Returns the longitude, shifted by whole turns to be near the previous one, so that no edge jumps at the antimeridian.
 */
function unwrapLongitude(lon: number, previous: number | undefined): number {
  return previous === undefined ? lon : lon + 360 * Math.round((previous - lon) / 360)
}

/**
 * How far a position may lie inside the outline of a wrong country. There is no verdict for positions nearer than this
 * to an outline. docs/plugins/ip-geolocation.md describes how it was measured.
 */
export const OUTLINE_TOLERANCE_METERS = 35_000

/** Longer edges are measured in pieces: a straight one would deviate from its parallel by more than 30 m. */
const MAX_PIECE_DEGREES = 0.5

/** Whether a position lies in a country, as far as the outlines show. */
interface CountryVerdict {
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
