import type { FlatGeometry } from '../geometry/flat.ts'
import { Scene } from './scene.ts'
import { UndecidableError } from './undecidable.ts'
import { hasLongitudeJump, type PoleOf, turnOfEdge, type UnwrappedRing, unwrapRing } from './unwrap.ts'

/** Segments of a scene, copies included, beyond which rings that wind again and again would cost too much. */
const MAX_SEGMENTS = 250_000

/** Longitudes, in degrees, that a scene has to cover. */
export interface Extent {
  readonly west: number
  readonly east: number
}

/**
 * Both geometries of a predicate in one scene: depth 0 counts the polygons of a, depth 1 those of b.
 *
 * When any edge of either jumps over ±180, b stands on the unrolled cylinder as it is, and a in all copies shifted by whole
 * turns that come near it. So cut and uncut forms of one shape cover the same places. Edges of lines need no continuity and
 * are placed one by one.
 *
 * @throws {UndecidableError} when that takes too many copies
 */
export function sceneOf(a: FlatGeometry, b: FlatGeometry, poleOf: PoleOf): Scene {
  const planar = !hasLongitudeJump(a) && !hasLongitudeJump(b)
  const scene = new Scene((a.vertices.length + b.vertices.length) / 2, planar)
  layGeometry(scene, b, 1, poleOf, undefined)
  layGeometry(scene, a, 0, poleOf, planar ? undefined : extentOf(scene))
  return scene
}

/** Longitudes of everything in a scene. */
export function extentOf({ positions }: Scene): Extent {
  let west = Number.POSITIVE_INFINITY
  let east = Number.NEGATIVE_INFINITY
  for (let i = 0; i < positions.count; i++) {
    west = Math.min(west, positions.x[i]!)
    east = Math.max(east, positions.x[i]!)
  }
  return { west, east }
}

/**
 * Whole turns by which something has to be shifted to come near an extent.
 *
 * @returns first and last turn, to be taken both
 * @throws {UndecidableError} when the copies would be more than a scene should hold
 */
export function turnsToward(scene: Scene, own: Extent, target: Extent, segments: number): readonly [number, number] {
  // One degree more than needed makes rounding harmless.
  const first = Math.ceil((target.west - own.east - 1) / 360)
  const last = Math.floor((target.east - own.west + 1) / 360)
  if (scene.count + (last - first + 1) * segments > MAX_SEGMENTS) {
    throw new UndecidableError('the geometries wind around the axis too often')
  }
  return [first, last]
}

/** Longitudes of an unwrapped ring. */
export function extentOfRing({ lon, turn }: UnwrappedRing): Extent {
  let west = Number.POSITIVE_INFINITY
  let east = Number.NEGATIVE_INFINITY
  for (let i = 0; i < lon.length; i++) {
    const x = lon[i]! + 360 * turn[i]!
    west = Math.min(west, x)
    east = Math.max(east, x)
  }
  return { west, east }
}

/** @param around undefined: the original alone; else every copy that comes near it */
function layGeometry(
  scene: Scene,
  geometry: FlatGeometry,
  operand: 0 | 1,
  poleOf: PoleOf,
  around: Extent | undefined,
): void {
  const { vertices, sequenceStarts, partStarts, partDimensions } = geometry
  for (let part = 0; part < partDimensions.length; part++) {
    const dimension = partDimensions[part]!
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const sent = vertices.subarray(2 * sequenceStarts[sequence]!, 2 * sequenceStarts[sequence + 1]!)
      if (dimension < 2) {
        layLine(scene, sent, operand, sequence, around)
        continue
      }
      const role = { operand, dimension, step0: operand === 0 ? 1 : 0, step1: operand, sequence }
      const ring = unwrapRing(sent, poleOf)
      const isHole = sequence > partStarts[part]!
      if (around === undefined) {
        scene.addRing(ring, role, isHole, 0)
        continue
      }
      const [first, last] = turnsToward(scene, extentOfRing(ring), around, ring.lon.length)
      for (let copy = first; copy <= last; copy++) scene.addRing(ring, role, isHole, copy)
    }
  }
}

/** A line, or a point as a line of one position. A line of no length is a point. */
function layLine(scene: Scene, sent: Float64Array, operand: 0 | 1, sequence: number, around: Extent | undefined): void {
  const line = { operand, dimension: 1, step0: 0, step1: 0, sequence }
  const { positions } = scene
  let hasLength = false
  let last = -1
  for (let i = 2; i < sent.length; i += 2) {
    const lon1 = sent[i - 2]!
    const lat1 = sent[i - 1]!
    const lon2 = sent[i]!
    const lat2 = sent[i + 1]!
    if (lon1 === lon2 && lat1 === lat2) continue
    if (positions.planar) {
      const from = last >= 0 ? last : positions.add(lon1, lat1, 0)
      last = positions.add(lon2, lat2, 0)
      scene.addSegment(from, last, line, 0, i / 2 - 1, 0)
      hasLength = true
      continue
    }
    const turn = turnOfEdge(lon1, lat1, lon2, lat2)
    // The two names of one meridian: an edge from −180 to 180 at one latitude has no length.
    if (lon1 === lon2 + 360 * turn && lat1 === lat2) continue
    const x = lon2 + 360 * turn
    const own = { west: Math.min(lon1, x), east: Math.max(lon1, x) }
    const [first, end] = around === undefined ? [0, 0] : turnsToward(scene, own, around, 1)
    for (let copy = first; copy <= end; copy++) {
      const from = positions.add(lon1, lat1, copy)
      scene.addSegment(from, positions.add(lon2, lat2, turn + copy), line, 0, i / 2 - 1, copy)
    }
    hasLength = true
  }
  if (hasLength) return
  const lon = sent[0]!
  const [first, end] = around === undefined ? [0, 0] : turnsToward(scene, { west: lon, east: lon }, around, 1)
  for (let copy = first; copy <= end; copy++) {
    scene.addPoint(lon, sent[1]!, copy, { ...line, dimension: 0 }, 0, copy)
  }
}
