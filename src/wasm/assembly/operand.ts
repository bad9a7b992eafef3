/**
 * One geometry of a distance, laid out in a block of memory: its vertices, their positions in space, and its edges with the
 * tree of boxes over them.
 *
 * The edges of all lines and rings stand in one list, in the order in which they follow each other; a Point is an edge
 * from its vertex to itself. Neighbours in the list are neighbours on the ground, so the tree needs no sorting of edges.
 */
import { areDegrees, isClosed } from './contracts'
import { inverse } from './inverse'
import { chordSquare, ECEF_BYTES, LONGEST, longestOver, sagitta, toEcef } from './ecef'
import { ringTablesBytes } from './geodesic-containment'
import { interiorBytes, prepareInteriors } from './interior-tree'
import { aligned } from './memory'
import { mortonOrder } from './morton-order'
import { above, BOX_BYTES, buildBoxes, emptyBox, extend, FANOUT, nodesFrom, putBox, widen } from './box-tree'

/** Bits of an edge's flags: it has an end of its own, and that end is the start of no other edge. */
export const HAS_END: i32 = 1
export const OWNS_END: i32 = 2

const EDGE_BYTES: usize = 16
/** Pointer to the boxes of a level, i32 how many they are. Sixteen levels hold 4¹⁵ edges. */
const LEVEL_BYTES: usize = 8
const MAX_LEVELS: usize = 16

@unmanaged
export class Operand {
  /** Interleaved lon, lat in degrees. */
  vertices: usize
  vertexCount: i32
  /** u32 offsets as in FlatGeometry, and one u8 a part with its dimension. */
  sequenceStarts: usize
  sequenceCount: i32
  partStarts: usize
  partDimensions: usize
  partCount: i32
  /** x, y, z of each vertex. */
  positions: usize
  /** Sequences along a space-filling curve: 8 bytes each, the index in the lower half. */
  order: usize
  edgeCount: i32
  /** 16 bytes each: i32 index of the first vertex, i32 flags, f64 length in metres or a little more. */
  edges: usize
  /** Levels of the tree, the edges being level 0, and where the boxes of each are; those of edges are never stored. */
  levelCount: i32
  levelTable: usize
  /** Tables of the rings: `geodesic-containment.ts`. */
  rings: usize
  /** Boxes of the interiors of polygons, the part of each, and their numbers: `interior-tree.ts`. */
  interiors: usize
  interiorParts: usize
  interiorCount: i32
  interiorLevels: i32
}

// The part of the block that is not yet given away.
let free: usize = 0

/** The next bytes of the block that is being filled. */
export function take(bytes: usize): usize {
  const pointer = free
  free = aligned(free + bytes)
  return pointer
}

/** Bytes that an operand of these sizes needs at most. */
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
    aligned(<usize>nodesFrom(above(vertexCount)) * BOX_BYTES) +
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
 * Where the host writes a geometry before `prepareOperand`, without gaps: the vertices (lon, lat in degrees), the
 * sequenceCount + 1 u32 offsets of sequences, the partCount + 1 u32 offsets of parts, one u8 a part with its dimension.
 *
 * @param block pointer to `operandBytes`
 */
export function operandInputs(block: usize): usize {
  assert(block != 0 && (block & 15) == 0, 'operandInputs: a block is aligned to 16 bytes')
  return block + aligned(offsetof<Operand>())
}

/**
 * Prepares the geometry that was written to `operandInputs`. The operand fills the block and knows nothing outside it, so it
 * lives as long as nobody else writes there.
 *
 * @param block pointer to `operandBytes` of these sizes; from now on a pointer to an Operand
 */
export function prepareOperand(block: usize, vertexCount: i32, sequenceCount: i32, partCount: i32): void {
  const blockEnd = block + operandBytes(vertexCount, sequenceCount, partCount)
  assert(blockEnd <= (<usize>memory.size()) << 16, 'prepareOperand: the block must be in memory')
  const operand = changetype<Operand>(block)
  free = operandInputs(block)
  operand.vertices = take(inputBytes(vertexCount, sequenceCount, partCount))
  operand.vertexCount = vertexCount
  operand.sequenceStarts = operand.vertices + ((<usize>vertexCount) << 4)
  operand.sequenceCount = sequenceCount
  operand.partStarts = operand.sequenceStarts + ((<usize>sequenceCount + 1) << 2)
  operand.partDimensions = operand.partStarts + ((<usize>partCount + 1) << 2)
  operand.partCount = partCount
  assert(areDegrees(operand.vertices, vertexCount), 'prepareOperand: vertices must be finite and in range')
  checkStarts(operand)
  operand.positions = take(<usize>vertexCount * ECEF_BYTES)
  operand.order = take((<usize>sequenceCount) << 3)
  // A sequence of n vertices has at most n edges: one less, or the one of a point.
  operand.edges = take(<usize>vertexCount * EDGE_BYTES)
  operand.levelTable = take(MAX_LEVELS * LEVEL_BYTES)
  toEcef(operand.vertices, vertexCount, operand.positions)
  mortonOrder(operand.positions, operand.sequenceStarts, sequenceCount, operand.order, operand.edges)
  operand.edgeCount = listEdges(operand)
  const boxes = take(<usize>nodesFrom(above(operand.edgeCount)) * BOX_BYTES)
  boundLeaves(operand, boxes)
  buildBoxes(boxes, above(operand.edgeCount))
  listLevels(operand, boxes)
  prepareInteriors(operand)
  assert(free <= blockEnd, 'prepareOperand: an operand must fit its block')
}

/** Asserts what a FlatGeometry promises of its offsets. */
function checkStarts(operand: Operand): void {
  if (ASC_NO_ASSERT) return
  const sequences = operand.sequenceStarts
  const parts = operand.partStarts
  assert(startOf(sequences, 0) == 0 && startOf(sequences, operand.sequenceCount) == operand.vertexCount, 'the sequences must hold all vertices')
  assert(startOf(parts, 0) == 0 && startOf(parts, operand.partCount) == operand.sequenceCount, 'the parts must hold all sequences')
  for (let s = 0; s < operand.sequenceCount; s++) {
    assert(startOf(sequences, s) < startOf(sequences, s + 1), 'a sequence must have a vertex')
  }
  for (let part = 0; part < operand.partCount; part++) {
    const dimension = dimensionOf(operand, part)
    assert(startOf(parts, part) < startOf(parts, part + 1), 'a part must have a sequence')
    assert(dimension <= 2, 'a dimension must be 0, 1 or 2')
    for (let s = startOf(parts, part); s < startOf(parts, part + 1); s++) {
      const first = startOf(sequences, s)
      const count = startOf(sequences, s + 1) - first
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
export function flagsOf(operand: Operand, edge: i32): i32 {
  return load<i32>(operand.edges + <usize>edge * EDGE_BYTES, 4)
}

/** Length of an edge, or a little more. */
@inline
export function lengthOf(operand: Operand, edge: i32): f64 {
  return load<f64>(operand.edges + <usize>edge * EDGE_BYTES, 8)
}

@inline
export function startOf(starts: usize, index: i32): i32 {
  return load<i32>(starts + ((<usize>index) << 2))
}

@inline
export function dimensionOf(operand: Operand, part: i32): i32 {
  return load<u8>(operand.partDimensions + <usize>part)
}

/** Nodes of a level. */
@inline
export function levelSize(operand: Operand, level: i32): i32 {
  return load<i32>(operand.levelTable + <usize>level * LEVEL_BYTES, 4)
}

/** The box of a node; that of an edge is written to `scratch`. */
@inline
export function boxOf(operand: Operand, level: i32, index: i32, scratch: usize): usize {
  if (level > 0) return <usize>load<u32>(operand.levelTable + <usize>level * LEVEL_BYTES) + <usize>index * BOX_BYTES
  const from = positionAt(operand, firstVertex(operand, index))
  const to = flagsOf(operand, index) == 0 ? from : from + ECEF_BYTES
  putBox(scratch, from, to, sagitta(lengthOf(operand, index)))
  return scratch
}

/** The same numbers in the same order: what is computed from either operand is the same. 0 equal, else the sign. */
export function compareOperands(p: Operand, q: Operand): i32 {
  if (p.vertexCount != q.vertexCount) return p.vertexCount - q.vertexCount
  if (p.sequenceCount != q.sequenceCount) return p.sequenceCount - q.sequenceCount
  if (p.partCount != q.partCount) return p.partCount - q.partCount
  for (let i = 0; i < 2 * p.vertexCount; i++) {
    // −0 and 0 are one number to everything that follows.
    const x = load<f64>(p.vertices + ((<usize>i) << 3))
    const y = load<f64>(q.vertices + ((<usize>i) << 3))
    if (x != y) return x < y ? -1 : 1
  }
  const rest = ((<usize>p.sequenceCount + <usize>p.partCount + 2) << 2) + <usize>p.partCount
  return memory.compare(p.sequenceStarts, q.sequenceStarts, rest)
}

/** Writes the edges, sequence by sequence in the operand's order; returns how many there are. */
function listEdges(operand: Operand): i32 {
  let count = 0
  for (let i = 0; i < operand.sequenceCount; i++) {
    const sequence = load<i32>(operand.order + ((<usize>i) << 3))
    const start = startOf(operand.sequenceStarts, sequence)
    const last = startOf(operand.sequenceStarts, sequence + 1) - 1
    const isClosed = last > start && lonAt(operand, start) == lonAt(operand, last) &&
      latAt(operand, start) == latAt(operand, last)
    for (let v = start; v < last || v == start; v++) {
      const flags = last == start ? 0 : v == last - 1 && !isClosed ? HAS_END | OWNS_END : HAS_END
      const at = operand.edges + <usize>count * EDGE_BYTES
      store<i32>(at, v)
      store<i32>(at, flags, 4)
      store<f64>(at, flags == 0 ? 0 : boundLength(operand, v), 8)
      count++
    }
  }
  return count
}

/** The length of the edge that starts at a vertex, or a little more. */
function boundLength(operand: Operand, v: i32): f64 {
  const from = positionAt(operand, v)
  const length = longestOver(Math.sqrt(chordSquare(from, from + ECEF_BYTES)))
  if (length < LONGEST) return length
  return inverse(latAt(operand, v), lonAt(operand, v), latAt(operand, v + 1), lonAt(operand, v + 1)) + 1e-6
}

/** The boxes of level 1: they hold the geodesics over their edges, not only the chords. */
function boundLeaves(operand: Operand, boxes: usize): void {
  for (let edge = 0, box = boxes; edge < operand.edgeCount; box += BOX_BYTES) {
    const last = min(edge + FANOUT, operand.edgeCount)
    let longest: f64 = 0
    emptyBox(box)
    for (; edge < last; edge++) {
      const from = positionAt(operand, firstVertex(operand, edge))
      extend(box, from)
      if (flagsOf(operand, edge) != 0) extend(box, from + ECEF_BYTES)
      longest = Math.max(longest, lengthOf(operand, edge))
    }
    widen(box, sagitta(longest))
  }
}

function listLevels(operand: Operand, boxes: usize): void {
  let size = operand.edgeCount
  let level = 0
  store<i32>(operand.levelTable, size, 4)
  while (size > 1) {
    size = above(size)
    level++
    store<u32>(operand.levelTable + <usize>level * LEVEL_BYTES, <u32>boxes)
    store<i32>(operand.levelTable + <usize>level * LEVEL_BYTES, size, 4)
    boxes += <usize>size * BOX_BYTES
  }
  operand.levelCount = level + 1
}
