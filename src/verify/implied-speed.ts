import type { EvidenceCheck } from '../types/generated.ts'
import { Checks } from './checks.ts'
import type { ReadStamp, StampVerdict } from './stamp.ts'

/** Metres per second: faster than sound is unusual, faster than an orbit is impossible. */
const UNUSUAL = 343
const IMPOSSIBLE = 7900
/** Seconds below which no speed is made of two stamps. */
const SHORTEST = 1

export interface ImpliedSpeeds {
  /** Of all moves, metres per second. */
  readonly max: number
  /** By stamp: of the move that ended in it. */
  readonly checks: readonly (readonly EvidenceCheck[])[]
}

/**
 * How fast each signer must have moved from stamp to stamp: the way less both accuracies, in the longest time the two
 * footprints allow, so that no honest signer is accused.
 *
 * @param between row i holds the distances of stamp i to those before it, metres
 */
export function speedsOf(
  stamps: readonly ReadStamp[],
  verdicts: readonly StampVerdict[],
  between: readonly (readonly number[])[],
): ImpliedSpeeds {
  const collected = stamps.map(() => new Checks())
  let max = 0
  for (const track of tracksOf(stamps, verdicts)) {
    for (let step = 1; step < track.length; step++) {
      const [from, to] = [track[step - 1]!, track[step]!]
      const apart = between[Math.max(from, to)]![Math.min(from, to)]!
      const slack = (verdicts[from]!.accuracyCapped ?? 0) + (verdicts[to]!.accuracyCapped ?? 0)
      const seconds = stamps[to]!.stamp.temporalFootprint.end - stamps[from]!.stamp.temporalFootprint.start
      const speed = Math.max(0, apart - slack) / Math.max(SHORTEST, seconds)
      max = Math.max(max, speed)
      collected[to]!.warn('implied-speed', speed <= UNUSUAL, speed, UNUSUAL)
      collected[to]!.fail('impossible-speed', speed <= IMPOSSIBLE, speed, IMPOSSIBLE)
    }
  }
  return { max: Math.round(max * 1000) / 1000, checks: collected.map(({ list }) => list) }
}

/** The stamps of each signer in the order of time; copies count once. */
function tracksOf(stamps: readonly ReadStamp[], verdicts: readonly StampVerdict[]): number[][] {
  const tracks = new Map<string, number[]>()
  const order = stamps.map((_, index) => index).sort((a, b) => compare(a, b))
  for (const index of order) {
    const { digest, signers } = verdicts[index]!
    for (const signer of new Set(signers)) {
      const track = tracks.get(signer)
      if (track === undefined) tracks.set(signer, [index])
      else if (verdicts[track.at(-1)!]!.digest !== digest) track.push(index)
    }
  }
  return [...tracks.values()]

  /** By the beginning, the end, then what they say: never by the place in the request. */
  function compare(a: number, b: number): number {
    const [x, y] = [stamps[a]!.stamp.temporalFootprint, stamps[b]!.stamp.temporalFootprint]
    if (x.start !== y.start) return x.start - y.start
    if (x.end !== y.end) return x.end - y.end
    const [first, second] = [verdicts[a]!.digest, verdicts[b]!.digest]
    return first === second ? 0 : first < second ? -1 : 1
  }
}
