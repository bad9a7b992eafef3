/**
 * Counts the work of one request, so that no request takes long whatever its input is. The count depends only on the input, never
 * on the machine: everything that may be done very often spends a fixed number of units. A unit is about the time of one solution of
 * the inverse geodesic problem, 0.8 µs.
 *
 * The count in use is global. Passed as an argument, it would have to go through every function that compares two edges.
 */

/** Thrown when a request needs more work than its limit. */
export class WorkLimitError extends Error {
  override readonly name = 'WorkLimitError'
}

/** The work of one request so far, and its limit, in units. */
export class Work {
  readonly limit: number
  /** May exceed the limit by the last step. */
  done = 0

  /** @param limit units; Infinity for no limit */
  constructor(limit: number) {
    this.limit = limit
  }

  /** Whole units counted so far. */
  get units(): number {
    return Math.floor(this.done)
  }
}

const UNLIMITED = Number.POSITIVE_INFINITY
let current = new Work(UNLIMITED)

/**
 * Runs a computation whose work is added to `work`. It must be synchronous. Outside of such a call, work has no limit. A call within
 * another has a limit of its own, and its work counts for both.
 */
export function countWork<T>(work: Work, compute: () => T): T {
  const outer = current
  const before = work.done
  current = work
  try {
    return compute()
  } finally {
    current = outer
    if (work !== outer) outer.done += work.done - before
  }
}

/**
 * Counts work of the computation that is running.
 *
 * @param units a multiple of 1/64, so that sums are exact
 * @throws {WorkLimitError} when the limit is exceeded
 */
export function spendWork(units: number): void {
  current.done += units
  if (current.done > current.limit) {
    throw new WorkLimitError(`${current.units} units of work were counted, and the limit is ${current.limit}`)
  }
}

/** Units that the running computation may still spend, at least 0. */
export function remainingWork(): number {
  return Math.max(0, current.limit - current.done)
}

/** Units that the running computation has spent. */
export function workSoFar(): number {
  return current.done
}
