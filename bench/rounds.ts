/**
 * Measures several implementations of the same computation alternately. Every contender runs once in each round, so that load on
 * the machine affects all of them, and ratios are taken within a round.
 */

export interface Sample {
  /** Time of one call. */
  readonly nanoseconds: number
  /** The result of the call, which is compared between contenders; NaN if there is nothing to compare. */
  readonly result: number
}

export interface Contender {
  readonly name: string
  /** Warms up, then measures for about this time. */
  readonly round: (milliseconds: number) => Sample
}

/** One computation by several contenders. The first of them is Trigpoint. */
export interface Row {
  readonly name: string
  /** Number of edges, pairs or points that one call handles. */
  readonly items: number
  /** What one item is: `edge`, `pair`, `call`. */
  readonly item: string
  readonly contenders: readonly Contender[]
  /** Unit of the results, for the column that compares them. Results with the unit `answers` must be equal. */
  readonly unit: 'm' | 'm²' | 'answers'
}

export interface Measured {
  readonly contender: string
  /** Time per item: the median of the rounds. `fastest` and `slowest` are the extremes. */
  readonly nanoseconds: number
  readonly fastest: number
  readonly slowest: number
  readonly rounds: number
  /** This contender's time divided by Trigpoint's time in the same round: the median over the rounds. */
  readonly ratio: number
  readonly result: number
}

export interface MeasuredRow {
  readonly row: string
  readonly item: string
  readonly unit: Row['unit']
  readonly contenders: readonly Measured[]
}

const ROUNDS = 7
const FEW_ROUNDS = 3
const MILLISECONDS_PER_ROUND = 12
/** Number of timed pieces in a round, and the fraction of the round that each piece takes. */
const PIECES = 4
const PIECE_FRACTION = 1 / 6
/** Long enough for optimizing compilers to finish. */
const WARM_UP_MILLISECONDS = 80
/** A contender that takes longer for one call has fewer rounds, which bounds the duration of a run. */
const LONG_MILLISECONDS = 50
const VERY_LONG_MILLISECONDS = 400

/**
 * Creates a contender that is a function in this process. A third of each round warms up its code and data, which other
 * contenders have evicted from the caches. Of the four timed pieces in the rest only the fastest counts, so that interruptions
 * do not affect the result.
 */
export function inProcess(name: string, call: () => number): Contender {
  const round = (milliseconds: number): Sample => {
    let result = Number.NaN
    let warmUpCalls = 0
    const start = performance.now()
    do {
      result = call()
      warmUpCalls++
    } while (performance.now() - start < milliseconds / 3)
    // Reading the clock after every call would distort the time of short calls.
    const calls = Math.max(1, Math.ceil((warmUpCalls * PIECE_FRACTION * milliseconds) / (performance.now() - start)))
    let best = Infinity
    for (let piece = 0; piece < PIECES; piece++) {
      const pieceStart = performance.now()
      for (let i = 0; i < calls; i++) result = call()
      const elapsed = performance.now() - pieceStart
      best = Math.min(best, elapsed / calls)
      // An interruption hardly affects a call that is longer than the round.
      if (calls === 1 && elapsed > milliseconds) break
    }
    return { nanoseconds: 1e6 * best, result }
  }
  return { name, round }
}

/** Measures one row. Every round runs each contender once and starts with a different one. */
export function measureRow({ name, items, item, unit, contenders }: Row): MeasuredRow {
  const states = contenders.map((contender) => {
    const { nanoseconds, result } = contender.round(MILLISECONDS_PER_ROUND)
    const milliseconds = nanoseconds / 1e6
    if (milliseconds > VERY_LONG_MILLISECONDS) return { contender, rounds: 1, result, times: [nanoseconds / items] }
    const rounds = milliseconds > LONG_MILLISECONDS ? FEW_ROUNDS : ROUNDS
    if (rounds === ROUNDS) contender.round(WARM_UP_MILLISECONDS)
    return { contender, rounds, result, times: [] as number[] }
  })
  for (let round = 0; round < ROUNDS; round++) {
    for (let position = 0; position < states.length; position++) {
      const { contender, rounds, times } = states[(position + round) % states.length]!
      if (times.length < rounds) times.push(contender.round(MILLISECONDS_PER_ROUND).nanoseconds / items)
    }
  }
  const trigpointTimes = states[0]!.times
  return {
    row: name,
    item,
    unit,
    contenders: states.map(({ contender, times, rounds, result }) => ({
      contender: contender.name,
      nanoseconds: median(times),
      fastest: Math.min(...times),
      slowest: Math.max(...times),
      rounds,
      ratio: median(times.slice(0, trigpointTimes.length).map((time, round) => time / trigpointTimes[round]!)),
      result,
    })),
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
