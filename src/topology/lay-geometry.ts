import type { FlatGeometry } from '../geometry/flat.ts'
import { layOnCylinder } from './lay-on-cylinder.ts'
import { arePlanar, globeMarksOf } from './plane.ts'
import { Scene } from './scene.ts'
import { type PoleOf, unwrapRing } from './unwrap.ts'

/**
 * Both geometries of a predicate in one scene: depth 0 counts the polygons of a, depth 1 those of b. In the plane as they
 * were sent, or on the cylinder when an edge of either goes over ±180.
 *
 * @throws {UndecidableError} when rings wind around the axis so often that it would cost too much
 */
export function sceneOf(a: FlatGeometry, b: FlatGeometry, poleOf: PoleOf): Scene {
  const capacity = (a.vertices.length + b.vertices.length) / 2
  if (!arePlanar(globeMarksOf(a), globeMarksOf(b))) {
    const scene = new Scene(3 * capacity, false)
    layOnCylinder(scene, a, b, poleOf)
    return scene
  }
  const scene = new Scene(capacity, true)
  layInPlane(scene, a, 0, poleOf)
  layInPlane(scene, b, 1, poleOf)
  return scene
}

function layInPlane(scene: Scene, geometry: FlatGeometry, operand: 0 | 1, poleOf: PoleOf): void {
  const { vertices, sequenceStarts, partStarts, partDimensions } = geometry
  for (let part = 0; part < partDimensions.length; part++) {
    const dimension = partDimensions[part]!
    const role = { operand, dimension, step0: 1 - operand, step1: operand, sequence: partStarts[part]! }
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const sent = vertices.subarray(2 * sequenceStarts[sequence]!, 2 * sequenceStarts[sequence + 1]!)
      if (dimension < 2) layLine(scene, sent, operand, sequence)
      else scene.addRing(unwrapRing(sent, poleOf), { ...role, sequence }, sequence > partStarts[part]!, 0)
    }
  }
}

/** A line; one of no length, and a point, as a point. */
function layLine(scene: Scene, sent: Float64Array, operand: 0 | 1, sequence: number): void {
  const line = { operand, dimension: 1, step0: 0, step1: 0, sequence }
  const { positions } = scene
  let last = -1
  for (let i = 2; i < sent.length; i += 2) {
    if (sent[i] === sent[i - 2] && sent[i + 1] === sent[i - 1]) continue
    const from = last >= 0 ? last : positions.add(sent[i - 2]!, sent[i - 1]!, 0)
    last = positions.add(sent[i]!, sent[i + 1]!, 0)
    scene.addSegment(from, last, line, 0, i / 2 - 1, 0)
  }
  if (last < 0) scene.addPoint(sent[0]!, sent[1]!, 0, { ...line, dimension: 0 }, 0, 0)
}
