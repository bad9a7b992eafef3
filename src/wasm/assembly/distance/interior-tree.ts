/**
 * A tree of boxes in space over the interiors of polygons. It finds the polygons of a geometry that may contain a
 * point.
 */

import { RLO } from '../edges/ecef'
import { NO_POLE } from '../edges/edge-sums'
import { aligned } from '../math/memory'
import { countChecks } from '../math/work'
import {
  BOX_BYTES,
  boxSizeSquare,
  buildBoxes,
  containsPosition,
  emptyBox,
  extend,
  FANOUT,
  parentCount,
  treeSize,
  widen,
} from './box-tree'
import { polygonContains, prepareRings, ringPole } from './geodesic-containment'
import { allocate, Operand, partDimension, positionAt, startAt } from './operand'

/** Metres. The interior of a polygon with a larger diagonal gets a box around the whole Earth. */
const LARGE: f64 = 3e6

/** Upper bound of the bytes for the polygon tables of an operand, without the ring tables. */
export function interiorBytes(sequenceCount: i32, partCount: i32): usize {
  return aligned((<usize>partCount) << 2) + aligned((<usize>sequenceCount) << 2) + aligned(<usize>treeSize(partCount) * BOX_BYTES)
}

/** Builds the ring tables and the polygon tables of an operand. */
export function prepareInteriors(operand: Operand): void {
  prepareRings(operand)
  const parts = allocate(operand, (<usize>operand.partCount) << 2)
  const owners = allocate(operand, (<usize>operand.sequenceCount) << 2)
  const boxes = allocate(operand, <usize>treeSize(operand.partCount) * BOX_BYTES)
  // The sequence of an exterior ring stores the part of its polygon; all others store −1.
  memory.fill(owners, 0xff, (<usize>operand.sequenceCount) << 2)
  for (let part = 0; part < operand.partCount; part++) {
    if (partDimension(operand, part) == 2) {
      store<i32>(owners + ((<usize>startAt(operand.partStarts, part)) << 2), part)
    }
  }
  let count = 0
  for (let i = 0; i < operand.sequenceCount; i++) {
    const sequence = load<i32>(operand.order + ((<usize>i) << 3))
    const part = startAt(owners, sequence)
    if (part < 0) continue
    store<i32>(parts + ((<usize>count) << 2), part)
    boundInterior(operand, sequence, boxes + <usize>count * BOX_BYTES)
    count++
  }
  operand.interiors = boxes
  operand.interiorParts = parts
  operand.interiorCount = count
  operand.interiorLevels = buildBoxes(boxes, count)
}

/**
 * Writes a box around everything that a ring encloses. A coordinate can be greater inside the ring than on it only
 * where the normal of the surface is parallel to its axis, and then by at most (size of the ring)² / 2R. The sagitta of
 * the edges is less than that.
 */
function boundInterior(operand: Operand, sequence: i32, box: usize): void {
  const last = startAt(operand.sequenceStarts, sequence + 1)
  emptyBox(box)
  for (let v = startAt(operand.sequenceStarts, sequence); v < last; v++) extend(box, positionAt(operand, v))
  const size = boxSizeSquare(box)
  widen(box, ringPole(operand, sequence) != NO_POLE || size > LARGE * LARGE ? 1e8 : size / RLO)
}

/** The box of a node of the tree. */
function interiorBox(operand: Operand, level: i32, index: i32): usize {
  let boxes = operand.interiors
  for (let below = 0; below < level; below++) boxes += <usize>nodeCount(operand, below) * BOX_BYTES
  return boxes + <usize>index * BOX_BYTES
}

/** Number of nodes of a level. */
function nodeCount(operand: Operand, level: i32): i32 {
  let size = operand.interiorCount
  for (; level > 0; level--) size = parentCount(size)
  return size
}

/** Whether any polygon of an operand contains a point in degrees; `position` points to its x, y, z. */
export function interiorsContain(operand: Operand, lat: f64, lon: f64, position: usize): bool {
  if (operand.interiorCount == 0) return false
  return nodeContains(operand, operand.interiorLevels - 1, 0, lat, lon, position)
}

function nodeContains(operand: Operand, level: i32, index: i32, lat: f64, lon: f64, position: usize): bool {
  countChecks(1)
  if (!containsPosition(interiorBox(operand, level, index), position)) return false
  if (level == 0) return polygonContains(operand, startAt(operand.interiorParts, index), lat, lon, position)
  const last = min(FANOUT * (index + 1), nodeCount(operand, level - 1))
  for (let child = FANOUT * index; child < last; child++) {
    if (nodeContains(operand, level - 1, child, lat, lon, position)) return true
  }
  return false
}
