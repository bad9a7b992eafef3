import type { FlatGeometry } from '../geometry/flat.ts'
import type { Kernel } from '../wasm/loader.ts'
import { buildSegmentSet } from './layout/lay-geometry.ts'
import type { PoleResolver } from './layout/unwrap.ts'
import { intersectsInPlane, type TouchingEdges } from './plane/in-plane.ts'
import { findContacts, segmentsToSweep } from './plane/meeting.ts'
import { type Topology, toGeometry } from './plane/prepared.ts'
import { IntersectsSweep } from './sweep/contact-sweep.ts'

/**
 * Tells whether a and b share any point, boundaries included. Geometries are compared in the plane of longitude and latitude, in
 * which −180 and 180 are one meridian and each pole is one point.
 *
 * @param a has valid polygons (`findInvalidity`), as received or prepared; the result for invalid ones is undefined
 * @param b likewise
 * @param resolvePole is called for rings that wind around the axis
 * @param kernel makes passes over large geometries faster; the result is the same without it
 * @throws {UndecidableError} when an exact decision would cost too much
 */
export function intersects(a: Topology, b: Topology, resolvePole: PoleResolver, kernel?: Kernel): boolean {
  const inPlane = intersectsInPlane(a, b, kernel)
  if (typeof inPlane === 'boolean') return inPlane
  return intersectsBySweep(toGeometry(a), toGeometry(b), resolvePole, inPlane)
}

/** @param touches what the comparison in the plane found; undefined when the plane does not suffice */
function intersectsBySweep(
  a: FlatGeometry,
  b: FlatGeometry,
  resolvePole: PoleResolver,
  touches: TouchingEdges | undefined,
): boolean {
  const segments = buildSegmentSet(a, b, resolvePole)
  if (touches !== undefined)
    return !new IntersectsSweep(segments).isDisjoint(segmentsToSweep(segments, [a, b], touches))
  if (segments.poles.some(([inA, inB]) => inA !== 'exterior' && inB !== 'exterior')) return true
  // An auxiliary edge, which only closes a ring over its pole, may lie in a hole around that pole.
  const contacts = findContacts(segments, (_, s, t) => segments.isReal(s) && segments.isReal(t))
  if (contacts.kind === 'decided') return true
  const locations = contacts.kind === 'apart' ? contacts.locateParts() : undefined
  if (locations !== undefined) return locations.some(({ depth }) => depth > 0)
  const active = contacts.segmentsToSweep()
  return !new IntersectsSweep(segments).isDisjoint(active)
}
