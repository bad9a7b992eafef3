import { binaryPlaces, scaledInteger, scaledLongitude } from './exact.ts'
import type { Scene } from './scene.ts'

/** Rounded places further apart than this are surely different: rounding stays below 1e-8 degrees after 16,000 turns. */
const SURE = 1e-7

/**
 * The point in which two segments cross, as an exact fraction (x/w, y/w) · 2^-places, with a rounded copy as filter.
 * Made only where a crossing is allowed and the sweep has to go on over it.
 */
export interface Crossing {
  readonly lower: number
  readonly upper: number
  readonly x: bigint
  readonly y: bigint
  /** > 0 */
  readonly w: bigint
  readonly places: number
  /** Rounded as a function of the fraction alone: equal places have equal copies. */
  readonly lon: number
  readonly lat: number
}

/** @returns the crossing of two segments that are not parallel */
export function crossingOf(scene: Scene, lower: number, upper: number): Crossing {
  const a = scene.left[lower]!
  const b = scene.right[lower]!
  const c = scene.left[upper]!
  const d = scene.right[upper]!
  const places = Math.max(placesOf(scene, a), placesOf(scene, b), placesOf(scene, c), placesOf(scene, d))
  const ax = longitude(scene, a, places)
  const ay = latitude(scene, a, places)
  const ux = longitude(scene, b, places) - ax
  const uy = latitude(scene, b, places) - ay
  const cx = longitude(scene, c, places)
  const cy = latitude(scene, c, places)
  const vx = longitude(scene, d, places) - cx
  const vy = latitude(scene, d, places) - cy
  const cross = ux * vy - uy * vx
  const along = (cx - ax) * vy - (cy - ay) * vx
  const sign = cross < 0n ? -1n : 1n
  const x = (ax * cross + ux * along) * sign
  const y = (ay * cross + uy * along) * sign
  const w = cross * sign
  return { lower, upper, x, y, w, places, lon: quotient(x, w, places), lat: quotient(y, w, places) }
}

/** Order of two crossings by longitude, then latitude. */
export function compareCrossings(p: Crossing, q: Crossing): number {
  // Rounding keeps order: where the copies differ, the fractions do, in the same direction.
  if (p.lon !== q.lon) return p.lon - q.lon
  const byLon = compareFractions(p.x, p.w, p.places, q.x, q.w, q.places)
  if (byLon !== 0) return byLon
  if (p.lat !== q.lat) return p.lat - q.lat
  return compareFractions(p.y, p.w, p.places, q.y, q.w, q.places)
}

/** Order of a crossing and a position. */
export function comparePosition(scene: Scene, p: Crossing, position: number): number {
  const { positions } = scene
  if (Math.abs(p.lon - positions.x[position]!) > SURE) return p.lon - positions.x[position]!
  const places = placesOf(scene, position)
  const byLon = compareFractions(p.x, p.w, p.places, longitude(scene, position, places), 1n, places)
  if (byLon !== 0) return byLon
  return compareFractions(p.y, p.w, p.places, latitude(scene, position, places), 1n, places)
}

/** Whether a crossing lies on the line of a segment. */
export function liesOn(scene: Scene, p: Crossing, segment: number): boolean {
  if (segment === p.lower || segment === p.upper) return true
  const { x, lat } = scene.positions
  const a = scene.left[segment]!
  const b = scene.right[segment]!
  const ux = x[b]! - x[a]!
  const uy = lat[b]! - lat[a]!
  const size = Math.abs(ux) + Math.abs(uy)
  if (size > 1e-200 && Math.abs(ux * (p.lat - lat[a]!) - uy * (p.lon - x[a]!)) > SURE * size) return false
  const places = Math.max(placesOf(scene, a), placesOf(scene, b), p.places)
  const ax = longitude(scene, a, places)
  const ay = latitude(scene, a, places)
  const scale = BigInt(places - p.places)
  return (
    (longitude(scene, b, places) - ax) * ((p.y << scale) - ay * p.w) ===
    (latitude(scene, b, places) - ay) * ((p.x << scale) - ax * p.w)
  )
}

function compareFractions(a: bigint, aw: bigint, aPlaces: number, b: bigint, bw: bigint, bPlaces: number): number {
  const left = (a * bw) << BigInt(Math.max(0, bPlaces - aPlaces))
  const right = (b * aw) << BigInt(Math.max(0, aPlaces - bPlaces))
  return left < right ? -1 : left > right ? 1 : 0
}

function placesOf({ positions }: Scene, position: number): number {
  return Math.max(binaryPlaces(positions.lon[position]!), binaryPlaces(positions.lat[position]!))
}

function longitude({ positions }: Scene, position: number, places: number): bigint {
  return scaledLongitude(positions.lon[position]!, positions.planar ? 0 : positions.turn[position]!, places)
}

function latitude({ positions }: Scene, position: number, places: number): bigint {
  return scaledInteger(positions.lat[position]!, places)
}

function quotient(numerator: bigint, denominator: bigint, places: number): number {
  return Number((numerator << 64n) / (denominator << BigInt(places))) / 2 ** 64
}
