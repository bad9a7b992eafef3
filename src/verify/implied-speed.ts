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
  /** By stamp: of the fastest move that ended in it. */
  readonly checks: readonly (readonly EvidenceCheck[])[]
}

/**
 * How fast each signer must have moved between his stamps: the way less both accuracies, in the longest time the two
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
  const speedBetween = (from: number, to: number) => {
    const apart = between[Math.max(from, to)]![Math.min(from, to)]!
    const slack = (verdicts[from]!.accuracyCapped ?? 0) + (verdicts[to]!.accuracyCapped ?? 0)
    const [first, second] = [stamps[from]!.stamp.temporalFootprint, stamps[to]!.stamp.temporalFootprint]
    const seconds = Math.max(second.end - first.start, first.end - second.start, SHORTEST)
    return Math.max(0, apart - slack) / seconds
  }
  for (const track of tracksOf(stamps, verdicts)) {
    for (let step = 1; step < track.length; step++) {
      const to = track[step]![0]!
      // From each before, not the last alone: a vague stamp between two would make each way short.
      const speed = Math.max(...track.slice(0, step).map(([from]) => speedBetween(from!, to)))
      max = Math.max(max, speed)
      for (const copy of track[step]!) {
        collected[copy]!.warn('implied-speed', speed <= UNUSUAL, speed, UNUSUAL)
        collected[copy]!.fail('impossible-speed', speed <= IMPOSSIBLE, speed, IMPOSSIBLE)
      }
    }
  }
  return { max: Math.round(max * 1000) / 1000, checks: collected.map(({ list }) => list) }
}

/** The stamps of each signer in the order of time; copies of one are one place of the track. */
function tracksOf(stamps: readonly ReadStamp[], verdicts: readonly StampVerdict[]): number[][][] {
  const tracks = new Map<string, number[][]>()
  const order = stamps.map((_, index) => index).sort((a, b) => compare(a, b))
  for (const index of order) {
    const { signers } = verdicts[index]!
    const digest = verdicts[index]!.digest()
    for (const signer of new Set(signers)) {
      const track = tracks.get(signer) ?? []
      tracks.set(signer, track)
      const last = track.at(-1)
      if (last !== undefined && verdicts[last[0]!]!.digest() === digest) last.push(index)
      else track.push([index])
    }
  }
  return [...tracks.values()]

  /** By the beginning, the end, then what they say: never by the place in the request. */
  function compare(a: number, b: number): number {
    const [x, y] = [stamps[a]!.stamp.temporalFootprint, stamps[b]!.stamp.temporalFootprint]
    if (x.start !== y.start) return x.start - y.start
    if (x.end !== y.end) return x.end - y.end
    const [first, second] = [verdicts[a]!.digest(), verdicts[b]!.digest()]
    return first === second ? 0 : first < second ? -1 : 1
  }
}
