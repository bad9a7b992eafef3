/** The polygons of a geometry that may contain a point, found by a tree of boxes in space over their interiors. */
import { NO_POLE } from './area'
import { above, BOX_BYTES, boxSizeSquare, buildBoxes, emptyBox, extend, FANOUT, holds, nodesFrom, widen } from './box-tree'
import { RLO } from './ecef'
import { poleOf, polygonContains, prepareRings } from './geodesic-containment'
import { aligned } from './memory'
import { dimensionOf, Operand, positionAt, startOf, take } from './operand'
import { countLooks } from './work'

/** Interiors of larger polygons, metres across, are looked for everywhere. */
const LARGE: f64 = 3e6

/** Bytes of the tables of the polygons of an operand, at most, without those of their rings. */
export function interiorBytes(sequenceCount: i32, partCount: i32): usize {
  return (
    aligned((<usize>partCount) << 2) + aligned((<usize>sequenceCount) << 2) + aligned(<usize>nodesFrom(partCount) * BOX_BYTES)
  )
}

/** Makes the tables of the polygons of an operand. */
export function prepareInteriors(operand: Operand): void {
  prepareRings(operand)
  const parts = take((<usize>operand.partCount) << 2)
  const owners = take((<usize>operand.sequenceCount) << 2)
  const boxes = take(<usize>nodesFrom(operand.partCount) * BOX_BYTES)
  // The exterior ring's sequence names its polygon; others name none.
  memory.fill(owners, 0xff, (<usize>operand.sequenceCount) << 2)
  for (let part = 0; part < operand.partCount; part++) {
    if (dimensionOf(operand, part) == 2) {
      store<i32>(owners + ((<usize>startOf(operand.partStarts, part)) << 2), part)
    }
  }
  let count = 0
  for (let i = 0; i < operand.sequenceCount; i++) {
    const sequence = load<i32>(operand.order + ((<usize>i) << 3))
    const part = startOf(owners, sequence)
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
 * Box of what a ring encloses. A coordinate is greatest inside the ring only where the surface looks along its axis, and
 * then it is at most (size of the ring)² / 2R greater than on the ring; edges stand off their chords by less.
 */
function boundInterior(operand: Operand, sequence: i32, box: usize): void {
  const last = startOf(operand.sequenceStarts, sequence + 1)
  emptyBox(box)
  for (let v = startOf(operand.sequenceStarts, sequence); v < last; v++) extend(box, positionAt(operand, v))
  const size = boxSizeSquare(box)
  widen(box, poleOf(operand, sequence) != NO_POLE || size > LARGE * LARGE ? 1e8 : size / RLO)
}

/** The box of a node over the interiors. */
function interiorBox(operand: Operand, level: i32, index: i32): usize {
  let boxes = operand.interiors
  let size = operand.interiorCount
  for (let i = 0; i < level; i++) {
    boxes += <usize>size * BOX_BYTES
    size = above(size)
  }
  levelNodes = size
  return boxes + <usize>index * BOX_BYTES
}

/** Set by `interiorBox`: how many nodes its level has. */
let levelNodes: i32 = 0

/** Whether any polygon of an operand contains the point; position points to its x, y, z. */
export function interiorsContain(operand: Operand, lat: f64, lon: f64, position: usize): bool {
  if (operand.interiorCount == 0) return false
  return nodeContains(operand, operand.interiorLevels - 1, 0, lat, lon, position)
}

function nodeContains(operand: Operand, level: i32, index: i32, lat: f64, lon: f64, position: usize): bool {
  countLooks(1)
  if (!holds(interiorBox(operand, level, index), position)) return false
  if (level == 0) return polygonContains(operand, startOf(operand.interiorParts, index), lat, lon, position)
  interiorBox(operand, level - 1, 0)
  const last = min(FANOUT * (index + 1), levelNodes)
  for (let child = FANOUT * index; child < last; child++) {
    if (nodeContains(operand, level - 1, child, lat, lon, position)) return true
  }
  return false
}
