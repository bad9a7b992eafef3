/**
 * Measuring several ways of doing the same, in turns: each round lets every contender run once, so that a busy moment of the
 * machine hits them all, and ratios are taken inside a round.
 */

export interface Sample {
  /** Time of one call. */
  readonly nanoseconds: number
  /** What the call computed, to compare contenders by; NaN when there is nothing to compare. */
  readonly result: number
}

export interface Contender {
  readonly name: string
  /** Runs for about this time, warmed up before. */
  readonly round: (milliseconds: number) => Sample
}

/** One question, put to several contenders; the first of them is Trigpoint. */
export interface Row {
  readonly name: string
  /** How many edges, pairs or points one call handles. */
  readonly items: number
  /** What one item is: `edge`, `pair`, `call`. */
  readonly item: string
  readonly contenders: readonly Contender[]
  /** Unit of the results, for the column that compares them; `answers` must be equal. */
  readonly unit: 'm' | 'm²' | 'answers'
}

export interface Measured {
  readonly contender: string
  /** Per item: median of the rounds and the extremes. */
  readonly nanoseconds: number
  readonly fastest: number
  readonly slowest: number
  readonly rounds: number
  /** Median over the rounds of this contender's time / Trigpoint's time in the same round. */
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
const MILLISECONDS_A_ROUND = 12
/** Pieces of a round that are timed, and the share of the round that each takes. */
const PIECES = 4
const PIECE_SHARE = 1 / 6
/** Until optimizing compilers have done what they will. */
const WARM_UP_MILLISECONDS = 80
/** A contender that needs longer for one call has fewer rounds: a run has to end. */
const LONG_MILLISECONDS = 50
const VERY_LONG_MILLISECONDS = 400

/**
 * A contender that is a function of this process: a third of a round warms its code and data up, which other contenders have
 * driven out of the caches, and the best of four pieces of the rest counts, so that being interrupted does not.
 */
export function inProcess(name: string, call: () => number): Contender {
  const round = (milliseconds: number): Sample => {
    let result = Number.NaN
    let warm = 0
    const start = performance.now()
    do {
      result = call()
      warm++
    } while (performance.now() - start < milliseconds / 3)
    // A clock read after every call would be part of the time of a short one.
    const calls = Math.max(1, Math.ceil((warm * PIECE_SHARE * milliseconds) / (performance.now() - start)))
    let best = Infinity
    for (let piece = 0; piece < PIECES; piece++) {
      const from = performance.now()
      for (let i = 0; i < calls; i++) result = call()
      const elapsed = performance.now() - from
      best = Math.min(best, elapsed / calls)
      // One call that takes so long cannot be hit much by an interruption.
      if (calls === 1 && elapsed > milliseconds) break
    }
    return { nanoseconds: 1e6 * best, result }
  }
  return { name, round }
}

/** Measures one row: in every round each contender once, beginning with another one each time. */
export function measureRow({ name, items, item, unit, contenders }: Row): MeasuredRow {
  const states = contenders.map((contender) => {
    const { nanoseconds, result } = contender.round(MILLISECONDS_A_ROUND)
    const milliseconds = nanoseconds / 1e6
    if (milliseconds > VERY_LONG_MILLISECONDS) return { contender, rounds: 1, result, times: [nanoseconds / items] }
    const rounds = milliseconds > LONG_MILLISECONDS ? FEW_ROUNDS : ROUNDS
    if (rounds === ROUNDS) contender.round(WARM_UP_MILLISECONDS)
    return { contender, rounds, result, times: [] as number[] }
  })
  for (let round = 0; round < ROUNDS; round++) {
    for (let turn = 0; turn < states.length; turn++) {
      const { contender, rounds, times } = states[(turn + round) % states.length]!
      if (times.length < rounds) times.push(contender.round(MILLISECONDS_A_ROUND).nanoseconds / items)
    }
  }
  const ours = states[0]!.times
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
      ratio: median(times.slice(0, ours.length).map((time, round) => time / ours[round]!)),
      result,
    })),
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
