/** What a question looks at while the sweep goes on; answering false ends it. */
export interface SweepVisitor {
  /** The insides of two segments are about to cross at one point. */
  crossing(lower: number, upper: number): boolean
  /**
   * A piece leaves a node to the right: the collinear segments `outgoing[from]` … `outgoing[to − 1]`. The depths below and
   * above it stand in the sweep.
   */
  piece(outgoing: readonly number[], from: number, to: number): boolean
  /** Everything that meets at a position. */
  node(node: SweepNode): boolean
}

/** A position and what meets there: segments from the left and to the right, each from bottom to top, and points. */
export interface SweepNode {
  position: number
  incoming: number[]
  outgoing: number[]
  /** Segments of dimension 0. */
  points: number[]
  /** Least and greatest depth of the sectors around it; only kept when points is not empty. */
  least0: number
  most0: number
  least1: number
  most1: number
}
