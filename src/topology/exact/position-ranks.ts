import type { Positions } from './positions.ts'

/** The distinct positions at which segments begin or end, in sweep order. */
export interface PositionRanks {
  /** Rank by position; equal positions share a rank. Meaningless for positions that were not ranked. */
  readonly rank: Int32Array
  /** One position of each rank. */
  readonly representative: Int32Array
  readonly count: number
}

/**
 * Ranks positions by longitude, then latitude.
 *
 * @param selected indices of positions, repetitions allowed; sorted in place
 */
export function rankPositions(positions: Positions, selected: Int32Array): PositionRanks {
  const sorted = mergeSort(positions, selected)
  const rank = new Int32Array(positions.count)
  const representative = new Int32Array(sorted.length)
  let count = 0
  for (let i = 0; i < sorted.length; i++) {
    const position = sorted[i]!
    if (i === 0 || positions.compare(representative[count - 1]!, position) !== 0) representative[count++] = position
    rank[position] = count - 1
  }
  return { rank, representative, count }
}

/** Segments by the rank of one of their ends: rank r has items[from[r]] … items[from[r + 1] − 1]. */
export interface EndBuckets {
  readonly from: Int32Array
  readonly items: Int32Array
}

/**
 * Sorts segments by the rank of one of their ends.
 *
 * @param active the segments
 * @param end by segment, the position of that end
 * @param count number of ranks
 */
export function bucketByEnd(active: Int32Array, end: Int32Array, rank: Int32Array, count: number): EndBuckets {
  const from = new Int32Array(count + 2)
  for (const segment of active) from[rank[end[segment]!]! + 2]!++
  for (let i = 2; i < count + 2; i++) from[i]! += from[i - 1]!
  const items = new Int32Array(active.length)
  for (const segment of active) items[from[rank[end[segment]!]! + 1]!++] = segment
  return { from, items }
}

/** Merge sort, bottom up: three times as fast as `sort` with a comparator, which leaves compiled code for every comparison. */
function mergeSort(positions: Positions, items: Int32Array): Int32Array {
  let from: Int32Array = items
  let to: Int32Array = new Int32Array(items.length)
  for (let width = 1; width < items.length; width *= 2) {
    for (let start = 0; start < items.length; start += 2 * width) {
      const middle = Math.min(start + width, items.length)
      const end = Math.min(middle + width, items.length)
      let i = start
      let j = middle
      // Rings come in sorted runs: two neighbouring runs that are already in order are copied without merging.
      if (middle < end && positions.compare(from[middle - 1]!, from[middle]!) > 0) {
        for (let k = start; k < end; k++) {
          const takesLeft = i < middle && (j >= end || positions.compare(from[i]!, from[j]!) <= 0)
          to[k] = takesLeft ? from[i++]! : from[j++]!
        }
      } else {
        to.set(from.subarray(start, end), start)
      }
    }
    const swapped = from
    from = to
    to = swapped
  }
  return from
}
