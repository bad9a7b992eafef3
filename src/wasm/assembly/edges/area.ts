/**
 * The area of a ring of geodesics. This is also the only file that decides which side of a ring is its interior.
 *
 * A ring that does not wind around the axis encloses the side without poles, whatever its orientation. A ring that
 * winds once encloses the pole that is one of its vertices; without such a vertex it encloses the smaller side, and the
 * northern of equal ones.
 */

import { c2, e2 } from '../geodesic/series'
import { areDegrees, isClosed } from '../math/contracts'
import { DoubleDouble, product, sum } from '../math/double-double'
import { sumError } from '../math/math'
import { EdgeSums, edgeWinding, NO_POLE, NORTH, polarSide, SOUTH, sumEdges } from './edge-sums'

const sums = changetype<EdgeSums>(memory.data(offsetof<EdgeSums>(), 8))

/**
 * Returns the length of a polyline in metres. The sum is compensated, so 10⁵ edges lose no digits.
 *
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param count vertices, ≥ 1
 */
export function lineLength(vertices: usize, count: i32): f64 {
  assert(count >= 1, 'lineLength: a line needs a vertex')
  assert(areDegrees(vertices, count), 'lineLength: vertices must be aligned, finite and in range')
  sumEdges(sums, vertices, count, false)
  return sums.length
}

/** Area of half the ellipsoid, m². */
const HALF: f64 = 2 * Math.PI * c2

/** What `ringArea` finds besides the area. */
@unmanaged
export class Ring {
  /** Length in metres, with the same bits as `lineLength` returns. */
  perimeter: f64
  /** NO_POLE, NORTH or SOUTH. */
  enclosedPole: i32
}

/**
 * b² π/180, evaluated to 80 digits and split into two doubles: the area in m² between a parallel and the equator under
 * one degree of longitude, per unit of A(φ)/b². short-edge.ts defines A(φ).
 */
const B2_DEGREE: f64 = 705257879865.9164
const B2_DEGREE_LOW: f64 = 1.4113157388514599e-5

/**
 * Returns the area enclosed by a ring, m², ≥ 0, and fills `ring`.
 *
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param count vertices, the last equal to the first
 */
export function ringArea(vertices: usize, count: i32, ring: Ring): f64 {
  assert(count >= 4, 'ringArea: a ring needs 4 vertices')
  assert(areDegrees(vertices, count), 'ringArea: vertices must be aligned, finite and in range')
  assert(isClosed(vertices, count), 'ringArea: the last vertex must equal the first')
  sumEdges(sums, vertices, count, true)
  ring.perimeter = sums.length
  const winding = sums.winding
  const side = winding == 0 || sums.isSideKnown ? sums.side : polarSide(vertices, count)
  const area = eastGoingArea(side)
  if (winding == 0) {
    ring.enclosedPole = NO_POLE
    return Math.abs(area)
  }
  if (side != NO_POLE) {
    // The area was measured from the pole that the ring surrounds, so it is already that of the smaller side.
    ring.enclosedPole = side
    return Math.abs(area)
  }
  const east = winding > 0 ? area : -area
  const onNorth = hasVertexAt(vertices, count, 90)
  const isNorth = onNorth == hasVertexAt(vertices, count, -90) ? east >= 0 : onNorth
  ring.enclosedPole = isNorth ? NORTH : SOUTH
  return isNorth ? HALF - east : HALF + east
}

/**
 * Sum of the areas between the edges and the equator or, with a side, between the edges and its pole; east-going
 * positive.
 */
function eastGoingArea(side: i32): f64 {
  const sign: f64 = side == NO_POLE ? 1 : -(<f64>side)
  const strips = sign * sums.strips
  let total = sums.areas + strips
  let error = sumError(sums.areas, strips, total) + (sums.areasLow + sign * sums.stripsLow)
  // Short edges are measured from the parallel of the first vertex. The area between this parallel and the equator or
  // pole is still missing, under the longitudes that the short edges span in sum. That span is 0 for a ring of short
  // edges that does not wind. Otherwise the missing area is as large as the areas of the general edges, so it is added
  // with 31 digits.
  sum(<f64>sums.winding * 360, -sums.lonSum, shortLon)
  if (shortLon.high != 0) {
    const parallel = sums.parallel
    if (side == NO_POLE) sum(parallel.head, parallel.tail + parallel.bulge, missing)
    else polarReference(<f64>side, missing)
    product(missing.high, missing.low, B2_DEGREE, B2_DEGREE_LOW, missing)
    product(missing.high, missing.low, shortLon.high, shortLon.low - sums.lonSumLow, missing)
    const whole = total + missing.high
    error += missing.low
    error += sumError(total, missing.high, whole)
    total = whole
  }
  return total + error
}

const shortLon = changetype<DoubleDouble>(memory.data(offsetof<DoubleDouble>(), 8))
const missing = changetype<DoubleDouble>(memory.data(offsetof<DoubleDouble>(), 8))

/**
 * Stores the area between the parallel of the first vertex and a pole under one radian of longitude, in
 * units of b².
 *
 * It is A(pole) − A(φ) with A = b² Σ kⱼ e²ʲ s²ʲ⁺¹, kⱼ = (j + 1)/(2j + 1), s = sin φ. Each difference 1 − s²ʲ⁺¹ has the
 * factor 1 − s, which is computed first to avoid cancellation near the pole.
 */
function polarReference(side: f64, out: DoubleDouble): void {
  sum(1 - side * sums.parallel.head, -side * sums.parallel.tail, out) // the first difference is exact beyond 30°
  const v = out.high
  const s = 1 - v
  let power = s // s²ʲ⁻¹
  let geometric: f64 = 1 // 1 + s + … + s²ʲ
  let et: f64 = 1 // e²ʲ
  let higherTerms: f64 = 0
  for (let j = 1; j <= 7; j++) {
    et *= e2
    geometric += power + power * s
    power *= s * s
    higherTerms += (<f64>(j + 1) / <f64>(2 * j + 1)) * et * geometric
  }
  sum(v, out.low + v * higherTerms, out)
}

const unused = changetype<Ring>(memory.data(offsetof<Ring>(), 8))

/**
 * Returns the pole that a ring encloses, as `ringArea` decides it. Does not compute the area when the ring does not
 * wind.
 */
export function findEnclosedPole(vertices: usize, count: i32): i32 {
  if (windingNumber(vertices, count) == 0) return NO_POLE
  ringArea(vertices, count, unused)
  return unused.enclosedPole
}

/** Counts how often a ring winds around the axis, east-going positive. */
function windingNumber(vertices: usize, count: i32): i32 {
  let winding = 0
  for (let i = 1; i < count; i++) {
    const p = vertices + ((<usize>i) << 4)
    winding += edgeWinding(load<f64>(p - 16), load<f64>(p))
  }
  return winding
}

/** Whether any vertex of the ring has exactly this latitude. */
function hasVertexAt(vertices: usize, count: i32, lat: f64): bool {
  for (let i = 0; i < count; i++) {
    if (load<f64>(vertices + ((<usize>i) << 4), 8) == lat) return true
  }
  return false
}
