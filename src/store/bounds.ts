import type { Bounds } from '../store-messages.ts'

/** A box as the database writes it: upper right, then lower left corner. */
export function boxText([west, south, east, north]: Bounds): string {
  return `(${east},${north}),(${west},${south})`
}

/**
 * Boxes that records' bounds are compared with, for a box that a client asks for. Stored bounds begin within −180..180 and
 * may reach past 180, so each box is looked for one turn further east as well, and, where it begins or ends at the
 * antimeridian or past it, one turn further west.
 *
 * @param bbox east below west crosses the antimeridian
 */
export function searchBoxes([west, south, east, north]: Bounds): readonly Bounds[] {
  const end = east < west ? east + 360 : east
  if (end - west >= 360) return [[-180, south, 540, north]]
  return [0, 360, -360]
    .map((turn): Bounds => [west + turn, south, end + turn, north])
    .filter(([low, , high]) => high >= -180 && low <= 540)
}
