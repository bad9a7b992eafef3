import { spendWork } from '../../base/work.ts'

/**
 * Thrown when an exact decision would cost too much. The caller rejects the request and says so: a result is never guessed, and
 * no input may occupy a worker for seconds.
 */
export class UndecidableError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UndecidableError'
  }
}

/** Largest number of crossings found ahead of the sweep line. Each takes about 10 µs. */
const MAX_CROSSINGS = 10_000
/**
 * A unit takes about 0.2 µs. Each segment at a node costs one unit, because thousands of collinear lines all meet at every node.
 */
const MAX_EFFORT = 1_000_000
/** Units per fraction bit of computing a crossing with integers, which have a thousand bits when coordinates are tiny. */
const COMPUTATION_EFFORT = 1 / 12
/** Units per fraction bit of testing whether a segment passes through a crossing. */
const TEST_EFFORT = 1 / 16

/** Units of work (`base/work.ts`) of one crossing found ahead, of one unit of effort with integers, and of one segment at a node. */
const CROSSING_WORK = 12
const INTEGER_EFFORT_WORK = 3 / 8
const SEGMENT_WORK = 1 / 8
/** Units of work of one position that the sweep line passes, beside those of its segments. */
const POSITION_WORK = 3 / 4

/**
 * Limits a sweep, whatever its input is, and counts its work.
 *
 * All methods throw an {@link UndecidableError} when the budget is spent, and a `WorkLimitError` when the request may not spend more
 * work.
 */
export class SweepBudget {
  #crossings = 0
  #units = 0

  /** Counts a position that the sweep line passes. */
  spendOnPosition(): void {
    spendWork(POSITION_WORK)
  }

  /** Counts the comparison of a position with a crossing that has this many fraction bits. */
  spendOnComparison(fractionBits: number): void {
    spendWork(Math.ceil(fractionBits / 16) / 16)
  }

  /** Counts the segments that come to a node and leave it. */
  spendOnNode(segments: number): void {
    this.#spend(segments, SEGMENT_WORK)
  }

  /** Counts a crossing that was found ahead and has this many fraction bits. */
  spendOnCrossing(fractionBits: number): void {
    if (++this.#crossings > MAX_CROSSINGS) {
      throw new UndecidableError(`the geometries cross themselves or each other more than ${MAX_CROSSINGS} times`)
    }
    spendWork(CROSSING_WORK)
    this.#spend(COMPUTATION_EFFORT * fractionBits, INTEGER_EFFORT_WORK)
  }

  /** Counts one test of whether a segment passes through a crossing with this many fraction bits. */
  spendOnCrossingTest(fractionBits: number): void {
    this.#spend(1 + TEST_EFFORT * fractionBits, INTEGER_EFFORT_WORK)
  }

  #spend(units: number, workPerUnit: number): void {
    this.#units += units
    spendWork(workPerUnit * Math.ceil(units))
    if (this.#units > MAX_EFFORT) throw new UndecidableError('too many edges meet at one point or overlap')
  }
}
