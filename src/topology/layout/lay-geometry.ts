import type { FlatGeometry } from '../../geometry/flat.ts'
import { arePlanar, findGlobeMarks } from '../plane/plane.ts'
import { unrollOntoCylinder } from './lay-on-cylinder.ts'
import { SegmentSet } from './scene.ts'
import { type PoleResolver, unwrapRing } from './unwrap.ts'

/**
 * Puts both geometries of a predicate into one segment set. Depth 0 counts the polygons of a, depth 1 those of b. Coordinates
 * stay as received where the plane suffices; otherwise both geometries are unrolled onto the cylinder.
 *
 * @throws {UndecidableError} when rings wind around the axis so often that it would cost too much
 */
export function buildSegmentSet(a: FlatGeometry, b: FlatGeometry, resolvePole: PoleResolver): SegmentSet {
  const capacity = (a.vertices.length + b.vertices.length) / 2
  if (!arePlanar(findGlobeMarks(a), findGlobeMarks(b))) {
    const segments = new SegmentSet(3 * capacity, false)
    unrollOntoCylinder(segments, a, b, resolvePole)
    return segments
  }
  const segments = new SegmentSet(capacity, true)
  addInPlane(segments, a, 0, resolvePole)
  addInPlane(segments, b, 1, resolvePole)
  return segments
}

function addInPlane(segments: SegmentSet, geometry: FlatGeometry, operand: 0 | 1, resolvePole: PoleResolver): void {
  const { vertices, sequenceStarts, partStarts, partDimensions } = geometry
  for (let part = 0; part < partDimensions.length; part++) {
    const dimension = partDimensions[part]!
    const role = { operand, dimension, step0: 1 - operand, step1: operand, sequence: partStarts[part]! }
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const received = vertices.subarray(2 * sequenceStarts[sequence]!, 2 * sequenceStarts[sequence + 1]!)
      if (dimension < 2) addLine(segments, received, operand, sequence)
      else segments.addRing(unwrapRing(received, resolvePole), { ...role, sequence }, sequence > partStarts[part]!, 0)
    }
  }
}

/** Adds the edges of a line. A line of zero length, or a Point, is added as a point. */
function addLine(segments: SegmentSet, received: Float64Array, operand: 0 | 1, sequence: number): void {
  const line = { operand, dimension: 1, step0: 0, step1: 0, sequence }
  const { positions } = segments
  let last = -1
  for (let i = 2; i < received.length; i += 2) {
    if (received[i] === received[i - 2] && received[i + 1] === received[i - 1]) continue
    const from = last >= 0 ? last : positions.add(received[i - 2]!, received[i - 1]!, 0)
    last = positions.add(received[i]!, received[i + 1]!, 0)
    segments.addSegment(from, last, line, 0, i / 2 - 1, 0)
  }
  if (last < 0) segments.addPoint(received[0]!, received[1]!, 0, { ...line, dimension: 0 }, 0, 0)
}
