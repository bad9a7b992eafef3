/** Distances between positions and the edges of an operand. */
import { ECEF_BYTES, LEAN, offsetRounding, PLANAR, planeOffset, sagitta, segmentDistanceSquare } from './ecef'
import { firstVertex, flagsOf, latAt, lengthOf, lonAt, Operand, positionAt } from './operand'
import { distanceToEdge, setEdge } from './point-edge'

// The edge that `setEdge` was last called for: a search asks for the same one many times.
let lastOperand: usize = 0
let lastEdge: i32 = -1

/** Forgets that edge: its operand is gone, or somebody else has called `setEdge`. */
export function forgetEdge(): void {
  lastOperand = 0
}

/** Least chord between a position and the geodesic of an edge, or less; may be negative. */
export function chordToEdge(position: usize, operand: Operand, edge: i32): f64 {
  const start = positionAt(operand, firstVertex(operand, edge))
  const end = flagsOf(operand, edge) == 0 ? start : start + ECEF_BYTES
  const length = lengthOf(operand, edge)
  const height = sagitta(length)
  const chord = Math.sqrt(segmentDistanceSquare(position, start, end)) - height
  if (length == 0 || length > PLANAR) return chord
  // The sagitta points downwards: sideways the edge is where its plane is, to a small share of that.
  return Math.max(chord, Math.abs(planeOffset(position, start, end)) - LEAN * height - offsetRounding)
}

/** The distance from a vertex to the edge of an operand; see `distanceToEdge` about `cutoff`. */
export function toEdge(from: Operand, v: i32, operand: Operand, edge: i32, cutoff: f64): f64 {
  if (lastOperand != changetype<usize>(operand) || lastEdge != edge) {
    const w = firstVertex(operand, edge)
    const start = positionAt(operand, w)
    setEdge(
      latAt(operand, w), lonAt(operand, w), start,
      latAt(operand, w + 1), lonAt(operand, w + 1), start + ECEF_BYTES,
    )
    lastOperand = changetype<usize>(operand)
    lastEdge = edge
  }
  return distanceToEdge(latAt(from, v), lonAt(from, v), positionAt(from, v), cutoff)
}
