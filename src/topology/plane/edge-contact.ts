import { FILTER, orientation } from '../exact/orientation.ts'
import { APART, type Contact, CROSS, TOUCH } from '../exact/segment-contact.ts'

/** Products below this may have lost bits to underflow. */
const SMALLEST_PRODUCT = 1e-250

/** Tells whether c and d certainly lie on the same side of the line a → b. This is the common case; floating point decides it. */
function areCertainlyOnOneSide(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  cx: number,
  cy: number,
  dx: number,
  dy: number,
): boolean {
  const ux = bx - ax
  const uy = by - ay
  const left1 = ux * (cy - ay)
  const right1 = uy * (cx - ax)
  const left2 = ux * (dy - ay)
  const right2 = uy * (dx - ax)
  // Both sides exceed the error bound and have the same sign.
  const bound = FILTER * (Math.abs(left1) + Math.abs(right1) + Math.abs(left2) + Math.abs(right2)) + SMALLEST_PRODUCT
  const side1 = left1 - right1
  const side2 = left2 - right2
  return (side1 > bound && side2 > bound) || (side1 < -bound && side2 < -bound)
}

/** Returns how the segments a–b and c–d in the plane meet. Exact for all segments, including those of zero length. */
export function findEdgeContact(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  cx: number,
  cy: number,
  dx: number,
  dy: number,
): Contact {
  if (areCertainlyOnOneSide(ax, ay, bx, by, cx, cy, dx, dy)) return APART
  if (areCertainlyOnOneSide(cx, cy, dx, dy, ax, ay, bx, by)) return APART
  const sideC = orientation(ax, ay, bx, by, cx, cy)
  const sideD = orientation(ax, ay, bx, by, dx, dy)
  if ((sideC > 0 && sideD > 0) || (sideC < 0 && sideD < 0)) return APART
  const sideA = orientation(cx, cy, dx, dy, ax, ay)
  const sideB = orientation(cx, cy, dx, dy, bx, by)
  if ((sideA > 0 && sideB > 0) || (sideA < 0 && sideB < 0)) return APART
  if (sideA !== 0 && sideB !== 0 && sideC !== 0 && sideD !== 0) return CROSS
  if (sideA !== 0 || sideB !== 0 || sideC !== 0 || sideD !== 0) return TOUCH
  // All four are collinear: the segments meet if their ranges overlap in both coordinates.
  const isApart =
    Math.max(ax, bx) < Math.min(cx, dx) ||
    Math.max(cx, dx) < Math.min(ax, bx) ||
    Math.max(ay, by) < Math.min(cy, dy) ||
    Math.max(cy, dy) < Math.min(ay, by)
  return isApart ? APART : TOUCH
}

/** Tells whether the path a → b → c turns back on itself at b. */
export function foldsBack(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): boolean {
  if (orientation(ax, ay, bx, by, cx, cy) !== 0) return false
  return ax === bx && cx === bx ? ay < by === cy < by : ax < bx === cx < bx
}
