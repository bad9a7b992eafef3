import type { SegmentSet } from '../layout/scene.ts'

/** How many polygons of each geometry cover a position that lies on none of their rings. */
export interface Depths {
  readonly depth0: number
  readonly depth1: number
}

/** Selects the edges of rings that count: those whose mark equals the value (`isEqual`), or all others. */
export interface RingEdgeFilter {
  /** By segment: the operands or the sequences of the segment set. */
  readonly marks: Uint8Array | Int32Array
  readonly value: number
  readonly isEqual: boolean
}

/**
 * Finds the depths at a position in one pass over all edges of rings: the sum of the steps of those below it.
 *
 * @returns undefined when the position lies on an edge that counts
 */
export function depthsAt(
  segments: SegmentSet,
  position: number,
  { marks, value, isEqual }: RingEdgeFilter,
): Depths | undefined {
  const { positions, left, right, dimension, step0, step1 } = segments
  let depth0 = 0
  let depth1 = 0
  for (let s = 0; s < segments.count; s++) {
    if (dimension[s] !== 2 || (marks[s] === value) !== isEqual) continue
    // The vertical line through the position, tilted by an infinitesimal angle so that it meets no other position.
    const fromLeft = positions.compare(left[s]!, position)
    if (fromLeft > 0) continue
    const toRight = positions.compare(position, right[s]!)
    if (toRight > 0) continue
    const side = fromLeft === 0 || toRight === 0 ? 0 : positions.orientation(left[s]!, right[s]!, position)
    if (side === 0) return undefined
    if (side < 0) continue
    depth0 += step0[s]!
    depth1 += step1[s]!
  }
  return { depth0, depth1 }
}
