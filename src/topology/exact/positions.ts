import { exactOrientation } from './exact.ts'
import { FILTER, orientation } from './orientation.ts'

/**
 * The positions that take part in one predicate, with the two exact relations on which everything else rests: the order of two
 * positions, and the orientation of three.
 *
 * When no edge crosses ±180, a position is its lon and lat. Otherwise it is (lon, turn, lat), at the longitude lon + 360 · turn
 * of the unrolled cylinder. Decisions never use that sum, because a double would round it (−0.1 + 360 has three bits fewer). lon
 * is normalised to [−180, 180), so longitudes compare exactly by turn, then lon. In an orientation test equal turns cancel out.
 * Where turns differ, a filter on the rounded longitudes decides, with the rounding in its bound, or else integers do.
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
