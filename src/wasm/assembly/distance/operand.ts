/**
 * An operand of a distance computation: one geometry, laid out in a block of memory. The block holds its vertices, their
 * positions in space, and its edges with a tree of boxes over them.
 *
 * The edges of all lines and rings are in one list, in order along each line; a Point is an edge from its vertex to
 * itself. Neighbours in the list are neighbours on the ground, so the tree needs no sorting of edges.
 */
import { ECEF_BYTES, sagitta } from '../edges/ecef'
import { aligned } from '../math/memory'
import { BOX_BYTES, writeBox, writeBulgingBox } from './box-tree'

/**
 * Bits of an edge's flags. HAS_END: it is a real edge, not a point. OWNS_END: its second end is not the start of
 * another edge.
 */
export const HAS_END: i32 = 1
export const OWNS_END: i32 = 2

export const EDGE_BYTES: usize = 16
/** Bytes of a level's entry: u32 pointer to its boxes, i32 number of boxes. Sixteen levels are enough for 4¹⁵ edges. */
export const LEVEL_BYTES: usize = 8
export const MAX_LEVELS: usize = 16

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
   * Levels of the tree and the table of their boxes. Level 0 consists of the edges, whose boxes are not stored but
   * computed when needed.
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
  /** Number of inverse problems that were solved to prepare it. */
  solutions: i32
  /** First unused byte of the block, while it is being filled. */
  free: usize
}

/** Takes the next bytes of the operand's block. */
export function allocate(operand: Operand, bytes: usize): usize {
  const pointer = operand.free
  operand.free = aligned(pointer + bytes)
  return pointer
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

/** Metres. The boxes of edges that bulge more than this are widened along the bulge only, which takes longer to compute. */
export const LARGE_SAGITTA: f64 = 3000

/** Returns a pointer to the box of a node. The box of an edge is written to `scratch`. */
@inline
export function nodeBox(operand: Operand, level: i32, index: i32, scratch: usize): usize {
  if (level > 0) return <usize>load<u32>(operand.levelTable + <usize>level * LEVEL_BYTES) + <usize>index * BOX_BYTES
  const from = positionAt(operand, firstVertex(operand, index))
  const to = edgeFlags(operand, index) == 0 ? from : from + ECEF_BYTES
  const length = edgeLength(operand, index)
  const margin = sagitta(length)
  if (margin > LARGE_SAGITTA) writeBulgingBox(scratch, from, to, length, margin)
  else writeBox(scratch, from, to, margin)
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
