import type { FlatGeometry } from '../geometry/flat.ts'
import { CoverSweep } from './cover-sweep.ts'
import { sceneOf } from './lay-geometry.ts'
import { LineBoundary } from './line-boundary.ts'
import { type Meeting, meet } from './meeting.ts'
import { arePlanar, globeMarksOf } from './plane.ts'
import { isOnSegment, type Location, sideOfRing } from './point-in-ring.ts'
import type { Scene } from './scene.ts'
import { CROSS } from './segment-contact.ts'
import type { PoleOf } from './unwrap.ts'

/** Products of points and edges up to which every point is compared with every edge: about 10 ms. */
const MAX_POINT_EDGES = 2_000_000

/**
 * Whether a contains b, in the plane of lon and lat, with the seam at ±180 closed and each pole one place: nothing of b lies outside a, and their interiors meet. So what lies only
 * on a's boundary is not contained. The elements of a collection count as their union: polygons before lines before points,
 * shared edges inside the union are interior; lines have the boundary of the mod-2 rule.
 *
 * @param a of valid polygons (`findInvalidity`); for invalid ones the answer means nothing
 * @param b likewise
 * @param poleOf asked for rings that wind around the axis
 * @throws {UndecidableError} when it cannot be decided exactly with reasonable effort
 * @see OGC 06-103r4, 6.1.15; JTS RelateNG for the union of collections
 */
export function contains(a: FlatGeometry, b: FlatGeometry, poleOf: PoleOf): boolean {
  if (isPointwise(a, b)) return containsPoints(a, b)
  const scene = sceneOf(a, b, poleOf)
  let isInteriorMet = false
  for (const [own, others] of scene.poles) {
    if (others === 'exterior') continue
    if (own === 'exterior') return false
    if (own === 'interior' && others === 'interior') isInteriorMet = true
  }
  // Nothing of b stands elsewhere.
  if (scene.count === 0) return isInteriorMet
  const isSimple = scene.positions.planar && hasOnePolygonal(a)
  const meeting = meet(scene, (contact, own) => isSimple && contact === CROSS && scene.dimension[own] === 2)
  if (meeting.kind === 'decided') return false
  const answer = meeting.kind === 'apart' ? containsApart(scene, meeting, isSimple) : undefined
  if (answer !== undefined) return answer
  // Before the sweep is made: it may add places to the scene.
  const needed = meeting.needed()
  return new CoverSweep(scene, new LineBoundary(a, scene.positions.planar)).decide(needed, isInteriorMet)
}

/** One Polygon or MultiPolygon: every edge has the outside of a on one side. */
function hasOnePolygonal({ elementTypes }: FlatGeometry): boolean {
  return elementTypes.length === 1 && elementTypes[0]!.endsWith('Polygon')
}

/**
 * No edge of b meets an edge of a: one place of each part tells.
 *
 * @returns undefined when there are too many parts, or more has to be known
 */
function containsApart(scene: Scene, meeting: Meeting, isSimple: boolean): boolean | undefined {
  const places = meeting.locate()
  if (places === undefined) return undefined
  // What touches nothing of a is inside its polygons or outside of a altogether.
  if (places.some(({ operand, depth }) => operand === 1 && depth === 0)) return false
  // A ring of a inside b has the outside of a on one side, unless another polygon of a lies there.
  const isRingInside = places.some(
    ({ operand, depth, segment }) => operand === 0 && depth > 0 && scene.dimension[segment] === 2,
  )
  return !isRingInside ? true : isSimple ? false : undefined
}

/** Points in the plane against one kind of geometry, few enough for one pass each. */
function isPointwise(a: FlatGeometry, b: FlatGeometry): boolean {
  return (
    b.partDimensions.every((dimension) => dimension === 0) &&
    (a.partDimensions.every((dimension) => dimension < 2) || hasOnePolygonal(a)) &&
    b.partDimensions.length * a.vertices.length <= 2 * MAX_POINT_EDGES &&
    arePlanar(globeMarksOf(a), globeMarksOf(b))
  )
}

function containsPoints(a: FlatGeometry, b: FlatGeometry): boolean {
  const hasLines = a.partDimensions.includes(1)
  const boundary = hasLines ? new LineBoundary(a, true) : undefined
  let isInteriorMet = false
  for (let i = 0; i < b.vertices.length; i += 2) {
    const location = locatePoint(a, boundary, b.vertices[i]!, b.vertices[i + 1]!)
    if (location === 'exterior') return false
    if (location === 'interior') isInteriorMet = true
  }
  return isInteriorMet
}

/** Location of a position to one polygonal element, or to lines and points. */
function locatePoint(
  { vertices, sequenceStarts, partStarts, partDimensions }: FlatGeometry,
  lines: LineBoundary | undefined,
  lon: number,
  lat: number,
): Location {
  let isBoundary = false
  let isOnLineOrPoint = false
  for (let part = 0; part < partDimensions.length; part++) {
    const dimension = partDimensions[part]!
    if (dimension === 2) {
      let isInside = false
      for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
        const side = sideOfRing(vertices, sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!, lon, lat)
        if (side === 0) isBoundary = true
        if (side > 0) isInside = !isInside
      }
      if (isInside && !isBoundary) return 'interior'
      continue
    }
    const sequence = partStarts[part]!
    const end = 2 * sequenceStarts[sequence + 1]!
    let x1 = vertices[2 * sequenceStarts[sequence]!]!
    let y1 = vertices[2 * sequenceStarts[sequence]! + 1]!
    if (x1 === lon && y1 === lat) isOnLineOrPoint = true
    for (let i = 2 * sequenceStarts[sequence]! + 2; i < end && !isOnLineOrPoint; i += 2) {
      const x2 = vertices[i]!
      const y2 = vertices[i + 1]!
      if (isOnSegment(x1, y1, x2, y2, lon, lat)) isOnLineOrPoint = true
      x1 = x2
      y1 = y2
    }
  }
  if (isBoundary) return 'boundary'
  if (!isOnLineOrPoint) return 'exterior'
  return lines?.hasPlace(lon, lat) === true ? 'boundary' : 'interior'
}
