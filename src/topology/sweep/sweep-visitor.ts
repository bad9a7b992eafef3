/**
 * Receives the arrangement of the segments while the sweep line moves over it. A method that returns false ends the sweep.
 *
 * The arrangement is the subdivision of the plane by all segments. Its vertices are called nodes and its edges pieces, because a
 * geometry has vertices and edges of its own.
 */
export interface SweepVisitor {
  /** The interiors of two segments are about to cross at one point. */
  visitCrossing(lower: number, upper: number): boolean
  /**
   * A piece leaves a node to the right: the collinear segments `outgoing[from]` … `outgoing[to − 1]`. The sweep holds the depths
   * below and above it.
   */
  visitPiece(outgoing: readonly number[], from: number, to: number): boolean
  /** Everything that meets at a position. Crossings are not reported here. */
  visitNode(node: SweepNode): boolean
}

/**
 * A position and what meets there: segments that come from the left and leave to the right, each from bottom to top, and points.
 */
export interface SweepNode {
  position: number
  incoming: number[]
  outgoing: number[]
  /** Segments of dimension 0. */
  points: number[]
  /** Least and greatest depth of the sectors around the position; valid only when `points` is not empty. */
  minDepth0: number
  maxDepth0: number
  minDepth1: number
  maxDepth1: number
}
