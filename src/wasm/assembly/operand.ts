/**
 * One geometry of a distance, laid out in the arena: its vertices, their positions in space, and its edges with the tree
 * of boxes over them.
 *
 * The edges of all lines and rings stand in one list, in the order in which they follow each other; a Point is an edge
 * from its vertex to itself. Neighbours in the list are neighbours on the ground, so the tree needs no sorting of edges.
 */
import { inverse } from './inverse'
import { chordSquare, ECEF_BYTES, LONGEST, longestOver, sagitta, toEcef } from './ecef'
import { reserve } from './memory'
import { mortonOrder } from './morton-order'
import { boxBytes, buildBoxes, putBox } from './box-tree'

/** Bits of an edge's flags: it has an end of its own, and that end is the start of no other edge. */
export const HAS_END: i32 = 1
export const OWNS_END: i32 = 2

const EDGE_BYTES: usize = 16

@unmanaged
export class Operand {
  /** Interleaved lon, lat in degrees. */
  vertices: usize
  vertexCount: i32
  /** u32 offsets as in FlatGeometry, and one u32 a part with its dimension. */
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
  /** Boxes of the edges, then of each level above; `box-tree.ts`. */
  boxes: usize
  levels: i32
  /** Tables of the rings: `geodesic-containment.ts`. */
  rings: usize
  /** Boxes of the interiors of polygons, the part of each, and their numbers: `interior-tree.ts`. */
  interiors: usize
  interiorParts: usize
  interiorCount: i32
  interiorLevels: i32
}

/**
 * Prepares a geometry; everything lives in the arena until it is released.
 *
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param sequenceStarts pointer to sequenceCount + 1 offsets counted in vertices
 * @param partStarts pointer to partCount + 1 offsets counted in sequences
 * @param partDimensions pointer to one u32 a part
 * @returns pointer to an Operand, 0 when the memory cannot grow
 */
export function prepareOperand(
  vertices: usize, sequenceStarts: usize, sequenceCount: i32, partStarts: usize, partDimensions: usize, partCount: i32,
): usize {
  const pointer = reserve(offsetof<Operand>())
  const vertexCount = load<i32>(sequenceStarts + ((<usize>sequenceCount) << 2))
  const positions = reserve(<usize>vertexCount * ECEF_BYTES)
  const order = reserve((<usize>sequenceCount) << 3)
  // A sequence of n vertices has at most n edges: one less, or the one of a point.
  const edges = reserve(<usize>vertexCount * EDGE_BYTES)
  const boxes = reserve(boxBytes(vertexCount))
  if (pointer == 0 || positions == 0 || order == 0 || edges == 0 || boxes == 0) return 0
  const operand = changetype<Operand>(pointer)
  operand.vertices = vertices
  operand.vertexCount = vertexCount
  operand.sequenceStarts = sequenceStarts
  operand.sequenceCount = sequenceCount
  operand.partStarts = partStarts
  operand.partDimensions = partDimensions
  operand.partCount = partCount
  operand.positions = positions
  operand.edges = edges
  operand.boxes = boxes
  operand.order = order
  operand.rings = 0
  operand.interiors = 0
  toEcef(vertices, vertexCount, positions)
  mortonOrder(positions, sequenceStarts, sequenceCount, order)
  operand.edgeCount = listEdges(operand, order)
  for (let e = 0; e < operand.edgeCount; e++) boundEdge(operand, e)
  operand.levels = buildBoxes(boxes, operand.edgeCount)
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

/** Writes the edges, sequence by sequence in the given order; returns how many there are. */
function listEdges(operand: Operand, order: usize): i32 {
  let count = 0
  for (let i = 0; i < operand.sequenceCount; i++) {
    const sequence = load<i32>(order + ((<usize>i) << 3))
    const start = startOf(operand.sequenceStarts, sequence)
    const last = startOf(operand.sequenceStarts, sequence + 1) - 1
    const isClosed = last > start && lonAt(operand, start) == lonAt(operand, last) &&
      latAt(operand, start) == latAt(operand, last)
    for (let v = start; v < last || v == start; v++) {
      const at = operand.edges + <usize>count * EDGE_BYTES
      store<i32>(at, v)
      store<i32>(at, last == start ? 0 : v == last - 1 && !isClosed ? HAS_END | OWNS_END : HAS_END, 4)
      count++
    }
  }
  return count
}

function boundEdge(operand: Operand, edge: i32): void {
  const v = firstVertex(operand, edge)
  const from = positionAt(operand, v)
  const hasEnd = flagsOf(operand, edge) != 0
  const to = hasEnd ? from + ECEF_BYTES : from
  let length = longestOver(Math.sqrt(chordSquare(from, to)))
  if (length == LONGEST) {
    length = inverse(latAt(operand, v), lonAt(operand, v), latAt(operand, v + 1), lonAt(operand, v + 1)) + 1e-6
  }
  store<f64>(operand.edges + <usize>edge * EDGE_BYTES, length, 8)
  putBox(operand.boxes, edge, from, to, sagitta(length))
}
