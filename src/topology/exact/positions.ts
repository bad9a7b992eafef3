import { exactOrientation, FILTER, orientation } from './exact.ts'

/**
 * The positions that take part in one predicate, with the two exact relations on which everything else rests: the order of two
 * positions, and the orientation of three.
 *
 * When no edge crosses ±180, a position is its lon and lat. Otherwise it is (lon, turn, lat), at the longitude lon + 360 · turn
 * of the unrolled cylinder. Decisions never use that sum, because a double would round it (−0.1 + 360 loses twelve bits). lon is
 * normalised to [−180, 180), so longitudes compare exactly by turn, then lon. In an orientation test equal turns cancel out.
 * Where turns differ, a filter on the rounded longitudes decides if its bound, which includes the rounding, allows it; otherwise
 * exact integers decide.
 */
export class Positions {
  /** True when no edge crosses ±180: lon is as received and all turns are 0. */
  readonly planar: boolean
  count = 0
  lon: Float64Array
  lat: Float64Array
  turn: Int32Array
  /** lon + 360 · turn, rounded: for boxes, filters and messages only. */
  x: Float64Array

  constructor(capacity: number, planar: boolean) {
    this.planar = planar
    this.lon = new Float64Array(capacity)
    this.lat = new Float64Array(capacity)
    this.turn = new Int32Array(planar ? 0 : capacity)
    this.x = planar ? this.lon : new Float64Array(capacity)
  }

  /** @returns the index of the new position */
  add(lon: number, lat: number, turn: number): number {
    if (this.count === this.lat.length) this.#grow()
    const index = this.count++
    this.lat[index] = lat
    if (this.planar) {
      this.lon[index] = lon
      return index
    }
    const isEast = lon === 180
    this.lon[index] = isEast ? -180 : lon
    this.turn[index] = isEast ? turn + 1 : turn
    this.x[index] = lon + 360 * turn
    return index
  }

  /** Compares two positions by longitude, then latitude: negative when i comes before j, 0 only when they are equal. */
  compare(i: number, j: number): number {
    if (!this.planar && this.turn[i] !== this.turn[j]) return this.turn[i]! - this.turn[j]!
    const a = this.lon[i]!
    const b = this.lon[j]!
    if (a !== b) return a < b ? -1 : 1
    const c = this.lat[i]!
    const d = this.lat[j]!
    return c === d ? 0 : c < d ? -1 : 1
  }

  /** Orientation test: positive when k lies to the left of the line i → j, negative to the right, 0 on it. */
  orientation(i: number, j: number, k: number): number {
    const { lon, lat, turn, x } = this
    if (this.planar || (turn[i] === turn[j] && turn[i] === turn[k])) {
      return orientation(lon[i]!, lat[i]!, lon[j]!, lat[j]!, lon[k]!, lat[k]!)
    }
    const ay = lat[i]! - lat[k]!
    const by = lat[j]! - lat[k]!
    const left = (x[i]! - x[k]!) * by
    const right = ay * (x[j]! - x[k]!)
    const rounding = 2 ** -51 * (Math.abs(x[i]!) + Math.abs(x[j]!) + Math.abs(x[k]!)) * (Math.abs(ay) + Math.abs(by))
    const bound = 2 * FILTER * (Math.abs(left) + Math.abs(right)) + rounding
    if (bound > 1e-250 && Math.abs(left - right) > bound) return left - right
    return exactOrientation(lon[i]!, lat[i]!, turn[i]!, lon[j]!, lat[j]!, turn[j]!, lon[k]!, lat[k]!, turn[k]!)
  }

  #grow(): void {
    const capacity = 2 * this.lat.length + 16
    const grown = (from: Float64Array): Float64Array => {
      const to = new Float64Array(capacity)
      to.set(from)
      return to
    }
    this.lon = grown(this.lon)
    this.lat = grown(this.lat)
    if (this.planar) {
      this.x = this.lon
      return
    }
    this.x = grown(this.x)
    const turn = new Int32Array(capacity)
    turn.set(this.turn)
    this.turn = turn
  }
}

/** The distinct positions at which segments begin or end, in sweep order. */
interface PositionRanks {
  /** Rank by position; equal positions share a rank. Meaningless for positions that were not ranked. */
  readonly rank: Int32Array
  /** One position of each rank. */
  readonly representative: Int32Array
  readonly count: number
}

/**
 * Ranks positions by longitude, then latitude.
 *
 * @param selected indices of positions, repetitions allowed; overwritten
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

/** Bottom-up merge sort; overwrites `items`. Three times as fast as `sort`, which calls a comparator from native code. */
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
