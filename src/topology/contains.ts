import type { FlatGeometry } from '../geometry/flat.ts'
import type { Kernel } from '../wasm/loader.ts'
import { buildSegmentSet } from './layout/lay-geometry.ts'
import { LineBoundary } from './layout/line-boundary.ts'
import type { SegmentSet } from './layout/scene.ts'
import type { PoleResolver } from './layout/unwrap.ts'
import { containsInPlane, type TouchingEdges } from './plane/in-plane.ts'
import { type ContactSummary, findContacts, segmentsToSweep } from './plane/meeting.ts'
import { type Topology, toGeometry, toPrepared } from './plane/prepared.ts'
import { ContainsSweep } from './sweep/cover-sweep.ts'

/**
 * Tells whether a contains b: no point of b lies outside a, and their interiors meet. So what lies only on the boundary of a is
 * not contained.
 *
 * Geometries are compared in the plane of longitude and latitude, in which −180 and 180 are one meridian and each pole is one
 * point. A collection counts as the union of its elements: polygons take precedence over lines and lines over points, and shared
 * edges inside the union are interior. Lines have the boundary of the mod-2 rule.
 *
 * @param a has valid polygons (`findInvalidity`), as received or prepared; the result for invalid ones is undefined
 * @param b likewise
 * @param resolvePole is called for rings that wind around the axis
 * @param kernel makes passes over large geometries faster; the result is the same without it
 * @throws {UndecidableError} when an exact decision would cost too much
 * @see OGC 06-103r4, 6.1.15; JTS RelateNG for the union of collections
 */
export function contains(a: Topology, b: Topology, resolvePole: PoleResolver, kernel?: Kernel): boolean {
  const inPlane = containsInPlane(toPrepared(a), b, kernel)
  if (typeof inPlane === 'boolean') return inPlane
  return containsBySweep(toGeometry(a), toGeometry(b), resolvePole, inPlane)
}

/** @param touches what the comparison in the plane found; undefined when the plane does not suffice */
function containsBySweep(
  a: FlatGeometry,
  b: FlatGeometry,
  resolvePole: PoleResolver,
  touches: TouchingEdges | undefined,
): boolean {
  const segments = buildSegmentSet(a, b, resolvePole)
  if (touches !== undefined) {
    const active = segmentsToSweep(segments, [a, b], touches)
    return new ContainsSweep(segments, new LineBoundary(a, true)).decide(active)
  }
  let isInteriorMet = false
  for (const [inA, inB] of segments.poles) {
    if (inB === 'exterior') continue
    if (inA === 'exterior') return false
    if (inA === 'interior' && inB === 'interior') isInteriorMet = true
  }
  // b lies at the poles only.
  if (segments.count === 0) return isInteriorMet
  const contacts = findContacts(segments, () => false)
  const result = contacts.kind === 'apart' ? containsApart(segments, contacts) : undefined
  if (result !== undefined) return result
  // Must come before the sweep is constructed, because it may add points to the segment set.
  const active = contacts.segmentsToSweep()
  return new ContainsSweep(segments, new LineBoundary(a, false)).decide(active, isInteriorMet)
}

/**
 * Decides when no edge of b meets an edge of a. One position of each part then represents the whole part.
 *
 * @returns undefined when there are too many parts, or when these positions do not decide
 */
function containsApart(segments: SegmentSet, contacts: ContactSummary): boolean | undefined {
  const locations = contacts.locateParts()
  if (locations === undefined) return undefined
  // What does not touch a lies either inside its polygons or outside of a entirely.
  if (locations.some(({ operand, depth }) => operand === 1 && depth === 0)) return false
  // A ring of a that lies inside b has the exterior of a on one side, unless another polygon of a covers that side.
  const isRingInside = locations.some(
    ({ operand, depth, segment }) => operand === 0 && depth > 0 && segments.dimension[segment] === 2,
  )
  return isRingInside ? undefined : true
}
