import { UndecidableError } from './undecidable.ts'

/** Crossings found ahead; about 10 µs each. */
const MAX_CROSSINGS = 10_000
/** About 0.2 µs a unit. A segment at a node is one: thousands of lines on one line would all meet at every position. */
const MAX_EFFORT = 1_000_000
/** By binary place of a crossing: making it by integers, which have a thousand places when coordinates are tiny. */
const MAKING_EFFORT = 1 / 12
/** By binary place of a crossing: asking whether one segment passes there. */
const ASKING_EFFORT = 1 / 16

/**
 * What a sweep may do before it gives up: about 0.3 s, whatever it is given.
 *
 * All methods throw an {@link UndecidableError} when it is spent.
 */
export class SweepBudget {
  #crossings = 0
  #effort = 0

  /** So many segments come to a node and leave it. */
  meet(segments: number): void {
    this.#spend(segments)
  }

  /** A crossing with so many binary places was found ahead. */
  makeCrossing(places: number): void {
    if (++this.#crossings > MAX_CROSSINGS) {
      throw new UndecidableError(`the geometries cross themselves or each other more than ${MAX_CROSSINGS} times`)
    }
    this.#spend(MAKING_EFFORT * places)
  }

  /** A segment is asked whether it passes a crossing with so many binary places. */
  askCrossing(places: number): void {
    this.#spend(1 + ASKING_EFFORT * places)
  }

  #spend(effort: number): void {
    this.#effort += effort
    if (this.#effort > MAX_EFFORT) throw new UndecidableError('too many edges meet in one place or lie on each other')
  }
}
