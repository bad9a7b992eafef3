/**
 * Point in polygon in the plane of lon and lat, in one pass over a ring, by counting the edges that a ray to the east
 * crosses. Bounding boxes around blocks of vertices settle most edges by comparisons, so one lane and two give the same
 * results. An orientation with an error bound is computed only for the edges whose box gives no decision.
 */
import { areDegrees, isClosed, isPosition } from '../math/contracts'

/** Edges in a block. Smaller blocks cost more box tests; larger blocks cost more edge tests around the point. */
const BLOCK: i32 = 16

/**
 * EPSILON is 2⁻⁵³. FILTER is Shewchuk's bound A on the error of a 2×2 determinant, relative to the sum of its two
 * products.
 */
const EPSILON: f64 = 1.1102230246251565e-16
const FILTER: f64 = (3 + 16 * EPSILON) * EPSILON
/** Below this, a product may have lost bits to underflow, which the filter does not account for. */
const SMALLEST_PRODUCT: f64 = 1e-250

/** Results of `sideOfRing`: one of the first four, to the first two of which IS_PLANAR may be added. */
const OUTSIDE: i32 = 0
const INSIDE: i32 = 1
const ON_RING: i32 = 2
const UNDECIDED: i32 = 3
const IS_PLANAR: i32 = 4

/** Result of `boxAround`: west, south, east, north. */
const box = memory.data(32, 16)

/**
 * Returns on which side of a ring a position lies.
 *
 * @param vertices pointer to interleaved lon, lat in degrees, the last equal to the first
 * @param count vertices, ≥ 2
 * @param lon of the position, degrees
 * @param lat likewise
 * @returns 0 outside, 1 inside, 2 on the ring, 3 too close to an edge for floating point. 4 is added when the ring does
 *   not touch ±180 or a pole and spans less than 180 degrees of longitude; that needs a whole pass, so it is never
 *   added to 2 and 3
 */
export function sideOfRing(vertices: usize, count: i32, lon: f64, lat: f64): i32 {
  assert(count >= 2, 'sideOfRing: count must be at least 2')
  assert(areDegrees(vertices, count), 'sideOfRing: vertices must be aligned, in memory, finite and in range')
  assert(isClosed(vertices, count), 'sideOfRing: the last vertex must equal the first')
  assert(isPosition(lon, lat), 'sideOfRing: the position must be finite and in range')
  let parity: i32 = 0
  let ringWest: f64 = Infinity
  let ringSouth: f64 = Infinity
  let ringEast: f64 = -Infinity
  let ringNorth: f64 = -Infinity
  const last = vertices + ((<usize>(count - 1)) << 4)
  for (let first = vertices; first < last; first += BLOCK << 4) {
    const end = min<usize>(first + (BLOCK << 4), last)
    boxAround(first, end)
    const west = load<f64>(box)
    const south = load<f64>(box, 8)
    const east = load<f64>(box, 16)
    const north = load<f64>(box, 24)
    ringWest = west < ringWest ? west : ringWest
    ringSouth = south < ringSouth ? south : ringSouth
    ringEast = east > ringEast ? east : ringEast
    ringNorth = north > ringNorth ? north : ringNorth
    if (lat < south || lat > north || lon > east) continue
    if (lon < west) {
      parity ^= i32(load<f64>(first, 8) > lat) ^ i32(load<f64>(end, 8) > lat)
      continue
    }
    const parityOrSide = blockParity(first, end, lon, lat)
    if (parityOrSide >= ON_RING) return parityOrSide
    parity ^= parityOrSide
  }
  const isPlanar = ringWest > -180 && ringEast < 180 && ringSouth > -90 && ringNorth < 90 && ringEast - ringWest < 180
  return (parity == 1 ? INSIDE : OUTSIDE) | (isPlanar ? IS_PLANAR : 0)
}

/** Stores the box around the vertices from `first` to `last`, both inclusive. */
@inline
function boxAround(first: usize, last: usize): void {
  if (ASC_FEATURE_SIMD) {
    let low = v128.load(first)
    let high = low
    let p = first + 16
    if (last - first == BLOCK << 4) {
      // Four independent chains, because each step waits for the previous step of its chain.
      let low1 = v128.load(first, 16)
      let low2 = v128.load(first, 32)
      let low3 = v128.load(first, 48)
      let high1 = low1
      let high2 = low2
      let high3 = low3
      for (let i: usize = 0; i < 3; i++) {
        p = first + ((i + 1) << 6)
        const a = v128.load(p)
        const b = v128.load(p, 16)
        const c = v128.load(p, 32)
        const d = v128.load(p, 48)
        low = f64x2.pmin(low, a)
        high = f64x2.pmax(high, a)
        low1 = f64x2.pmin(low1, b)
        high1 = f64x2.pmax(high1, b)
        low2 = f64x2.pmin(low2, c)
        high2 = f64x2.pmax(high2, c)
        low3 = f64x2.pmin(low3, d)
        high3 = f64x2.pmax(high3, d)
      }
      low = f64x2.pmin(f64x2.pmin(low, low1), f64x2.pmin(low2, low3))
      high = f64x2.pmax(f64x2.pmax(high, high1), f64x2.pmax(high2, high3))
      p = last
    }
    for (; p <= last; p += 16) {
      const v = v128.load(p)
      low = f64x2.pmin(low, v)
      high = f64x2.pmax(high, v)
    }
    v128.store(box, low)
    v128.store(box, high, 16)
  } else {
    let minLon = load<f64>(first)
    let minLat = load<f64>(first, 8)
    let maxLon = minLon
    let maxLat = minLat
    for (let p = first + 16; p <= last; p += 16) {
      const x = load<f64>(p)
      const y = load<f64>(p, 8)
      minLon = x < minLon ? x : minLon
      maxLon = x > maxLon ? x : maxLon
      minLat = y < minLat ? y : minLat
      maxLat = y > maxLat ? y : maxLat
    }
    store<f64>(box, minLon)
    store<f64>(box, minLat, 8)
    store<f64>(box, maxLon, 16)
    store<f64>(box, maxLat, 24)
  }
}

/** Parity of the number of edges that the ray to the east crosses; ON_RING or UNDECIDED where that is the result. */
function blockParity(first: usize, last: usize, lon: f64, lat: f64): i32 {
  let parity: i32 = 0
  let x1 = load<f64>(first)
  let y1 = load<f64>(first, 8)
  for (let p = first + 16; p <= last; p += 16) {
    const x2 = load<f64>(p)
    const y2 = load<f64>(p, 8)
    if (y1 > lat != y2 > lat) {
      if (x1 > lon && x2 > lon) {
        parity ^= 1
      } else if (x1 >= lon || x2 >= lon) {
        if (x1 == lon && x2 == lon) return ON_RING
        const left = (x1 - lon) * (y2 - lat)
        const right = (y1 - lat) * (x2 - lon)
        const determinant = left - right
        const sum = abs(left) + abs(right)
        if (sum <= SMALLEST_PRODUCT || abs(determinant) <= FILTER * sum) return UNDECIDED
        if (determinant > 0 == y2 > y1) parity ^= 1
      }
    } else if (y1 == lat && (x1 == lon || (y2 == lat && x1 > lon != x2 > lon))) {
      return ON_RING
    }
    x1 = x2
    y1 = y2
  }
  return parity
}
