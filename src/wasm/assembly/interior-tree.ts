/** The polygons of a geometry that may contain a point, found by a tree of boxes in space over their interiors. */
import { NO_POLE } from './area'
import { boxBytes, BOX_BYTES, boxSizeSquare, buildBoxes, FANOUT, holds, levelAt, levelSize, putBox } from './box-tree'
import { ECEF_BYTES, RLO } from './ecef'
import { poleOf, polygonContains, prepareRings } from './geodesic-containment'
import { reserve } from './memory'
import { Operand, positionAt, startOf } from './operand'
import { countLooks } from './work'

/** Interiors of larger polygons, metres across, are looked for everywhere. */
const LARGE: f64 = 3e6

/** Open nodes: i32 level and index. Three more for each level at most. */
const open: usize = memory.data(8 * 64)

/** Makes the tables of the polygons of an operand; false when the memory cannot grow. */
export function prepareInteriors(operand: Operand): bool {
  if (operand.interiors != 0) return true
  const parts = reserve((<usize>operand.partCount) << 2)
  const owners = reserve((<usize>operand.sequenceCount) << 2)
  const boxes = reserve(boxBytes(operand.partCount))
  if (parts == 0 || owners == 0 || boxes == 0 || !prepareRings(operand)) return false
  // The exterior ring's sequence names its polygon; others name none.
  memory.fill(owners, 0xff, (<usize>operand.sequenceCount) << 2)
  for (let part = 0; part < operand.partCount; part++) {
    if (startOf(operand.partDimensions, part) == 2) {
      store<i32>(owners + ((<usize>startOf(operand.partStarts, part)) << 2), part)
    }
  }
  let count = 0
  for (let i = 0; i < operand.sequenceCount; i++) {
    const sequence = load<i32>(operand.order + ((<usize>i) << 3))
    const part = startOf(owners, sequence)
    if (part < 0) continue
    store<i32>(parts + ((<usize>count) << 2), part)
    boundInterior(operand, sequence, boxes, count)
    count++
  }
  operand.interiors = boxes
  operand.interiorParts = parts
  operand.interiorCount = count
  operand.interiorLevels = buildBoxes(boxes, count)
  return true
}

/**
 * Box of what a ring encloses. A coordinate is greatest inside the ring only where the surface looks along its axis, and
 * then it is at most (size of the ring)² / 2R greater than on the ring; edges stand off their chords by less.
 */
function boundInterior(operand: Operand, sequence: i32, boxes: usize, index: i32): void {
  const box = boxes + <usize>index * BOX_BYTES
  const first = startOf(operand.sequenceStarts, sequence)
  const last = startOf(operand.sequenceStarts, sequence + 1)
  putBox(boxes, index, positionAt(operand, first), positionAt(operand, first), 0)
  for (let position = positionAt(operand, first); position < positionAt(operand, last); position += ECEF_BYTES) {
    for (let axis: usize = 0; axis < 24; axis += 8) {
      const value = load<f64>(position + axis)
      store<f64>(box + axis, Math.min(load<f64>(box + axis), value))
      store<f64>(box + axis, Math.max(load<f64>(box + axis, 24), value), 24)
    }
  }
  const size = boxSizeSquare(box)
  const margin = poleOf(operand, sequence) != NO_POLE || size > LARGE * LARGE ? 1e8 : size / RLO
  for (let axis: usize = 0; axis < 24; axis += 8) {
    store<f64>(box + axis, load<f64>(box + axis) - margin)
    store<f64>(box + axis, load<f64>(box + axis, 24) + margin, 24)
  }
}

/** Whether any polygon of an operand contains the point; position points to its x, y, z. */
export function interiorsContain(operand: Operand, lat: f64, lon: f64, position: usize): bool {
  if (operand.interiorCount == 0) return false
  store<i32>(open, operand.interiorLevels - 1)
  store<i32>(open, 0, 4)
  for (let top = 1; top > 0; ) {
    top--
    const level = load<i32>(open + ((<usize>top) << 3))
    const index = load<i32>(open + ((<usize>top) << 3), 4)
    const box = levelAt(operand.interiors, operand.interiorCount, level) + <usize>index * BOX_BYTES
    countLooks(1)
    if (!holds(box, position)) continue
    if (level == 0) {
      if (polygonContains(operand, startOf(operand.interiorParts, index), lat, lon)) return true
      continue
    }
    const first = index * FANOUT
    const last = min(first + FANOUT, levelSize(operand.interiorCount, level - 1))
    for (let child = first; child < last; child++) {
      store<i32>(open + ((<usize>top) << 3), level - 1)
      store<i32>(open + ((<usize>top) << 3), child, 4)
      top++
    }
  }
  return false
}
