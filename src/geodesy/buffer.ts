/**
 * Polygons around geodesic circles. Every edge has a proven bound on how far it leaves its circle, whether it is read as a straight
 * line of longitude and latitude or as a geodesic; an edge is halved until the bound is within the tolerance.
 *
 * The bound: let d be the distance from the centre along an edge that is run through in unit time. At both ends d is the radius, so
 * between them it differs by at most max |d″| / 8. d″ has two parts. The edge is not parallel to the circle's radius: at most the
 * curvature of the circle there times the square of the speed. The edge is not a geodesic: at most its acceleration. For a geodesic the
 * second part is 0 and the speed is no greater. By comparison with spheres (the curvature of WGS 84 is positive and at most 1/b²), the
 * curvature of a circle of radius r is from −1/(πb − r) to 1/r, for r below πb; below it no geodesic from the centre meets another.
 */
import { spendWork } from '../base/work.ts'
import { shortWayTurn } from '../geometry/edge-turn.ts'
import type { Kernel } from '../wasm/loader.ts'
import type { Place } from './distance.ts'

/** Radii of a buffer, metres. */
export const MIN_RADIUS_METERS = 0.001
export const MAX_RADIUS_METERS = 19_900_000
/** A smaller tolerance would not be far enough from the rounding of coordinates, metres. */
export const MIN_TOLERANCE_METERS = 1e-5

/** Polar semi-axis b, and a²/b, the greatest radius of curvature, metres. */
const POLAR_RADIUS_METERS = 6_356_752.314245179
const GREATEST_RADIUS_METERS = 6_399_593.625758493
/** 3 M e² sin φ cos φ / (1 − e² sin² φ) is the change of the meridian's radius of curvature M with the latitude: at most this · M. */
const MERIDIAN_CHANGE = 0.0102
const RADIANS = Math.PI / 180

/** Error of a position and of its distance from the centre together, metres: 20 nm and 15 nm, and 2 nm for `LAST_LATITUDE`. */
const ROUNDING_METERS = 5e-8
/** The double before 90. A vertex at a pole would name the side of the ring (decision 92). It is 1.6 nm away. */
const LAST_LATITUDE = 90 - 2 ** -46
/** Edges of the circle at least. */
const FIRST_EDGES = 16
/** Largest difference of longitude of an edge. Beyond 180 an edge would be read the other way around. */
const MAX_EDGE_DEGREES = 90
/** Units of work for a vertex: computing it, and writing and hashing its text. */
const WORK_PER_VERTEX = 2
/** Halvings of an edge after which an azimuth is a double. */
const HALVINGS = 60

/** Closed rings, exterior first, of one or more polygons. */
export interface CircleBuffer {
  readonly polygons: Place[][][]
  /** The boundary is nowhere farther than this from the circle. */
  readonly errorMeters: number
}

/** A circle around a place. */
interface Circle {
  readonly kernel: Kernel
  readonly centre: Place
  readonly radiusMeters: number
}

/** A place on a circle, and its azimuth from the centre, degrees. */
interface Vertex {
  readonly azimuth: number
  readonly place: Place
}

/** Returns the tolerance of a buffer for which the request names none, metres. */
export function defaultTolerance(radiusMeters: number): number {
  return Math.max(MIN_TOLERANCE_METERS, radiusMeters / 1000)
}

/**
 * Returns the polygons of all places within a radius of a place. Exterior rings run counterclockwise, and holes clockwise. A buffer
 * that crosses longitude ±180 is cut there. One with a pole inside runs along ±180 to the pole. One with both poles is the whole world
 * with a hole, which may cross ±180.
 *
 * @param radiusMeters from `MIN_RADIUS_METERS` to `MAX_RADIUS_METERS`
 * @param toleranceMeters at least `MIN_TOLERANCE_METERS`. More than 1/50 of the radius counts as 1/50
 * @param maxVertices of the circle
 * @returns undefined if the circle needs more vertices
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
export function bufferPolygons(
  kernel: Kernel,
  centre: Place,
  radiusMeters: number,
  toleranceMeters: number,
  maxVertices: number,
): CircleBuffer | undefined {
  const tolerance = Math.min(toleranceMeters, radiusMeters / 50)
  const poleMeters = [90, -90].map((pole) => kernel.inverse(centre[1], centre[0], pole, centre[0]))
  const shift = shiftFromPoles(radiusMeters, poleMeters, tolerance)
  const circle = { kernel, centre, radiusMeters: radiusMeters + shift }
  const offset = Math.abs(shift) + ROUNDING_METERS
  const ring = traceCircle(circle, tolerance - offset, maxVertices)
  if (ring === undefined) return undefined
  const [hasNorth, hasSouth] = poleMeters.map((meters) => meters < circle.radiusMeters)
  const hasBoth = hasNorth && hasSouth
  const runs = hasBoth ? [ring.map(({ place }) => place)] : cutRing(circle, ring)
  let error = 0
  for (const run of runs)
    for (let i = 1; i < run.length; i++) error = Math.max(error, edgeError(run[i - 1]!, run[i]!, circle.radiusMeters))
  const polygons = hasBoth
    ? [[WORLD, runs[0]!]]
    : hasNorth || hasSouth
      ? [closeOverPole(runs, hasNorth ? 90 : -90)]
      : closeRuns(runs)
  return { polygons, errorMeters: error + offset }
}

/** Everything: its edges along ±180 are no boundary (decision 126). */
const WORLD: Place[] = [
  [-180, -90],
  [180, -90],
  [180, 90],
  [-180, 90],
  [-180, -90],
]

/**
 * Returns metres by which to change the radius so that the circle passes both poles at 1/8 of the tolerance or more. Nearer, rounding
 * would decide on which side of a pole it passes.
 */
function shiftFromPoles(radiusMeters: number, poleMeters: readonly number[], tolerance: number): number {
  // Each pole excludes at most one of the three, because they are 1/4 apart.
  return [0, tolerance / 4, -tolerance / 4].find((shift) =>
    poleMeters.every((meters) => Math.abs(meters - radiusMeters - shift) >= tolerance / 8),
  )!
}

/** Returns vertices around the circle with the centre on the left, the first again as the last. */
function traceCircle(circle: Circle, tolerance: number, maxVertices: number): Vertex[] | undefined {
  const first = vertexAt(circle, 0)
  const ring = [first]
  for (let edge = 1; edge <= FIRST_EDGES; edge++) {
    const azimuth = (-360 / FIRST_EDGES) * edge
    // The first azimuth again must be the first place again.
    const pending = [edge === FIRST_EDGES ? { azimuth, place: first.place } : vertexAt(circle, azimuth)]
    while (pending.length > 0) {
      const [last, next] = [ring.at(-1)!, pending.at(-1)!]
      if (edgeError(last.place, next.place, circle.radiusMeters) <= tolerance) {
        if (ring.length >= maxVertices) return undefined
        ring.push(pending.pop()!)
      } else if (ring.length + pending.length > maxVertices) return undefined
      else pending.push(vertexAt(circle, (last.azimuth + next.azimuth) / 2))
    }
  }
  return ring
}

function vertexAt({ kernel, centre, radiusMeters }: Circle, azimuth: number): Vertex {
  spendWork(WORK_PER_VERTEX)
  const latitude = kernel.directDegrees(centre[1], centre[0], azimuth, radiusMeters)
  const clamped = Math.min(LAST_LATITUDE, Math.max(-LAST_LATITUDE, latitude))
  return { azimuth, place: [kernel.arrivalLon() + 0, clamped + 0] }
}

/** Returns an upper bound, metres, on how far an edge between two places of a circle leaves it. Infinite if there is none. */
function edgeError(a: Place, b: Place, radiusMeters: number): number {
  const width = Math.abs(b[0] - a[0] + 360 * shortWayTurn(a[0], b[0]))
  if (width > MAX_EDGE_DEGREES) return Number.POSITIVE_INFINITY
  const isAcrossEquator = a[1] * b[1] <= 0
  const south = isAcrossEquator ? 0 : Math.min(Math.abs(a[1]), Math.abs(b[1]))
  const sine = sineAbove(Math.max(Math.abs(a[1]), Math.abs(b[1])))
  const dLat = RADIANS * Math.abs(b[1] - a[1])
  const dLon = RADIANS * width
  // The greatest radius of a parallel that the edge meets.
  const parallelRadius = GREATEST_RADIUS_METERS * sineAbove(90 - south)
  const northSpeed = GREATEST_RADIUS_METERS * dLat
  const eastSpeed = parallelRadius * dLon
  const squaredSpeed = northSpeed * northSpeed + eastSpeed * eastSpeed
  // The edge is nowhere farther than half of its length from one of its ends.
  const half = Math.sqrt(squaredSpeed) / 2
  const room = Math.min(radiusMeters, Math.PI * POLAR_RADIUS_METERS - radiusMeters) - half
  if (room <= half) return Number.POSITIVE_INFINITY
  const northAcceleration = MERIDIAN_CHANGE * northSpeed * dLat + sine * eastSpeed * dLon
  const eastAcceleration = 2 * sine * northSpeed * dLon
  const acceleration = Math.sqrt(northAcceleration * northAcceleration + eastAcceleration * eastAcceleration)
  return (squaredSpeed / room + acceleration) / 8
}

/** Returns an upper bound of the sine of 0 to 90 degrees. Its series alternates, so an end at a positive term lies above. */
function sineAbove(degrees: number): number {
  const angle = RADIANS * degrees
  const square = angle * angle
  return angle * (1 - (square / 6) * (1 - square / 20))
}

/**
 * Cuts a ring where it crosses longitude ±180, at places of the circle.
 *
 * @returns the closed ring if it does not cross; otherwise lines from one crossing to the next
 */
function cutRing(circle: Circle, ring: readonly Vertex[]): Place[][] {
  const runs: Place[][] = [[ring[0]!.place]]
  for (let i = 1; i < ring.length; i++) {
    const run = runs.at(-1)!
    const last = run.at(-1)!
    const { place } = ring[i]!
    if (shortWayTurn(last[0], place[0]) === 0) run.push(place)
    // The other name of the same meridian.
    else if (Math.abs(place[0]) === 180) run.push([-place[0], place[1]])
    else {
      const isAtCut = Math.abs(last[0]) === 180
      const latitude = isAtCut ? last[1] : latitudeOfCut(circle, ring[i - 1]!, ring[i]!)
      if (!isAtCut) run.push([180 * Math.sign(last[0]), latitude])
      runs.push([[180 * Math.sign(place[0]), latitude], place])
    }
  }
  if (runs.length === 1) return runs
  const start = runs.shift()!
  const end = runs.at(-1)!
  // Both have the first vertex, perhaps by two names.
  if (end.at(-1)![0] === start[0]![0]) end.push(...start.slice(1))
  else runs.push(start)
  return runs
}

function latitudeOfCut(circle: Circle, from: Vertex, to: Vertex): number {
  let [low, high] = [from.azimuth, to.azimuth]
  let latitude = from.place[1]
  for (let halving = 0; halving < HALVINGS; halving++) {
    const { azimuth, place } = vertexAt(circle, (low + high) / 2)
    latitude = place[1]
    if (place[0] > 0 === from.place[0] > 0) low = azimuth
    else high = azimuth
  }
  return latitude
}

/** Makes a polygon of each line, closed along ±180 if it was cut there. */
function closeRuns(runs: readonly Place[][]): Place[][][] {
  return runs.map((run) => [closeRing(run)]).filter(([ring]) => hasInterior(ring!))
}

/** Makes one ring of a line around the globe, over a pole. Edges along ±180 and at the pole are no boundary. */
function closeOverPole(runs: readonly Place[][], pole: 90 | -90): Place[][] {
  const around = runs.filter((run) => run[0]![0] !== run.at(-1)![0])
  if (around.length !== 1) throw new RangeError('a circle around one pole crosses longitude ±180 once')
  const [run] = around as [Place[]]
  const side = Math.sign(run.at(-1)![0])
  // Validity takes an area below 1 m² for a mistake if an edge is longer than 180°.
  return [closeRing([...run, ...[180, 60, -60, -180].map((lon): Place => [side * lon, pole])])]
}

/** Returns a closed ring without repeated places. */
function closeRing(run: readonly Place[]): Place[] {
  return [...run, run[0]!].filter(
    (place, i, places) => i === 0 || place[0] !== places[i - 1]![0] || place[1] !== places[i - 1]![1],
  )
}

/** A ring that only touches ±180 leaves a piece there that has none. */
function hasInterior(ring: readonly Place[]): boolean {
  return ring.length > 3 && ring.some(([lon]) => Math.abs(lon) !== 180)
}
