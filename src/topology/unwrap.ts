import type { FlatGeometry } from '../geometry/flat.ts'
import { isWholeParallel, ringForm } from '../geometry/whole-parallels.ts'
import { withoutSeam } from './seam-edges.ts'

/**
 * Which pole a ring that winds around the axis encloses: 1 north, −1 south. Decided where areas are decided, and passed in.
 *
 * @param ring interleaved lon, lat in degrees, closed, as sent
 */
export type PoleOf = (ring: Float64Array) => 1 | -1

/** A ring on the unrolled cylinder, closed, with the closing over its pole when it winds around the axis. */
export interface UnwrappedRing {
  readonly lon: Float64Array
  readonly lat: Float64Array
  /** Position i has the longitude lon[i] + 360 · turn[i]. */
  readonly turn: Int32Array
  /**
   * Index of the sent vertex at which edge i starts; −1 for an edge that is no boundary: it only closes the ring over its pole,
   * or runs along the antimeridian with the inside on both sides.
   */
  readonly source: Int32Array
  /** Times it winds around the axis, eastward positive; a simple ring has −1, 0 or 1. */
  readonly winding: number
  /** The pole it closes through; 0 when it closes by itself. */
  readonly pole: -1 | 0 | 1
  /** False when its edges along the poles say another inside than the rule by which areas are measured. */
  readonly isClear: boolean
  /** Whether there are edges along the antimeridian with the inside on both sides, which are no boundary. */
  readonly isOpenAtSeam: boolean
}

/**
 * Turns to add to the longitude of an edge's second end so that the edge goes the short way: −1, 0 or 1.
 *
 * Not for an edge along a pole, where longitude means nothing, and not for exactly 180°, which both ways are as short.
 * The comparison with 180 is exact: the rounding error of the difference breaks the tie.
 */
export function turnOfEdge(lon1: number, lat1: number, lon2: number, lat2: number): -1 | 0 | 1 {
  if (lat1 === lat2 && (lat1 === 90 || lat1 === -90)) return 0
  return turnOf(lon1, lon2)
}

function turnOf(lon1: number, lon2: number): -1 | 0 | 1 {
  const difference = lon2 - lon1
  if (difference < 180 && difference > -180) return 0
  const back = lon2 - difference
  const error = lon2 - (difference + back) + (back - lon1)
  if (difference > 180 || (difference === 180 && error > 0)) return -1
  if (difference < -180 || (difference === -180 && error < 0)) return 1
  return 0
}

/** The same for an edge of a ring: a whole parallel goes around, and does not go over ±180. */
function turnOfRingEdge(vertices: Float64Array, start: number, end: number, vertex: number): -1 | 0 | 1 {
  const i = 2 * vertex
  const turn = turnOfEdge(vertices[i]!, vertices[i + 1]!, vertices[i + 2]!, vertices[i + 3]!)
  return turn !== 0 && isWholeParallel(vertices, start, end, vertex) ? 0 : turn
}

/**
 * Whether any line or ring has an edge that goes the short way over ±180.
 *
 * @param firstPart parts looked at: from this one
 * @param endPart to before this one
 */
export function hasLongitudeJump(
  { vertices, sequenceStarts, partStarts, partDimensions }: FlatGeometry,
  firstPart = 0,
  endPart = partDimensions.length,
): boolean {
  for (let part = firstPart; part < endPart; part++) {
    if (partDimensions[part] === 0) continue
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
      for (let i = 2 * start; i < 2 * end - 2; i += 2) {
        const difference = vertices[i + 2]! - vertices[i]!
        if (difference < 180 && difference > -180) continue
        const turn =
          partDimensions[part] === 2
            ? turnOfRingEdge(vertices, start, end, i / 2)
            : turnOfEdge(vertices[i]!, vertices[i + 1]!, vertices[i + 2]!, vertices[i + 3]!)
        if (turn !== 0) return true
      }
    }
  }
  return false
}

/**
 * Unrolls a ring: every edge goes the short way, and a ring that then does not close closes through its pole.
 *
 * The closing leaves from the ring's position nearest to the pole, so that it crosses no edge of the ring.
 *
 * @param ring interleaved lon, lat in degrees, closed
 */
export function unwrapRing(ring: Float64Array, poleOf: PoleOf): UnwrappedRing {
  const count = ring.length / 2
  const turns = new Int32Array(count)
  // Turns that the edges along each pole are away from the short way, on which areas are measured.
  let detourNorth = 0
  let detourSouth = 0
  let isTurning = false
  for (let i = 1; i < count; i++) {
    const lat1 = ring[2 * i - 1]!
    const lat2 = ring[2 * i + 1]!
    turns[i] = turns[i - 1]! + turnOfRingEdge(ring, 0, count, i - 1)
    if (Math.abs(ring[2 * i]! - ring[2 * i - 2]!) === 360) isTurning = true
    if (lat1 !== lat2) continue
    if (lat1 === 90) detourNorth += turnOf(ring[2 * i - 2]!, ring[2 * i]!)
    else if (lat1 === -90) detourSouth += turnOf(ring[2 * i - 2]!, ring[2 * i]!)
  }
  const winding = turns[count - 1]!
  // A detour along a pole winds around that pole alone.
  const passed = detourNorth !== 0 ? 1 : detourSouth !== 0 ? -1 : 0
  const windsOtherwise = winding + detourNorth + detourSouth !== 0
  const isOrdinary = !isTurning || ringForm(ring, 0, count).kind === 'ordinary'
  const [pole, isClear] = isOrdinary ? poleByArea() : poleAsDrawn(ring, winding)
  const start = pole === 0 ? 0 : nearestToPole(ring, pole)
  const isAtPole = pole !== 0 && ring[2 * start + 1] === 90 * pole
  const size = count + (pole === 0 ? 0 : isAtPole ? 1 : 3)
  const lon = new Float64Array(size)
  const lat = new Float64Array(size)
  const turn = new Int32Array(size)
  const source = new Int32Array(size).fill(-1)
  for (let i = 0; i < count; i++) {
    const overEnd = start + i >= count - 1 && start > 0
    const from = overEnd ? start + i - (count - 1) : start + i
    lon[i] = ring[2 * from]!
    lat[i] = ring[2 * from + 1]!
    turn[i] = turns[from]! + (overEnd ? winding : 0)
    if (i < count - 1) source[i] = from
  }
  if (pole !== 0) {
    lon.fill(lon[0]!, count)
    lat.fill(90 * pole, count)
    turn.fill(turn[0]!, count)
    if (!isAtPole) turn[count] = turn[0]! + winding
    lat[size - 1] = lat[0]!
  }
  return withoutSeam({ lon, lat, turn, source, winding, pole, isClear, isOpenAtSeam: false })

  function poleByArea(): readonly [-1 | 0 | 1, boolean] {
    const isDrawn = winding !== 0 || !windsOtherwise || poleOf(ring) === passed
    return [
      winding === 0 ? 0 : windsOtherwise || passed === 0 ? poleOf(ring) : passed,
      isDrawn && (detourNorth === 0 || detourSouth === 0),
    ]
  }
}

/** The pole of a ring with whole parallels, whose inside is the one it is drawn around: a pole it has a vertex on. */
function poleAsDrawn(ring: Float64Array, winding: number): readonly [-1 | 0 | 1, boolean] {
  if (winding === 0) return [0, true]
  let [isNorth, isSouth] = [false, false]
  for (let i = 1; i < ring.length; i += 2) {
    if (ring[i] === 90) isNorth = true
    else if (ring[i] === -90) isSouth = true
  }
  return [isSouth && !isNorth ? -1 : 1, isNorth !== isSouth]
}

function nearestToPole(ring: Float64Array, pole: 1 | -1): number {
  let nearest = 0
  for (let i = 1; i < ring.length / 2 - 1; i++) {
    if (pole * ring[2 * i + 1]! > pole * ring[2 * nearest + 1]!) nearest = i
  }
  return nearest
}
