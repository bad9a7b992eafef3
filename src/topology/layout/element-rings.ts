import type { FlatGeometry } from '../../geometry/flat.ts'
import type { PoleResolver } from '../../geometry/pole-resolver.ts'
import type { Invalidity } from '../invalidity.ts'
import type { UnwrappedRing } from './antimeridian-edges.ts'
import { isEnclosedSideLeft } from './pole-location.ts'
import { computeExtent, computeRingExtent, type SegmentRole, SegmentSet, turnsToReach } from './segment-set.ts'
import { hasLongitudeJump, unwrapRing } from './unwrap.ts'

/** A ring of an element, with what a segment set needs to know of it. */
export interface ElementRing {
  readonly unwrapped: UnwrappedRing
  /** Depth 0 counts polygons, depth 1 adds up their keys. A point of a valid element has (0, 0) or (1, some key). */
  readonly role: SegmentRole
  readonly isHole: boolean
}

/** The rings of one element in a segment set. */
export interface ElementRings {
  readonly segments: SegmentSet
  readonly rings: readonly ElementRing[]
  /** Sequence of the exterior ring by key. The key of a polygon is the number of its part within the element, from 1. */
  readonly exteriors: readonly number[]
  /** By pole, the rings that have a vertex there. A pole is one point, so these rings touch there. */
  readonly atPoles: readonly (readonly ElementRing[])[]
}

/**
 * Puts the rings of an element into a segment set.
 *
 * @param element index of a Polygon or MultiPolygon
 * @returns the rings, or a fault that shows without comparing edges: a ring encloses nothing, winds around the axis more than
 *   once, comes to a pole twice, has no defined interior, or is a second ring that is the whole world
 * @throws {UndecidableError} when a ring winds around the axis so often that checking it would cost too much
 */
export function buildElementRings(
  geometry: FlatGeometry,
  element: number,
  resolvePole: PoleResolver,
): ElementRings | Invalidity {
  const { vertices, sequenceStarts, partStarts, elementStarts } = geometry
  const rings: ElementRing[] = []
  const exteriors: number[] = [-1]
  const atPoles: ElementRing[][] = [[], []]
  const firstPart = elementStarts[element]!
  for (let part = firstPart; part < elementStarts[element + 1]!; part++) {
    const exterior = partStarts[part]!
    exteriors.push(exterior)
    for (let sequence = exterior; sequence < partStarts[part + 1]!; sequence++) {
      const received = vertices.subarray(2 * sequenceStarts[sequence]!, 2 * sequenceStarts[sequence + 1]!)
      const role = { operand: 0, dimension: 2, step0: 1, step1: part - firstPart + 1, sequence }
      const unwrapped = unwrapRing(received, resolvePole)
      if (Math.abs(unwrapped.winding) > 1) {
        const reason = 'ring around the axis more than once'
        return { reason, lon: received[0]!, lat: received[1]!, sequence, vertex: 0 }
      }
      if (!unwrapped.isInteriorCertain) {
        const reason = 'inside not defined by edges along the poles'
        return { reason, lon: received[0]!, lat: received[1]!, sequence, vertex: 0 }
      }
      const ring = { unwrapped, role, isHole: sequence > exterior }
      rings.push(ring)
      for (const [pole, lat] of [90, -90].entries()) {
        const runs = runsAtLatitude(received, lat)
        if (runs.length > 1) {
          const vertex = runs[1]!
          return { reason: 'self-touch', lon: received[2 * vertex]!, lat, sequence, vertex }
        }
        if (runs.length === 1) atPoles[pole]!.push(ring)
      }
    }
  }
  // Rings may touch at ±180 where a polygon lies on both sides of it.
  const isOpen = rings.length > 1 && rings.some(({ unwrapped }) => unwrapped.isOpenAtAntimeridian)
  const planar = !isOpen && !hasLongitudeJump(geometry, firstPart, elementStarts[element + 1]!)
  const segments = new SegmentSet(
    rings.reduce((sum, { unwrapped }) => sum + unwrapped.lon.length, 0),
    planar,
  )
  let wholeWorlds = 0
  for (const { unwrapped, role, isHole } of rings) {
    const [first, firstSegment] = [segments.positions.count, segments.count]
    segments.addRing(unwrapped, role, isHole, 0)
    // A ring without any boundary is the whole world. Two of them have no edges by which a sweep could find the fault.
    if (hasNoBoundary(segments, firstSegment) && ++wholeWorlds > 1) {
      const reason = isHole ? 'hole outside its exterior ring' : 'overlapping polygons'
      return { reason, lon: unwrapped.lon[0]!, lat: unwrapped.lat[0]!, sequence: role.sequence, vertex: 0 }
    }
    if (!enclosesArea(segments, first)) {
      const { sequence } = role
      return { reason: 'ring without an inside', lon: unwrapped.lon[0]!, lat: unwrapped.lat[0]!, sequence, vertex: 0 }
    }
  }
  return { segments, rings, exteriors, atPoles }
}

/**
 * Tells whether no edge of the ring that starts at segment `first` is a boundary: all run along poles or have the interior on
 * both sides.
 */
function hasNoBoundary(segments: SegmentSet, first: number): boolean {
  for (let s = first; s < segments.count; s++) if (segments.isReal(s)) return false
  return segments.count > first
}

/**
 * Returns the first vertex of each run of vertices at a latitude. A run that continues over the start of the ring counts once.
 */
function runsAtLatitude(ring: Float64Array, lat: number): number[] {
  const runs: number[] = []
  for (let i = 2; i < ring.length; i += 2) {
    if (ring[i + 1] === lat && ring[i - 1] !== lat) runs.push(i / 2)
  }
  // A run that begins at the first vertex is entered at the end, where the ring closes, unless it is the whole ring.
  return runs
}

/**
 * Adds copies shifted by whole turns wherever they come near. Faults on the cylinder then show around the originals, so the sweep
 * looks at their longitudes only.
 */
export function addShiftedCopies({ segments, rings }: ElementRings): void {
  const window = computeExtent(segments.positions)
  for (const { unwrapped, role, isHole } of rings) {
    const [first, last] = turnsToReach(segments, computeRingExtent(unwrapped), window, unwrapped.lon.length)
    if (first === 0 && last === 0) continue
    const isInteriorOnLeft = isEnclosedSideLeft(unwrapped) !== isHole
    for (let copy = first; copy <= last; copy++) {
      if (copy !== 0) segments.addRingInWindow(unwrapped, role, isInteriorOnLeft, copy, window)
    }
  }
  segments.window = window
}

/** Tells whether the positions from `first` on, those of a ring, do not all lie on one line. */
function enclosesArea({ positions }: SegmentSet, first: number): boolean {
  let second = first
  for (let i = first; i < positions.count; i++) {
    if (second === first) {
      if (positions.compare(first, i) !== 0) second = i
    } else if (positions.orientation(first, second, i) !== 0) return true
  }
  return false
}
