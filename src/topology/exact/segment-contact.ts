import type { SegmentSet } from '../layout/scene.ts'

/** How two segments meet. */
export const APART = 0
/** They share an end, an end of one lies on the other, or they overlap. */
export const TOUCH = 1
/** Their interiors cross at one point. */
export const CROSS = 2
export type Contact = typeof APART | typeof TOUCH | typeof CROSS

/** Returns how two segments meet. Exact for all segments, including points, which are segments of zero length. */
export function findSegmentContact({ positions, left, right }: SegmentSet, s: number, t: number): Contact {
  const a = left[s]!
  const b = right[s]!
  const c = left[t]!
  const d = right[t]!
  const sideC = Math.sign(positions.orientation(a, b, c))
  const sideD = Math.sign(positions.orientation(a, b, d))
  if (sideC * sideD > 0) return APART
  const sideA = Math.sign(positions.orientation(c, d, a))
  const sideB = Math.sign(positions.orientation(c, d, b))
  if (sideA * sideB > 0) return APART
  if (sideA === 0 && sideB === 0 && sideC === 0 && sideD === 0) {
    return positions.compare(a, d) <= 0 && positions.compare(c, b) <= 0 ? TOUCH : APART
  }
  return sideA * sideB < 0 && sideC * sideD < 0 ? CROSS : TOUCH
}

/** Tells whether two segments that share a position share more than that. */
export function doOverlap({ positions, left, right }: SegmentSet, s: number, t: number): boolean {
  const a = left[s]!
  const b = right[s]!
  const c = left[t]!
  const d = right[t]!
  if (positions.orientation(a, b, c) !== 0 || positions.orientation(a, b, d) !== 0) return false
  return positions.compare(a, d) < 0 && positions.compare(c, b) < 0
}
