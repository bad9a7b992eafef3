/** Prepares a geometry as an operand: its positions in space, its edges, and the trees over its edges and interiors. */
import { chordSquare, ECEF_BYTES, geodesicUpperBound, LONGEST_GEODESIC, sagitta, toEcef } from '../edges/ecef'
import { geodesicLength } from '../geodesic/inverse'
import { areDegrees, isClosed } from '../math/contracts'
import { aligned } from '../math/memory'
import {
  BOX_BYTES,
  buildBoxes,
  emptyBox,
  extend,
  extendByBox,
  FANOUT,
  mortonOrder,
  parentCount,
  treeSize,
  widen,
} from './box-tree'
import { ringTablesBytes } from './geodesic-containment'
import { interiorBytes, prepareInteriors } from './interior-tree'
import {
  allocate,
  EDGE_BYTES,
  edgeFlags,
  edgeLength,
  firstVertex,
  HAS_END,
  LARGE_SAGITTA,
  LEVEL_BYTES,
  latAt,
  lonAt,
  MAX_LEVELS,
  nodeBox,
  Operand,
  OWNS_END,
  partDimension,
  positionAt,
  startAt,
} from './operand'

/** Upper bound of the bytes that an operand of these sizes needs. */
export function operandBytes(vertexCount: i32, sequenceCount: i32, partCount: i32): usize {
  assert(vertexCount > 0 && sequenceCount > 0 && partCount > 0, 'operandBytes: a geometry has a vertex')
  const vertices = <usize>vertexCount
  return (
    aligned(offsetof<Operand>()) +
    inputBytes(vertexCount, sequenceCount, partCount) +
    aligned(vertices * ECEF_BYTES) +
    aligned((<usize>sequenceCount) << 3) +
    aligned(vertices * EDGE_BYTES) +
    aligned(MAX_LEVELS * LEVEL_BYTES) +
    aligned(<usize>treeSize(parentCount(vertexCount)) * BOX_BYTES) +
    ringTablesBytes(vertexCount, sequenceCount) +
    interiorBytes(sequenceCount, partCount)
  )
}

@inline
function inputBytes(vertexCount: i32, sequenceCount: i32, partCount: i32): usize {
  return aligned(((<usize>vertexCount) << 4) + ((<usize>sequenceCount + 1 + <usize>partCount + 1) << 2) + <usize>partCount)
}

/**
 * Returns where the host must write a geometry before it calls `prepareOperand`. Without gaps: the vertices (lon, lat
 * in degrees), the sequenceCount + 1 u32 offsets of sequences, the partCount + 1 u32 offsets of parts, one u8 per part
 * with its dimension.
 *
 * @param block pointer to `operandBytes` bytes
 */
export function operandInputs(block: usize): usize {
  assert(block != 0 && (block & 15) == 0, 'operandInputs: a block is aligned to 16 bytes')
  return block + aligned(offsetof<Operand>())
}

/**
 * Prepares the geometry that was written to `operandInputs`. The operand lies within the block and points only into it,
 * so it stays valid until something else is written to the block.
 *
 * @param block pointer to `operandBytes` bytes for these sizes; from now on a pointer to an Operand
 */
export function prepareOperand(block: usize, vertexCount: i32, sequenceCount: i32, partCount: i32): void {
  const blockEnd = block + operandBytes(vertexCount, sequenceCount, partCount)
  assert(blockEnd <= (<usize>memory.size()) << 16, 'prepareOperand: the block must be in memory')
  const operand = changetype<Operand>(block)
  operand.free = operandInputs(block)
  operand.solutions = 0
  operand.vertices = allocate(operand, inputBytes(vertexCount, sequenceCount, partCount))
  operand.vertexCount = vertexCount
  operand.sequenceStarts = operand.vertices + ((<usize>vertexCount) << 4)
  operand.sequenceCount = sequenceCount
  operand.partStarts = operand.sequenceStarts + ((<usize>sequenceCount + 1) << 2)
  operand.partDimensions = operand.partStarts + ((<usize>partCount + 1) << 2)
  operand.partCount = partCount
  assert(areDegrees(operand.vertices, vertexCount), 'prepareOperand: vertices must be finite and in range')
  checkStarts(operand)
  operand.positions = allocate(operand, <usize>vertexCount * ECEF_BYTES)
  operand.order = allocate(operand, (<usize>sequenceCount) << 3)
  // A sequence of n vertices has at most n edges: n − 1, or 1 for a point.
  operand.edges = allocate(operand, <usize>vertexCount * EDGE_BYTES)
  operand.levelTable = allocate(operand, MAX_LEVELS * LEVEL_BYTES)
  toEcef(operand.vertices, vertexCount, operand.positions)
  // The memory of the edges is not in use yet, so the sort may overwrite it.
  mortonOrder(operand.positions, operand.sequenceStarts, sequenceCount, operand.order, operand.edges)
  operand.edgeCount = fillEdges(operand)
  const boxes = allocate(operand, <usize>treeSize(parentCount(operand.edgeCount)) * BOX_BYTES)
  boundLeaves(operand, boxes)
  buildBoxes(boxes, parentCount(operand.edgeCount))
  fillLevels(operand, boxes)
  prepareInteriors(operand)
  assert(operand.free <= blockEnd, 'prepareOperand: an operand must fit its block')
}

/** Asserts the invariants of a FlatGeometry's offsets. */
function checkStarts(operand: Operand): void {
  if (ASC_NO_ASSERT) return
  const sequences = operand.sequenceStarts
  const parts = operand.partStarts
  assert(
    startAt(sequences, 0) == 0 && startAt(sequences, operand.sequenceCount) == operand.vertexCount,
    'the sequences must hold all vertices',
  )
  assert(
    startAt(parts, 0) == 0 && startAt(parts, operand.partCount) == operand.sequenceCount,
    'the parts must hold all sequences',
  )
  for (let s = 0; s < operand.sequenceCount; s++) {
    assert(startAt(sequences, s) < startAt(sequences, s + 1), 'a sequence must have a vertex')
  }
  for (let part = 0; part < operand.partCount; part++) {
    const dimension = partDimension(operand, part)
    assert(startAt(parts, part) < startAt(parts, part + 1), 'a part must have a sequence')
    assert(dimension <= 2, 'a dimension must be 0, 1 or 2')
    for (let s = startAt(parts, part); s < startAt(parts, part + 1); s++) {
      const first = startAt(sequences, s)
      const count = startAt(sequences, s + 1) - first
      assert(dimension != 0 || count == 1, 'a point has one vertex')
      assert(dimension != 2 || (count > 1 && isClosed(operand.vertices + ((<usize>first) << 4), count)), 'a ring must be closed')
    }
  }
}

/** Writes the edges, sequence by sequence in the operand's order. Returns their number. */
function fillEdges(operand: Operand): i32 {
  let count = 0
  for (let i = 0; i < operand.sequenceCount; i++) {
    const sequence = load<i32>(operand.order + ((<usize>i) << 3))
    const start = startAt(operand.sequenceStarts, sequence)
    const last = startAt(operand.sequenceStarts, sequence + 1) - 1
    const isClosed =
      last > start && lonAt(operand, start) == lonAt(operand, last) && latAt(operand, start) == latAt(operand, last)
    for (let v = start; v < last || v == start; v++) {
      const flags = last == start ? 0 : v == last - 1 && !isClosed ? HAS_END | OWNS_END : HAS_END
      const entry = operand.edges + <usize>count * EDGE_BYTES
      store<i32>(entry, v)
      store<i32>(entry, flags, 4)
      store<f64>(entry, flags == 0 ? 0 : boundLength(operand, v), 8)
      count++
    }
  }
  return count
}

/** Upper bound of the length of the edge that starts at a vertex, metres. */
function boundLength(operand: Operand, v: i32): f64 {
  const from = positionAt(operand, v)
  const length = geodesicUpperBound(Math.sqrt(chordSquare(from, from + ECEF_BYTES)))
  if (length < LONGEST_GEODESIC) return length
  operand.solutions++
  return geodesicLength(latAt(operand, v), lonAt(operand, v), latAt(operand, v + 1), lonAt(operand, v + 1)) + 1e-6
}

/** Writes the boxes of level 1. They contain the geodesics of their edges, not only the chords. */
function boundLeaves(operand: Operand, boxes: usize): void {
  for (let edge = 0, box = boxes; edge < operand.edgeCount; box += BOX_BYTES) {
    const last = min(edge + FANOUT, operand.edgeCount)
    let longest: f64 = 0
    emptyBox(box)
    for (; edge < last; edge++) {
      const from = positionAt(operand, firstVertex(operand, edge))
      extend(box, from)
      if (edgeFlags(operand, edge) != 0) extend(box, from + ECEF_BYTES)
      longest = Math.max(longest, edgeLength(operand, edge))
    }
    const margin = sagitta(longest)
    if (margin > LARGE_SAGITTA) joinEdgeBoxes(operand, box, last)
    else widen(box, margin)
  }
}

const boxOfEdge: usize = memory.data(48, 16)

/** Writes the box of level 1 over the boxes of its edges, of which `last` is the first that is not its own. */
function joinEdgeBoxes(operand: Operand, box: usize, last: i32): void {
  emptyBox(box)
  for (let edge = last - 1 - ((last - 1) % FANOUT); edge < last; edge++) extendByBox(box, nodeBox(operand, 0, edge, boxOfEdge))
}

/** Fills the table of levels. */
function fillLevels(operand: Operand, boxes: usize): void {
  let size = operand.edgeCount
  let level = 0
  store<i32>(operand.levelTable, size, 4)
  while (size > 1) {
    size = parentCount(size)
    level++
    store<u32>(operand.levelTable + <usize>level * LEVEL_BYTES, <u32>boxes)
    store<i32>(operand.levelTable + <usize>level * LEVEL_BYTES, size, 4)
    boxes += <usize>size * BOX_BYTES
  }
  operand.levelCount = level + 1
}
