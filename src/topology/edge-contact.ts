import { orientation } from './orientation.ts'
import { APART, type Contact, CROSS, TOUCH } from './segment-contact.ts'

/**
 * How the segments a–b and c–d in the plane meet. Exact for all segments, those of no length among them.
 */
export function contactOfEdges(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  cx: number,
  cy: number,
  dx: number,
  dy: number,
): Contact {
  const sideC = orientation(ax, ay, bx, by, cx, cy)
  const sideD = orientation(ax, ay, bx, by, dx, dy)
  if ((sideC > 0 && sideD > 0) || (sideC < 0 && sideD < 0)) return APART
  const sideA = orientation(cx, cy, dx, dy, ax, ay)
  const sideB = orientation(cx, cy, dx, dy, bx, by)
  if ((sideA > 0 && sideB > 0) || (sideA < 0 && sideB < 0)) return APART
  if (sideA !== 0 && sideB !== 0 && sideC !== 0 && sideD !== 0) return CROSS
  if (sideA !== 0 || sideB !== 0 || sideC !== 0 || sideD !== 0) return TOUCH
  // On one line: they meet when their ranges do, in both coordinates.
  const isApart =
    Math.max(ax, bx) < Math.min(cx, dx) ||
    Math.max(cx, dx) < Math.min(ax, bx) ||
    Math.max(ay, by) < Math.min(cy, dy) ||
    Math.max(cy, dy) < Math.min(ay, by)
  return isApart ? APART : TOUCH
}

/** Whether the way a → b → c turns back on itself at b. */
export function foldsBack(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): boolean {
  if (orientation(ax, ay, bx, by, cx, cy) !== 0) return false
  return ax === bx && cx === bx ? ay < by === cy < by : ax < bx === cx < bx
}
