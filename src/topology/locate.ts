import type { Scene } from './scene.ts'

/** How many polygons of each operand cover a place that lies on none of their rings. */
export interface Depths {
  readonly depth0: number
  readonly depth1: number
}

/** Which edges of rings count: those whose mark equals the value (`isEqual`), or all others. */
export interface Counted {
  /** By segment: the operands or the sequences of the scene. */
  readonly marks: Uint8Array | Int32Array
  readonly value: number
  readonly isEqual: boolean
}

/**
 * Depths at a position by one pass over the rings of a scene: the sum of the steps of all edges below it.
 *
 * @returns undefined when the position lies on an edge that counts
 */
export function depthsAt(scene: Scene, position: number, { marks, value, isEqual }: Counted): Depths | undefined {
  const { positions, left, right, dimension, step0, step1 } = scene
  let depth0 = 0
  let depth1 = 0
  for (let s = 0; s < scene.count; s++) {
    if (dimension[s] !== 2 || (marks[s] === value) !== isEqual) continue
    // The vertical line through the position, tilted infinitely little so that it meets no other position.
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
