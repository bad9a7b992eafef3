import { edgeTurn, ringEdgeTurn, shortWayTurn } from '../../geometry/edge-turn.ts'
import type { FlatGeometry } from '../../geometry/flat.ts'
import type { PoleResolver } from '../../geometry/pole-resolver.ts'
import { hasWholeParallel, ringForm } from '../../geometry/whole-parallels.ts'
import { openAntimeridian, type UnwrappedRing } from './antimeridian-edges.ts'

/**
 * Tells whether any line or ring has an edge that takes the short way across ±180.
 *
 * @param firstPart first part to check
 * @param endPart index after the last part to check
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
            ? ringEdgeTurn(vertices, start, end, i / 2)
            : edgeTurn(vertices[i]!, vertices[i + 1]!, vertices[i + 2]!, vertices[i + 3]!)
        if (turn !== 0) return true
      }
    }
  }
  return false
}

/** Where a geometry meets the features in which the globe differs from the plane of longitude and latitude, as bits. */
export const EAST = 1
export const WEST = 2
export const NORTH = 4
export const SOUTH = 8
/** An edge takes the short way across ±180. */
export const CROSSES_ANTIMERIDIAN = 16
/** An edge of a ring is a whole parallel. */
export const HAS_WHOLE_PARALLEL = 32

/**
 * Returns what decides whether a geometry can be compared in the plane: vertices at 180 (`EAST`), at −180 (`WEST`) and at the
 * poles, edges across ±180, and edges along whole parallels. Takes linear time.
 *
 * Without edges across ±180, a geometry meets the antimeridian and the poles at its vertices or not at all.
 */
export function findGlobeFlags(geometry: FlatGeometry): number {
  const { vertices } = geometry
  let flags = hasLongitudeJump(geometry) ? CROSSES_ANTIMERIDIAN : 0
  for (let i = 0; i < vertices.length; i += 2) {
    const lon = vertices[i]!
    const lat = vertices[i + 1]!
    if (lon === 180) flags |= EAST
    else if (lon === -180) flags |= WEST
    if (lat === 90) flags |= NORTH
    else if (lat === -90) flags |= SOUTH
  }
  if ((flags & EAST) !== 0 && (flags & WEST) !== 0 && hasWholeParallel(geometry)) flags |= HAS_WHOLE_PARALLEL
  return flags
}

/**
 * Tells whether `contains` and `intersects` of two geometries are the same in the plane of longitude and latitude as on the
 * globe. They are when no edge crosses ±180, the two do not share a pole, and, if both reach the antimeridian, all their vertices
 * there are at 180, or all at −180. When only one of them reaches the antimeridian, the plane suffices even if that one is cut
 * there, because nothing is compared with the cut.
 *
 * @param a globe flags of the first geometry
 * @param b globe flags of the second one
 */
export function arePlanar(a: number, b: number): boolean {
  if (((a | b) & CROSSES_ANTIMERIDIAN) !== 0 || (a & b & (NORTH | SOUTH)) !== 0) return false
  const isAntimeridianShared = (a & (EAST | WEST)) !== 0 && (b & (EAST | WEST)) !== 0
  return !isAntimeridianShared || ((a | b) & (EAST | WEST)) !== (EAST | WEST)
}

/** What decides whether the matrix of a geometry can be found in the plane. */
export interface GlobeTraits {
  /** From `findGlobeFlags`. */
  readonly flags: number
  /** Whether it has polygons only. */
  readonly isAreal: boolean
}

/**
 * Tells whether also the matrix of two geometries is the same in the plane. Then both have to be the same there, so that what lies
 * outside of the other has the same dimension.
 *
 * Polygons that reach ±180 have cuts there, which are boundary in the plane only. That makes no difference where the other
 * geometry does not reach ±180: where the cut ends there is boundary outside of the other on the globe too, unless the cut goes from
 * pole to pole. Of lines, the two ends at a cut are no boundary on the globe.
 */
export function areLocatedInPlane(a: GlobeTraits, b: GlobeTraits): boolean {
  return arePlanar(a.flags, b.flags) && isSameInPlane(a, b.flags) && isSameInPlane(b, a.flags)
}

function isSameInPlane({ flags, isAreal }: GlobeTraits, otherFlags: number): boolean {
  if (arePlanar(flags, flags)) return true
  const reachesBothPoles = (flags & NORTH) !== 0 && (flags & SOUTH) !== 0
  return isAreal && !reachesBothPoles && (otherFlags & (EAST | WEST)) === 0
}

/** Returns the traits of a geometry in linear time. */
export function findGlobeTraits(geometry: FlatGeometry): GlobeTraits {
  return { flags: findGlobeFlags(geometry), isAreal: geometry.partDimensions.every((dimension) => dimension === 2) }
}

/**
 * Unrolls a ring onto the cylinder. Every edge takes the short way, and a ring that then does not close is closed over its pole.
 *
 * The closing edges start from the position of the ring that is nearest to the pole, so they cross no edge of the ring.
 *
 * @param ring interleaved lon, lat in degrees, closed
 */
export function unwrapRing(ring: Float64Array, resolvePole: PoleResolver): UnwrappedRing {
  const count = ring.length / 2
  const turns = new Int32Array(count)
  // Areas are measured as if edges along a pole took the short way. These are the turns by which they differ from it.
  let detourNorth = 0
  let detourSouth = 0
  let hasWholeTurn = false
  for (let i = 1; i < count; i++) {
    const lat1 = ring[2 * i - 1]!
    const lat2 = ring[2 * i + 1]!
    turns[i] = turns[i - 1]! + ringEdgeTurn(ring, 0, count, i - 1)
    if (Math.abs(ring[2 * i]! - ring[2 * i - 2]!) === 360) hasWholeTurn = true
    if (lat1 !== lat2) continue
    if (lat1 === 90) detourNorth += shortWayTurn(ring[2 * i - 2]!, ring[2 * i]!)
    else if (lat1 === -90) detourSouth += shortWayTurn(ring[2 * i - 2]!, ring[2 * i]!)
  }
  const winding = turns[count - 1]!
  // A detour along a pole winds around that pole only.
  const detourPole = detourNorth !== 0 ? 1 : detourSouth !== 0 ? -1 : 0
  const windsTheShortWay = winding + detourNorth + detourSouth !== 0
  const isOrdinary = !hasWholeTurn || ringForm(ring, 0, count).kind === 'ordinary'
  const [pole, isInteriorCertain] = isOrdinary ? poleByArea() : poleAsDrawn(ring, winding)
  const start = pole === 0 ? 0 : nearestToPole(ring, pole)
  const isAtPole = pole !== 0 && ring[2 * start + 1] === 90 * pole
  const size = count + (pole === 0 ? 0 : isAtPole ? 1 : 3)
  const lon = new Float64Array(size)
  const lat = new Float64Array(size)
  const turn = new Int32Array(size)
  const source = new Int32Array(size).fill(-1)
  for (let i = 0; i < count; i++) {
    const isPastEnd = start + i >= count - 1 && start > 0
    const from = isPastEnd ? start + i - (count - 1) : start + i
    lon[i] = ring[2 * from]!
    lat[i] = ring[2 * from + 1]!
    turn[i] = turns[from]! + (isPastEnd ? winding : 0)
    if (i < count - 1) source[i] = from
  }
  if (pole !== 0) {
    lon.fill(lon[0]!, count)
    lat.fill(90 * pole, count)
    turn.fill(turn[0]!, count)
    if (!isAtPole) turn[count] = turn[0]! + winding
    lat[size - 1] = lat[0]!
  }
  return openAntimeridian({
    lon,
    lat,
    turn,
    source,
    winding,
    pole,
    isInteriorCertain,
    isOpenAtAntimeridian: false,
  })

  function poleByArea(): readonly [-1 | 0 | 1, boolean] {
    const agreesWithArea = winding !== 0 || !windsTheShortWay || resolvePole(ring) === detourPole
    return [
      winding === 0 ? 0 : windsTheShortWay || detourPole === 0 ? resolvePole(ring) : detourPole,
      agreesWithArea && (detourNorth === 0 || detourSouth === 0),
    ]
  }
}

/**
 * Returns the pole of a ring with whole parallels, and whether it is certain. The interior is as drawn: around a pole on which
 * the ring has a vertex.
 */
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
