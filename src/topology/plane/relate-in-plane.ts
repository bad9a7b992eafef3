import type { FlatGeometry } from '../../geometry/flat.ts'
import type { Kernel } from '../../wasm/loader.ts'
import type { TouchingEdges } from '../layout/build-segments.ts'
import { areLocatedInPlane, findGlobeTraits, type GlobeTraits } from '../layout/unwrap.ts'
import { BOUNDARY, EXTERIOR, INTERIOR, type IntersectionDimension, Matrix } from '../matrix.ts'
import { BoundaryContacts } from './boundary-contacts.ts'
import { areBoxesApart, joinEdges, rootOffset } from './edge-join.ts'
import { budgetFor, TouchCollector, unknownTouches, visitPoints } from './in-plane.ts'
import { isPuntal, type PreparedTopology, type Topology, toGeometry, toPrepared } from './prepared.ts'

/**
 * Fills the matrix in the plane without a sweep: for points, for geometries that are apart, and for polygons whose boundaries decide.
 *
 * @returns touches when a sweep has to fill it
 */
export function relateInPlane(first: Topology, second: Topology, kernel: Kernel | undefined): Matrix | TouchingEdges {
  const a = toGeometry(first)
  const b = toGeometry(second)
  if (a.vertices.length === 0 || b.vertices.length === 0) return unknownTouches(a, b)
  if (isPuntal(second)) {
    if (isPuntal(first)) return unknownTouches(a, b)
    return relatePoints(toPrepared(first), b, kernel) ?? unknownTouches(a, b)
  }
  if (isPuntal(first)) return relatePoints(toPrepared(second), a, kernel)?.transposed() ?? unknownTouches(a, b)
  const pair = moveIntoPlane(toPrepared(first), toPrepared(second))
  return pair === undefined ? unknownTouches(a, b) : relatePair(...pair)
}

/** As for the other predicates, but each of the geometries has to be the same in the plane too. */
function moveIntoPlane(
  a: PreparedTopology,
  b: PreparedTopology,
): readonly [PreparedTopology, PreparedTopology] | undefined {
  if (areLocatedInPlane(traitsOf(a), traitsOf(b))) return [a, b]
  if (a.mayBeCut || b.mayBeCut) return undefined
  const [movedA, movedB] = [a.eastward, b.eastward]
  return movedA === undefined || movedB === undefined ? undefined : [movedA, movedB]
}

function traitsOf(a: PreparedTopology): GlobeTraits {
  const flags = a.hasTree && a.tree.isSurelyPlanar ? 0 : a.globeFlags
  return { flags, isAreal: !a.hasLines && !a.hasPoints }
}

/** @returns undefined when a sweep has to decide */
function relatePoints(a: PreparedTopology, points: FlatGeometry, kernel: Kernel | undefined): Matrix | undefined {
  const matrix = new Matrix()
  let onBoundary = 0
  const end = visitPoints(a, points, kernel, (location) => {
    if (location === 'boundary') onBoundary++
    matrix.record(location === 'interior' ? INTERIOR : location === 'boundary' ? BOUNDARY : EXTERIOR, INTERIOR, 0)
    return true
  })
  if (end !== 'done') return undefined
  if (a.hasPolygons) {
    // Points do not cover an area or its boundary, which is empty only on the globe.
    const isLocated = a.globeFlags === 0 || areLocatedInPlane(traitsOf(a), findGlobeTraits(points))
    if (!isLocated && (a.mayBeCut || a.eastward === undefined)) return undefined
    matrix.record(INTERIOR, EXTERIOR, 2)
    matrix.record(BOUNDARY, EXTERIOR, 1)
    return matrix
  }
  if (a.globeFlags !== 0 || dimensionInPlane(a) === 0) return undefined
  matrix.record(INTERIOR, EXTERIOR, 1)
  const { size } = a.lineBoundary
  if (onBoundary < size) matrix.record(BOUNDARY, EXTERIOR, 0)
  // Several points may be at the same end.
  else if (onBoundary > 1) return undefined
  return matrix
}

function relatePair(a: PreparedTopology, b: PreparedTopology): Matrix | TouchingEdges {
  if (areBoxesApart(a.tree.boxes, rootOffset(a.tree), b.tree.boxes, rootOffset(b.tree))) return disjointMatrix(a, b)
  const unknown = unknownTouches(a.geometry, b.geometry)
  if (a.isOnePolygonal && b.isOnePolygonal) return new BoundaryContacts(a, b).findMatrix() ?? unknown
  // Lines alone can be cut down to the edges that touch.
  if (a.hasPolygons && b.hasPolygons) return unknown
  const touches = new TouchCollector(a, b)
  const end = joinEdges(a.tree, b.tree, budgetFor(a, b), (_contact, i, j) => {
    touches.add(i, j)
    return true
  })
  if (end === 'exhausted') return unknown
  return touches.isAny || a.hasPolygons || b.hasPolygons ? touches : disjointMatrix(a, b)
}

/** Returns the matrix of two geometries in the plane that share no point. */
function disjointMatrix(a: PreparedTopology, b: PreparedTopology): Matrix {
  const matrix = new Matrix()
  matrix.record(INTERIOR, EXTERIOR, dimensionInPlane(a))
  matrix.record(BOUNDARY, EXTERIOR, boundaryDimensionInPlane(a))
  matrix.record(EXTERIOR, INTERIOR, dimensionInPlane(b))
  matrix.record(EXTERIOR, BOUNDARY, boundaryDimensionInPlane(b))
  return matrix
}

function dimensionInPlane({ hasPolygons, hasLines, geometry }: PreparedTopology): IntersectionDimension {
  if (hasPolygons) return 2
  return hasLines && hasLength(geometry) ? 1 : 0
}

function boundaryDimensionInPlane(a: PreparedTopology): IntersectionDimension {
  if (a.hasPolygons) return 1
  return a.hasLines && a.lineBoundary.size > 0 ? 0 : -1
}

/** Tells whether any line has two different vertices. */
function hasLength({ vertices, sequenceStarts }: FlatGeometry): boolean {
  for (let sequence = 0; sequence < sequenceStarts.length - 1; sequence++) {
    const first = 2 * sequenceStarts[sequence]!
    for (let i = first + 2; i < 2 * sequenceStarts[sequence + 1]!; i += 2) {
      if (vertices[i] !== vertices[first] || vertices[i + 1] !== vertices[first + 1]) return true
    }
  }
  return false
}
