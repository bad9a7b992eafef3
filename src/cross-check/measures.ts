/** Distances, lengths and areas by GeographicLib's own JavaScript implementation. */
import geodesic from 'geographiclib-geodesic'
import type { Geometry, Position } from '../types/generated.ts'
import type { Verdict } from '../wire/cross-check-messages.ts'

const { WGS84, AREA, DISTANCE } = geodesic.Geodesic
const ENGINE = 'geographiclib-geodesic 2.2.0'

/** The most pairs of points of two MultiPoints that are compared. */
const MAX_PAIRS = 10_000
/**
 * By how much the lengths of one geodesic may differ: the bound that docs/geodesy.md states, and that `differential/inverse` and
 * `differential/general-edge` assert. Errors of several edges may add up, because edges may be equal: n edges have n times it.
 */
const EDGE_BOUND_METERS = 15e-9
/** Rounding of two sums. */
const SUM_ROUNDING = 2 ** -51
/** The documented bound of our areas: the larger of 1 cm² and this share of the polygon. */
const AREA_BOUND_SQUARE_METERS = 1e-4
const AREA_BOUND_SHARE = 1e-12
/** e²a² of WGS 84. Beside a share of S12 the library's area below an edge has a rounding of this size (`differential/area`). */
const AREA_ROUNDING_SCALE = 0.0066943799901413165 * 6378137 ** 2
/** Beyond this length the area below an edge is within 0.25 m², as docs/geodesy.md states for both. */
const LONG_EDGE_METERS = 1e6
const LONG_EDGE_BOUND_SQUARE_METERS = 0.25

/** What the library computes, and by how much a correct answer may differ from it. */
export interface Measured {
  readonly value: number
  readonly bound: number
  readonly engine: string
}

/** Measures between points. Returns undefined for other types: the library has no distances of lines and polygons. */
export function judgeDistance([a, b]: readonly Geometry[]): Measured | undefined {
  const [from, to] = [pointsOf(a!), pointsOf(b!)]
  if (from === undefined || to === undefined || from.length * to.length > MAX_PAIRS) return undefined
  let value = Number.POSITIVE_INFINITY
  for (const start of from) for (const end of to) value = Math.min(value, distance(start, end))
  return { value, bound: EDGE_BOUND_METERS, engine: ENGINE }
}

/** Judges whether points are within a radius, with the rounding of the signed answer: a distance counts in whole centimetres. */
export function judgeWithin(inputs: readonly Geometry[], radiusCm: number, answer: boolean): Verdict {
  const measured = judgeDistance(inputs)
  if (measured === undefined) return { outcome: 'unchecked' }
  const { value, bound, engine } = measured
  const limit = (radiusCm + 0.5) / 100
  const other = value < limit
  const difference = other === answer ? {} : { other }
  if (Math.abs(value - limit) <= bound + limit * SUM_ROUNDING) return { outcome: 'undecided', engine, ...difference }
  return { outcome: other === answer ? 'agreed' : 'disagreed', engine, ...difference }
}

export function judgeLength(geometry: Geometry): Measured | undefined {
  if (geometry.type !== 'LineString' && geometry.type !== 'MultiLineString') return undefined
  const lines = geometry.type === 'LineString' ? [geometry.coordinates] : geometry.coordinates
  let value = 0
  let edges = 0
  for (const line of lines) {
    const polyline = WGS84.Polygon(true)
    for (const [lon, lat] of line) polyline.AddPoint(lat, lon)
    value += polyline.Compute(false, true).perimeter
    edges += line.length - 1
  }
  return { value, bound: edges * EDGE_BOUND_METERS + (lines.length + 1) * value * SUM_ROUNDING, engine: ENGINE }
}

export function judgeArea(geometry: Geometry): Measured | undefined {
  if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') return undefined
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  let value = 0
  let bound = 0
  for (const rings of polygons) {
    for (const [index, ring] of rings.entries()) {
      const measured = ringArea(ring)
      if (measured === undefined) return undefined
      value += index === 0 ? measured.value : -measured.value
      bound += measured.bound
    }
  }
  bound += Math.max(AREA_BOUND_SQUARE_METERS, AREA_BOUND_SHARE * value)
  return { value, bound, engine: ENGINE }
}

/**
 * Measures a ring that spans less than 180° of longitude and has no vertex at a pole. Its geodesics stay between two meridians less
 * than 180° apart, so it encloses less than half of the globe, and the smaller of the two sides is the inside. For any other ring
 * the inside is a matter of definition, which this library does not share: undefined.
 */
function ringArea(ring: readonly Position[]): { readonly value: number; readonly bound: number } | undefined {
  const polygon = WGS84.Polygon(false)
  let lon = 0
  let [least, most] = [0, 0]
  let bound = 0
  for (let index = 1; index < ring.length; index++) {
    const [[lon1, lat1], [lon2, lat2]] = [ring[index - 1]!, ring[index]!]
    const difference = lon2 - lon1
    if (Math.abs(lat1) === 90 || Math.abs(difference) === 180 || Math.abs(difference) === 360) return undefined
    lon += difference > 180 ? difference - 360 : difference < -180 ? difference + 360 : difference
    least = Math.min(least, lon)
    most = Math.max(most, lon)
    polygon.AddPoint(lat1, lon1)
    const { s12, S12 } = WGS84.Inverse(lat1, lon1, lat2, lon2, DISTANCE | AREA)
    bound += (2 * Math.abs(S12!) + AREA_ROUNDING_SCALE) * 2 ** -52
    if (s12! > LONG_EDGE_METERS) bound += LONG_EDGE_BOUND_SQUARE_METERS
  }
  // The sum of differences is 0, or a turn for a ring around a pole; rounding is far below a degree.
  if (Math.abs(lon) > 1 || most - least >= 180) return undefined
  return { value: Math.abs(polygon.Compute(false, true).area!), bound }
}

function pointsOf(geometry: Geometry): readonly Position[] | undefined {
  if (geometry.type === 'Point') return [geometry.coordinates]
  return geometry.type === 'MultiPoint' ? geometry.coordinates : undefined
}

function distance([lon1, lat1]: Position, [lon2, lat2]: Position): number {
  return WGS84.Inverse(lat1, lon1, lat2, lon2, DISTANCE).s12!
}
