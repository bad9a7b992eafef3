/**
 * Distance from a point P to an edge. An edge is the shortest geodesic between its two ends, of any length.
 *
 * Let f(t) be the geodesic distance from P to the point at t metres along the edge, and θ the angle between the edge
 * and the geodesic from P there. Then f' = cos θ and f'' = sin²θ · M21/m12 (Karney 2013). The curvature of
 * the ellipsoid lies between 1/c² at the poles and 1/b² on the equator (b the polar semi-axis, c = a²/b), so Sturm's
 * comparison theorem gives
 *   cot(r/b)/b ≤ M21/m12 ≤ cot(r/c)/c     for r < πb.
 * Hence f is convex where the whole edge is nearer than πb/2 = 9,985 km: Newton's method finds the only minimum
 * (`descend`). f is concave where the whole edge is farther than πc/2 = 10,052 km: the minimum is at an end. In
 * between, an edge may have several local minima. There intervals are split until a bound proves that none contains a
 * lower value (`search`).
 */
import { direct, Waypoint } from '../geodesic/direct'
import { Geodesic, inverse } from '../geodesic/inverse'
import { b, f1 as polarRatio } from '../geodesic/series'
import { BOUNDED_TO, cubicBound, cubicMinimum, SMOOTH, tangentBound } from '../math/interval-bounds'
import { longitudeDifference } from '../math/math'
import { countSolutions, isOverLimit } from '../math/work'
import { chordSquare, geodesicUpperBound, RHI } from './ecef'
import { fastInverse } from './general-edge'
import { NearEdge, walkNear } from './near-edge'

const CONVEX_TO: f64 = (Math.PI / 2) * b - 1
const CONCAVE_FROM: f64 = (Math.PI / 2) * RHI + 1
/**
 * An interval is searched only when it may hold a value that is lower than the least found by this much, metres, or by a quarter of the
 * least if that is smaller: otherwise a point on the edge would count as away from it.
 */
const MIN_GAIN: f64 = 1e-6
/** Above this length, metres, the first guess of the foot is a fraction of an angle instead of the chord. */
const STRAIGHT: f64 = 2e5

/** An edge. A is the smaller end in the order of lat, lon, so that reversing a line changes no bit of the result. */
@unmanaged
export class Edge {
  latA: f64
  lonA: f64
  latB: f64
  lonB: f64
  /** Pointers to x, y, z. */
  positionA: usize
  positionB: usize
  /** Metres. */
  length: f64
  /** Whether it leaves A northward. Only an edge over a pole needs it, to tell which pole. */
  startsNorth: bool
  /** The same edge for near-edge.ts, starting at A; null when it is too long for that file. */
  near: NearEdge | null
  /** Azimuths at both ends; set only without `near`. */
  salpA: f64
  calpA: f64
  salpB: f64
  calpB: f64
}

/** f, f' and f'' at one point of the edge. */
@unmanaged
class Sample {
  distance: f64
  slope: f64
  bend: f64
}

const geodesic = changetype<Geodesic>(memory.data(offsetof<Geodesic>(), 8))
const waypoint = changetype<Waypoint>(memory.data(offsetof<Waypoint>(), 8))
const sample = changetype<Sample>(memory.data(offsetof<Sample>(), 8))

/**
 * Fills an edge.
 *
 * @param position1 pointer to x, y, z of the first end, likewise `position2`
 * @param near the same edge for near-edge.ts, starting at its smaller end, or null
 */
export function setEdge(
  edge: Edge,
  lat1: f64,
  lon1: f64,
  position1: usize,
  lat2: f64,
  lon2: f64,
  position2: usize,
  near: NearEdge | null,
): void {
  const isOrdered = lat1 < lat2 || (lat1 == lat2 && lon1 <= lon2)
  edge.latA = isOrdered ? lat1 : lat2
  edge.lonA = isOrdered ? lon1 : lon2
  edge.latB = isOrdered ? lat2 : lat1
  edge.lonB = isOrdered ? lon2 : lon1
  edge.positionA = isOrdered ? position1 : position2
  edge.positionB = isOrdered ? position2 : position1
  edge.near = near
  if (near) {
    edge.length = near.length
    // A short edge over a pole is near that pole, so it leaves A towards the pole of its hemisphere.
    edge.startsNorth = edge.latA > 0
    return
  }
  edge.length = inverse(edge.latA, edge.lonA, edge.latB, edge.lonB, geodesic)
  edge.startsNorth = geodesic.calp1 > 0
  edge.salpA = geodesic.salp1
  edge.calpA = geodesic.calp1
  edge.salpB = geodesic.salp2
  edge.calpB = geodesic.calp2
  countSolutions(1)
}

/**
 * Returns the geodesic distance in metres from a point to an edge. It is exactly 0 for points on edges along a meridian
 * or the equator. If the distance is not below `best`, the result may be any number that is not below `best`.
 */
export function distanceToEdge(edge: Edge, lat: f64, lon: f64, position: usize, best: f64): f64 {
  const length = edge.length
  if (length == 0) {
    // Gives the same bits as the distance between two points.
    countSolutions(1)
    return fastInverse(lat, lon, edge.latA, edge.lonA)
  }
  const toA = geodesicUpperBound(Math.sqrt(chordSquare(position, edge.positionA)))
  const toB = geodesicUpperBound(Math.sqrt(chordSquare(position, edge.positionB)))
  const farthest = Math.min(Math.min(toA, toB) + length, (toA + toB + length) / 2)
  const start = foot(edge, position)
  const result =
    farthest < CONVEX_TO ? descend(edge, lat, lon, 0, length, start, false, false) : search(edge, lat, lon, start, best)
  if (result < 1e-6 && isOnCoordinateLine(edge.latA, edge.lonA, edge.latB, edge.lonB, edge.startsNorth, lat, lon)) return 0
  return result
}

/**
 * Whether P lies exactly on the edge from A to B, which must run along the equator or a meridian; false for other
 * edges. The coordinates show it exactly. latA ≤ latB.
 *
 * @param startsNorth whether the edge leaves A northward, which tells the pole if it goes over one
 */
export function isOnCoordinateLine(latA: f64, lonA: f64, latB: f64, lonB: f64, startsNorth: bool, latP: f64, lonP: f64): bool {
  const width = longitudeDifference(lonA, lonB)
  const east = longitudeDifference(lonA, lonP)
  const isOnMeridianA = east == 0
  const isOnMeridianB = longitudeDifference(lonB, lonP) == 0
  if (latA == 0 && latB == 0 && latP == 0 && Math.abs(width) <= 180 * polarRatio) {
    return width < 0 ? east <= 0 && east >= width : east >= 0 && east <= width
  }
  if (latA == -90 && latB == 90) return false
  if (latA == -90) return isOnMeridianB && latP <= latB
  if (latB == 90) return isOnMeridianA && latP >= latA
  if (width == 0) return isOnMeridianA && latP >= latA && latP <= latB
  if (Math.abs(width) != 180) return false
  return startsNorth
    ? (isOnMeridianA && latP >= latA) || (isOnMeridianB && latP >= latB)
    : (isOnMeridianA && latP <= latA) || (isOnMeridianB && latP <= latB)
}

/** Where the last `distanceToEdge` found the least distance, metres from A. */
let nearestAt: f64 = 0

/** Stores the point of the edge to which the last `distanceToEdge` measured, if that was above 0. */
export function placeOnEdge(edge: Edge, out: Waypoint): void {
  locate(edge, edge.length > 0 ? nearestAt : 0)
  out.lat = waypoint.lat
  out.lon = waypoint.lon
}

/** Stores f, f' and f'' at t metres from A in `sample`. */
function evaluate(edge: Edge, latP: f64, lonP: f64, t: f64): void {
  countSolutions(1)
  locate(edge, t)
  const salp = waypoint.salp
  const calp = waypoint.calp
  sample.distance = inverse(latP, lonP, waypoint.lat, waypoint.lon, geodesic)
  sample.slope = calp * geodesic.calp2 + salp * geodesic.salp2
  const sine = salp * geodesic.calp2 - calp * geodesic.salp2
  sample.bend = geodesic.m12 > 0 ? (sine * sine * geodesic.M21) / geodesic.m12 : 0
}

/** Stores the point at t metres from A, and the azimuth there, in `waypoint`. */
function locate(edge: Edge, t: f64): void {
  let lat = edge.latA
  let lon = edge.lonA
  let salp = edge.salpA
  let calp = edge.calpA
  const near = edge.near
  if (near) {
    const fraction = t >= edge.length ? 1 : t <= 0 ? 0 : t / edge.length
    walkNear(near, fraction, fraction < 0.5 ? edge.lonA : edge.lonB, waypoint)
    salp = waypoint.salp
    calp = waypoint.calp
    lat = fraction == 0 ? edge.latA : fraction == 1 ? edge.latB : waypoint.lat
    lon = fraction == 0 ? edge.lonA : fraction == 1 ? edge.lonB : waypoint.lon
  } else if (t >= edge.length) {
    lat = edge.latB
    lon = edge.lonB
    salp = edge.salpB
    calp = edge.calpB
  } else if (t > 0) {
    direct(lat, lon, salp, calp, t, waypoint)
    lat = waypoint.lat
    lon = waypoint.lon
    salp = waypoint.salp
    calp = waypoint.calp
  }
  waypoint.lat = lat
  waypoint.lon = lon
  waypoint.salp = salp
  waypoint.calp = calp
}

/**
 * Returns the least f in [low, high], where f must be convex. Newton's method runs inside a bracket on f²/2, which
 * would be a parabola in the plane.
 *
 * @param knowsLow whether f' < 0 at low is known, so that the minimum is not there; `knowsHigh` likewise for f' > 0 at
 *   high
 */
function descend(edge: Edge, latP: f64, lonP: f64, low: f64, high: f64, start: f64, knowsLow: bool, knowsHigh: bool): f64 {
  let t = Math.max(low, Math.min(high, start))
  if ((knowsLow && t == low) || (knowsHigh && t == high)) t = (low + high) / 2
  let least = Infinity
  for (let step = 0; step < 100; step++) {
    evaluate(edge, latP, lonP, t)
    const distance = sample.distance
    const slope = sample.slope
    if (distance < least) nearestAt = t
    least = Math.min(least, distance)
    if (distance == 0) return 0
    if (t == low && slope >= 0) break
    if (t == high && slope <= 0) break
    const second = slope * slope + distance * sample.bend
    const move = second > 0 ? (-distance * slope) / second : slope > 0 ? -Infinity : Infinity
    const size = Math.abs(move)
    if (t + move >= low && t + move <= high && (size <= 1e-6 || size <= Math.min(30, 1e-3 * distance))) {
      nearestAt = t + move
      // The remaining error is of third order: move³/6R² < 1e-10 m.
      return Math.min(least, Math.sqrt(Math.max(0, distance * distance + distance * slope * move)))
    }
    if (slope < 0) {
      // By convexity f ≥ f(t) − |f'|·(high − t), so no lower value is left to find.
      if (-slope * (high - t) < 1e-9) break
      low = t
      knowsLow = true
    } else {
      if (slope * (t - low) < 1e-9) break
      high = t
      knowsHigh = true
    }
    t += move
    if (t <= low) t = knowsLow ? (low + high) / 2 : low
    else if (t >= high) t = knowsHigh ? (low + high) / 2 : high
    if (isOverLimit()) break
  }
  return least
}

/** Stack of the open intervals of `search`: t, f and f' at both ends. */
const INTERVAL_BYTES: usize = 48
const intervals: usize = memory.data(48 * 128)

function push(open: i32, t0: f64, f0: f64, d0: f64, t1: f64, f1: f64, d1: f64): void {
  const entry = intervals + <usize>open * INTERVAL_BYTES
  store<f64>(entry, t0)
  store<f64>(entry, f0, 8)
  store<f64>(entry, d0, 16)
  store<f64>(entry, t1, 24)
  store<f64>(entry, f1, 32)
  store<f64>(entry, d1, 40)
}

/**
 * Returns the least f on the whole edge when f may not be convex, by branch and bound: an interval is dropped when a
 * bound from the values at its ends (interval-bounds.ts) shows that it holds nothing lower, else split.
 */
function search(edge: Edge, latP: f64, lonP: f64, start: f64, best: f64): f64 {
  const length = edge.length
  evaluate(edge, latP, lonP, 0)
  const fA = sample.distance
  const dA = sample.slope
  evaluate(edge, latP, lonP, length)
  let least = Math.min(best, Math.min(fA, sample.distance))
  let at = fA <= sample.distance ? 0 : length
  if (least == 0) return 0
  let hint = start
  push(0, 0, fA, dA, length, sample.distance, sample.slope)
  for (let open = 1; open > 0 && !isOverLimit(); ) {
    open--
    const entry = intervals + <usize>open * INTERVAL_BYTES
    const t0 = load<f64>(entry)
    const f0 = load<f64>(entry, 8)
    const d0 = load<f64>(entry, 16)
    const t1 = load<f64>(entry, 24)
    const f1 = load<f64>(entry, 32)
    const d1 = load<f64>(entry, 40)
    const h = t1 - t0
    // |f'| ≤ 1, so f stays between these bounds on the interval.
    const nearest = (f0 + f1 - h) / 2
    const farthest = (f0 + f1 + h) / 2
    const worth = least - Math.min(MIN_GAIN, least / 4)
    if (nearest >= worth || nearest >= CONCAVE_FROM) continue
    if (farthest <= CONVEX_TO) {
      if (d0 >= 0 || d1 <= 0) continue
      const guess = hint > t0 && hint < t1 ? hint : (t0 + t1) / 2
      const found = descend(edge, latP, lonP, t0, t1, guess, true, true)
      if (found < least) at = nearestAt
      least = Math.min(least, found)
      continue
    }
    let t = (t0 + t1) / 2
    if (farthest <= BOUNDED_TO && tangentBound(h, f0, d0, f1, d1, farthest) >= worth) continue
    const rho = Math.max(Math.PI / 2 - nearest / b, farthest / b - Math.PI / 2)
    if (rho <= SMOOTH) {
      if (cubicBound(h, f0, d0, f1, d1, (0.1 + 3 * rho) / (b * b * b)) >= worth) continue
      t = Math.max(t0 + 0.1 * h, Math.min(t1 - 0.1 * h, t0 + cubicMinimum(h, f0, d0, f1, d1)))
    } else if (hint > t0 + 0.05 * h && hint < t1 - 0.05 * h) {
      // The foot on the sphere is a good point to split at, once, unless that leaves a sliver.
      t = hint
      hint = -1
    }
    evaluate(edge, latP, lonP, t)
    if (sample.distance < least) at = t
    least = Math.min(least, sample.distance)
    push(open, t0, f0, d0, t, sample.distance, sample.slope)
    push(open + 1, t, sample.distance, sample.slope, t1, f1, d1)
    open += 2
  }
  nearestAt = at
  return least
}

/**
 * Returns a first guess of the foot, metres from A in [0, length]: P is projected onto the plane through the edge and
 * the centre of the Earth, as on a sphere.
 */
function foot(edge: Edge, p: usize): f64 {
  const length = edge.length
  const positionA = edge.positionA
  const positionB = edge.positionB
  const ax = load<f64>(positionA)
  const ay = load<f64>(positionA, 8)
  const az = load<f64>(positionA, 16)
  const dx = load<f64>(positionB) - ax
  const dy = load<f64>(positionB, 8) - ay
  const dz = load<f64>(positionB, 16) - az
  const nx = ay * dz - az * dy
  const ny = az * dx - ax * dz
  const nz = ax * dy - ay * dx
  const px = load<f64>(p)
  const py = load<f64>(p, 8)
  const pz = load<f64>(p, 16)
  // The plane through the centre, P and the normal n meets the chord at A + τ(B − A). Using P − A preserves digits for
  // short edges.
  const qx = px - ax
  const qy = py - ay
  const qz = pz - az
  const partA = ax * (qy * nz - qz * ny) + ay * (qz * nx - qx * nz) + az * (qx * ny - qy * nx)
  const partD = dx * (py * nz - pz * ny) + dy * (pz * nx - px * nz) + dz * (px * ny - py * nx)
  if (partD == 0) return length / 2
  const tau = -partA / partD
  const isAhead = px * (ax + tau * dx) + py * (ay + tau * dy) + pz * (az + tau * dz) >= 0
  if (isAhead && length < STRAIGHT) return Math.max(0, Math.min(1, tau)) * length
  const omega = length / RHI
  const sign: f64 = isAhead ? 1 : -1
  let sigma = Math.atan2(sign * tau * Math.sin(omega), sign * (1 - tau + tau * Math.cos(omega)))
  if (sigma < 0) sigma += 2 * Math.PI
  if (sigma <= omega) return (sigma / omega) * length
  return sigma < omega / 2 + Math.PI ? length : 0
}
