/**
 * An operand of a distance computation: one geometry, laid out in a block of memory. The block holds its vertices, their
 * positions in space, and its edges with a tree of boxes over them.
 *
 * The edges of all lines and rings are in one list, in order along each line; a Point is an edge from its vertex to
 * itself. Neighbours in the list are neighbours on the ground, so the tree needs no sorting of edges.
 */
import { areDegrees, isClosed } from '../math/contracts'
import { inverse } from '../geodesic/inverse'
import { chordSquare, ECEF_BYTES, geodesicUpperBound, LONGEST_GEODESIC, sagitta, toEcef } from '../edges/ecef'
import { ringTablesBytes } from './geodesic-containment'
import { interiorBytes, prepareInteriors } from './interior-tree'
import { aligned } from '../math/memory'
import { BOX_BYTES, FANOUT, buildBoxes, emptyBox, extend, mortonOrder, parentCount, treeSize, widen, writeBox } from './box-tree'

/**
 * Bits of an edge's flags. HAS_END: it is a real edge, not a point. OWNS_END: its second end is not the start of
 * another edge.
 */
export const HAS_END: i32 = 1
export const OWNS_END: i32 = 2

const EDGE_BYTES: usize = 16
/** Bytes of a level's entry: u32 pointer to its boxes, i32 number of boxes. Sixteen levels are enough for 4¹⁵ edges. */
const LEVEL_BYTES: usize = 8
const MAX_LEVELS: usize = 16

@unmanaged
export class Operand {
  /** Interleaved lon, lat in degrees. */
  vertices: usize
  vertexCount: i32
  /** u32 offsets as in FlatGeometry, and one u8 per part with its dimension. */
  sequenceStarts: usize
  sequenceCount: i32
  partStarts: usize
  partDimensions: usize
  partCount: i32
  /** x, y, z of each vertex. */
  positions: usize
  /** Sequences in the order of a space-filling curve: 8 bytes each, the index in the lower half. */
  order: usize
  edgeCount: i32
  /** 16 bytes each: i32 index of the first vertex, i32 flags, f64 upper bound of the length in metres. */
  edges: usize
  /**
   * Levels of the tree and the table of their boxes. Level 0 are the edges, whose boxes are not stored but computed
   * when needed.
   */
  levelCount: i32
  levelTable: usize
  /** Ring tables, see geodesic-containment.ts. */
  rings: usize
  /** Boxes of the interiors of polygons, the part of each, number of interiors and levels, see interior-tree.ts. */
  interiors: usize
  interiorParts: usize
  interiorCount: i32
  interiorLevels: i32
}

// Start of the unused bytes of the block that is being filled.
let free: usize = 0

/** Takes the next bytes of the block that is being filled. */
export function allocate(bytes: usize): usize {
  const pointer = free
  free = aligned(free + bytes)
  return pointer
}

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
  return aligned(
    ((<usize>vertexCount) << 4) + ((<usize>sequenceCount + 1 + <usize>partCount + 1) << 2) + <usize>partCount,
  )
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
  free = operandInputs(block)
  operand.vertices = allocate(inputBytes(vertexCount, sequenceCount, partCount))
  operand.vertexCount = vertexCount
  operand.sequenceStarts = operand.vertices + ((<usize>vertexCount) << 4)
  operand.sequenceCount = sequenceCount
  operand.partStarts = operand.sequenceStarts + ((<usize>sequenceCount + 1) << 2)
  operand.partDimensions = operand.partStarts + ((<usize>partCount + 1) << 2)
  operand.partCount = partCount
  assert(areDegrees(operand.vertices, vertexCount), 'prepareOperand: vertices must be finite and in range')
  checkStarts(operand)
  operand.positions = allocate(<usize>vertexCount * ECEF_BYTES)
  operand.order = allocate((<usize>sequenceCount) << 3)
  // A sequence of n vertices has at most n edges: n − 1, or 1 for a point.
  operand.edges = allocate(<usize>vertexCount * EDGE_BYTES)
  operand.levelTable = allocate(MAX_LEVELS * LEVEL_BYTES)
  toEcef(operand.vertices, vertexCount, operand.positions)
  mortonOrder(operand.positions, operand.sequenceStarts, sequenceCount, operand.order, operand.edges)
  operand.edgeCount = fillEdges(operand)
  const boxes = allocate(<usize>treeSize(parentCount(operand.edgeCount)) * BOX_BYTES)
  boundLeaves(operand, boxes)
  buildBoxes(boxes, parentCount(operand.edgeCount))
  fillLevels(operand, boxes)
  prepareInteriors(operand)
  assert(free <= blockEnd, 'prepareOperand: an operand must fit its block')
}

/** Asserts the invariants of a FlatGeometry's offsets. */
function checkStarts(operand: Operand): void {
  if (ASC_NO_ASSERT) return
  const sequences = operand.sequenceStarts
  const parts = operand.partStarts
  assert(startAt(sequences, 0) == 0 && startAt(sequences, operand.sequenceCount) == operand.vertexCount, 'the sequences must hold all vertices')
  assert(startAt(parts, 0) == 0 && startAt(parts, operand.partCount) == operand.sequenceCount, 'the parts must hold all sequences')
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

@inline
export function lonAt(operand: Operand, vertex: i32): f64 {
  return load<f64>(operand.vertices + ((<usize>vertex) << 4))
}

@inline
export function latAt(operand: Operand, vertex: i32): f64 {
  return load<f64>(operand.vertices + ((<usize>vertex) << 4), 8)
}

@inline
export function positionAt(operand: Operand, vertex: i32): usize {
  return operand.positions + <usize>vertex * ECEF_BYTES
}

@inline
export function firstVertex(operand: Operand, edge: i32): i32 {
  return load<i32>(operand.edges + <usize>edge * EDGE_BYTES)
}

@inline
export function edgeFlags(operand: Operand, edge: i32): i32 {
  return load<i32>(operand.edges + <usize>edge * EDGE_BYTES, 4)
}

/** Upper bound of the length of an edge, metres, close to the length. */
@inline
export function edgeLength(operand: Operand, edge: i32): f64 {
  return load<f64>(operand.edges + <usize>edge * EDGE_BYTES, 8)
}

@inline
export function startAt(starts: usize, index: i32): i32 {
  return load<i32>(starts + ((<usize>index) << 2))
}

@inline
export function partDimension(operand: Operand, part: i32): i32 {
  return load<u8>(operand.partDimensions + <usize>part)
}

/** Number of nodes of a level. */
@inline
export function levelSize(operand: Operand, level: i32): i32 {
  return load<i32>(operand.levelTable + <usize>level * LEVEL_BYTES, 4)
}

/** Returns a pointer to the box of a node. The box of an edge is written to `scratch`. */
@inline
export function nodeBox(operand: Operand, level: i32, index: i32, scratch: usize): usize {
  if (level > 0) return <usize>load<u32>(operand.levelTable + <usize>level * LEVEL_BYTES) + <usize>index * BOX_BYTES
  const from = positionAt(operand, firstVertex(operand, index))
  const to = edgeFlags(operand, index) == 0 ? from : from + ECEF_BYTES
  writeBox(scratch, from, to, sagitta(edgeLength(operand, index)))
  return scratch
}

/**
 * Compares two operands by their inputs and returns a negative number, 0 or a positive number. Equal inputs give equal
 * results.
 */
export function compareOperands(p: Operand, q: Operand): i32 {
  if (p.vertexCount != q.vertexCount) return p.vertexCount - q.vertexCount
  if (p.sequenceCount != q.sequenceCount) return p.sequenceCount - q.sequenceCount
  if (p.partCount != q.partCount) return p.partCount - q.partCount
  for (let i = 0; i < 2 * p.vertexCount; i++) {
    // −0 and 0 compare as equal; all later computations treat them alike.
    const x = load<f64>(p.vertices + ((<usize>i) << 3))
    const y = load<f64>(q.vertices + ((<usize>i) << 3))
    if (x != y) return x < y ? -1 : 1
  }
  const remainingBytes = ((<usize>p.sequenceCount + <usize>p.partCount + 2) << 2) + <usize>p.partCount
  return memory.compare(p.sequenceStarts, q.sequenceStarts, remainingBytes)
}

/** Writes the edges, sequence by sequence in the operand's order. Returns their number. */
function fillEdges(operand: Operand): i32 {
  let count = 0
  for (let i = 0; i < operand.sequenceCount; i++) {
    const sequence = load<i32>(operand.order + ((<usize>i) << 3))
    const start = startAt(operand.sequenceStarts, sequence)
    const last = startAt(operand.sequenceStarts, sequence + 1) - 1
    const isClosed = last > start && lonAt(operand, start) == lonAt(operand, last) &&
      latAt(operand, start) == latAt(operand, last)
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
  return inverse(latAt(operand, v), lonAt(operand, v), latAt(operand, v + 1), lonAt(operand, v + 1)) + 1e-6
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
    widen(box, sagitta(longest))
  }
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
