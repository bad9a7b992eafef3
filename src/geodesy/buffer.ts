/**
 * Polygons around geodesic circles. Every edge has a proven bound on how far it leaves its circle, whether it is read as a straight
 * line of longitude and latitude or as a geodesic (decision 154); an edge is halved until the bound is within the tolerance.
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
/** πb: up to here no geodesic from the centre meets another. */
const CUT_LOCUS_METERS = Math.PI * POLAR_RADIUS_METERS
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
 * @param toleranceMeters at least `MIN_TOLERANCE_METERS`; large values count as a share of the radius
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
  const tolerance = Math.min(toleranceMeters, radiusMeters / 50, (CUT_LOCUS_METERS - radiusMeters) / 8)
  const poleMeters = [90, -90].map((pole) => kernel.inverse(centre[1], centre[0], pole, centre[0]))
  for (const share of SHIFTS) {
    const circle = { kernel, centre, radiusMeters: radiusMeters + share * tolerance }
    const gap = Math.min(...poleMeters.map((meters) => Math.abs(meters - circle.radiusMeters)))
    if (gap < tolerance / 8) continue
    const offset = Math.abs(share * tolerance) + ROUNDING_METERS
    const ring = traceCircle(circle, tolerance - offset, maxVertices)
    if (ring === undefined) return undefined
    const poles = [90, -90].filter((_, i) => poleMeters[i]! < circle.radiusMeters)
    const runs = poles.length === 2 ? [ring.map(({ place }) => place)] : cutRing(circle, ring)
    const polygons = poles.length === 2 ? [[WORLD, runs[0]!]] : joinRuns(runs, poles[0])
    if (polygons !== undefined) return { polygons, errorMeters: greatestError(runs, circle.radiusMeters) + offset }
  }
  throw new RangeError('rounding hides where the circle crosses longitude ±180, with every radius')
}

/**
 * Shares of the tolerance by which the radius is changed until rounding cannot decide on which side of a pole, or of longitude ±180,
 * the circle passes: at 1/8 of the tolerance or more from both poles.
 */
const SHIFTS = [0, -1 / 4, 1 / 4, -3 / 8, 3 / 8]

/** Everything: its edges along ±180 are no boundary. */
const WORLD: Place[] = [
  [-180, -90],
  [180, -90],
  [180, 90],
  [-180, 90],
  [-180, -90],
]

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

function greatestError(runs: readonly Place[][], radiusMeters: number): number {
  let error = 0
  for (const run of runs)
    for (let i = 1; i < run.length; i++) error = Math.max(error, edgeError(run[i - 1]!, run[i]!, radiusMeters))
  return error
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
  const room = Math.min(radiusMeters, CUT_LOCUS_METERS - radiusMeters) - half
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

/**
 * Joins lines between crossings of longitude ±180 to exterior rings. The inside is on the left of a line, so a ring goes on along +180
 * to the north and along −180 to the south, as far as the start of the next line or over a pole.
 *
 * @param pole that is inside; undefined if none is
 * @returns undefined if rounding may have exchanged crossings, or the ring also touches ±180
 */
function joinRuns(runs: readonly Place[][], pole: number | undefined): Place[][][] | undefined {
  if (runs.length === 1 && pole === undefined && isClosed(runs[0]!)) return [[closeRing(runs[0]!)]]
  if (hasContact(runs)) return undefined
  const waiting = new Set(runs)
  const polygons: Place[][][] = []
  let reached: number | undefined
  for (const first of waiting) {
    const ring: Place[] = []
    let next: Place[] | undefined = first
    while (next !== undefined && waiting.delete(next)) {
      ring.push(...next)
      const [lon, lat] = next.at(-1)!
      next = nextRun([first, ...waiting], lon, lat)
      if (next !== undefined) continue
      if (reached !== undefined) return undefined
      reached = Math.sign(lon) * 90
      ring.push([lon, reached], [-lon, reached])
      next = nextRun([first, ...waiting], -lon, reached)
    }
    if (next !== first) return undefined
    polygons.push([closeRing(ring)])
  }
  return reached === pole ? polygons : undefined
}

/** Returns true if two lines meet on ±180 on one side, or a line touches it between its ends. */
function hasContact(runs: readonly Place[][]): boolean {
  if (runs.some((run) => run.slice(1, -1).some(([lon]) => Math.abs(lon) === 180))) return true
  const ends = runs.flatMap((run) => [run[0]!, run.at(-1)!].map(([lon, lat]) => `${lon} ${lat}`))
  return new Set(ends).size < ends.length
}

function isClosed(run: readonly Place[]): boolean {
  return run[0]![0] === run.at(-1)![0] && run[0]![1] === run.at(-1)![1]
}

/** Returns the line that starts next along longitude ±180: to the north at 180, to the south at −180. */
function nextRun(runs: readonly Place[][], lon: number, lat: number): Place[] | undefined {
  const side = Math.sign(lon)
  const distanceTo = (run: Place[]) => side * (run[0]![1] - lat)
  const ahead = runs.filter((run) => run[0]![0] === lon && distanceTo(run) > 0)
  return ahead.reduce<Place[] | undefined>(
    (nearest, run) => (nearest === undefined || distanceTo(run) < distanceTo(nearest) ? run : nearest),
    undefined,
  )
}

/** Returns a closed ring without repeated places. */
function closeRing(run: readonly Place[]): Place[] {
  return [...run, run[0]!].filter(
    (place, i, places) => i === 0 || place[0] !== places[i - 1]![0] || place[1] !== places[i - 1]![1],
  )
}
