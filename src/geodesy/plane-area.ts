/** Areas on WGS 84 of polygons whose edges are straight lines of longitude and latitude, as predicates read them. */
import { spendWork } from '../base/work.ts'

const RADIANS = Math.PI / 180
/** WGS 84: a² (1 − e²) in m², and e². */
const SCALE = 6_378_137 * 6_378_137 * (1 - 0.0066943799901413165)
const E2 = 0.0066943799901413165
/** Largest step of latitude over which an integral is approximated. There its error is below that of rounding. */
const STEP_DEGREES = 5
/** Units of work of a step. */
const STEP_WORK = 1 / 4
/** Gauss–Legendre quadrature with five nodes: nodes and weights on [−1, 1]. */
const QUADRATURE: readonly (readonly [node: number, weight: number])[] = [
  [0, 128 / 225],
  [Math.sqrt(5 - 2 * Math.sqrt(10 / 7)) / 3, (322 + 13 * Math.sqrt(70)) / 900],
  [-Math.sqrt(5 - 2 * Math.sqrt(10 / 7)) / 3, (322 + 13 * Math.sqrt(70)) / 900],
  [Math.sqrt(5 + 2 * Math.sqrt(10 / 7)) / 3, (322 - 13 * Math.sqrt(70)) / 900],
  [-Math.sqrt(5 + 2 * Math.sqrt(10 / 7)) / 3, (322 - 13 * Math.sqrt(70)) / 900],
]

/**
 * Returns the area that a closed ring encloses. The ring is a fan of triangles, so the areas of narrow slivers have few digits lost to
 * cancellation. Only operations that are the same on every machine are used.
 *
 * @param vertices closed ring, interleaved lon, lat in degrees, in the plane
 * @returns square metres, positive if the ring runs counterclockwise
 */
export function planeRingSquareMeters(vertices: Float64Array): number {
  let sum = 0
  for (let i = 4; i < vertices.length - 2; i += 2) {
    const [ax, ay, bx, by, cx, cy] = [
      vertices[0]!,
      vertices[1]!,
      vertices[i - 2]!,
      vertices[i - 1]!,
      vertices[i]!,
      vertices[i + 1]!,
    ]
    const cross = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if (cross !== 0) sum += triangleSquareMeters(cross, ay, by, cy)
  }
  return sum
}

/**
 * Integrates over the latitudes of a triangle. Its width grows from 0 at the southern vertex to that at the middle one, and falls to 0 at
 * the northern one.
 *
 * @param cross twice the signed area in square degrees
 */
function triangleSquareMeters(cross: number, a: number, b: number, c: number): number {
  const south = Math.min(a, b, c)
  const north = Math.max(a, b, c)
  const middle = Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
  if (south === north) return 0
  const width = cross / (north - south)
  return (integrate(south, middle, 0, width) + integrate(middle, north, width, 0)) * RADIANS * RADIANS
}

/** Integrates a width that changes linearly, times the area of a square radian, over latitudes in degrees. */
function integrate(from: number, to: number, widthFrom: number, widthTo: number): number {
  if (from === to) return 0
  const steps = Math.ceil((to - from) / STEP_DEGREES)
  spendWork(steps * STEP_WORK)
  let sum = 0
  for (let step = 0; step < steps; step++) {
    for (const [node, weight] of QUADRATURE) {
      const share = (step + (1 + node) / 2) / steps
      sum += weight * (widthFrom + (widthTo - widthFrom) * share) * squareRadian(from + (to - from) * share)
    }
  }
  return (sum * (to - from)) / (2 * steps)
}

/** Returns the area of a square radian of longitude and latitude at a latitude in degrees, m². */
function squareRadian(latitude: number): number {
  const sine = sineOfDegrees(latitude)
  const ratio = 1 - E2 * sine * sine
  return (SCALE * sineOfDegrees(90 - Math.abs(latitude))) / (ratio * ratio)
}

/** Returns the sine of −90 to 90 degrees by its series, which is the same on every machine. */
function sineOfDegrees(degrees: number): number {
  const angle = RADIANS * degrees
  const square = angle * angle
  let sum = 1
  for (let k = 24; k > 0; k -= 2) sum = 1 - (square / (k * (k + 1))) * sum
  return angle * sum
}
