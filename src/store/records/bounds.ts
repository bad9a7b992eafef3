import type { Bounds } from '../../wire/store-messages.ts'

/** Formats a box as PostgreSQL writes it: upper right corner, then lower left corner. */
export function formatBox([west, south, east, north]: Bounds): string {
  return `(${east},${north}),(${west},${south})`
}

/**
 * Returns the boxes to compare with stored bounds for one box of a client. The west edge of stored bounds lies in
 * −180..180 and the east edge may exceed 180. So the box is also searched 360° further east and, where it reaches the
 * antimeridian or beyond, 360° further west.
 *
 * @param bbox crosses the antimeridian when east is below west
 */
export function searchBoxes([west, south, east, north]: Bounds): readonly Bounds[] {
  const end = east < west ? east + 360 : east
  if (end - west >= 360) return [[-180, south, 540, north]]
  return [0, 360, -360]
    .map((shift): Bounds => [west + shift, south, end + shift, north])
    .filter(([low, , high]) => high >= -180 && low <= 540)
}
