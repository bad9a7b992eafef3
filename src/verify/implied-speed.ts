import type { EvidenceCheck } from '../types/generated.ts'
import { Checks } from './plugin.ts'
import type { ReadStamp, StampVerdict } from './stamp.ts'

/** The speed of sound: faster is unusual. */
const UNUSUAL_MPS = 343
/** The speed of a low orbit: faster is impossible. */
const IMPOSSIBLE_MPS = 7900
/** The shortest time between two stamps that a speed is computed for; shorter times count as this. */
const MIN_SECONDS = 1

export interface ImpliedSpeeds {
  /** The highest speed of any move, metres per second. */
  readonly max: number
  /** By stamp: the checks of the fastest move that ended there. */
  readonly checks: readonly (readonly EvidenceCheck[])[]
}

/**
 * Computes how fast each signer must have moved between their stamps. Each speed is the lowest possible one, so that no
 * honest signer fails the check: the distance less both accuracies, over the longest time that the two footprints allow.
 *
 * @param distancesMeters row i holds the distances from stamp i to the stamps before it
 */
export function computeImpliedSpeeds(
  stamps: readonly ReadStamp[],
  verdicts: readonly StampVerdict[],
  distancesMeters: readonly (readonly number[])[],
): ImpliedSpeeds {
  const collected = stamps.map(() => new Checks())
  let max = 0
  const speedBetween = (from: number, to: number) => {
    const distanceMeters = distancesMeters[Math.max(from, to)]![Math.min(from, to)]!
    const slackMeters = (verdicts[from]!.accuracyCapped ?? 0) + (verdicts[to]!.accuracyCapped ?? 0)
    const [first, second] = [stamps[from]!.stamp.temporalFootprint, stamps[to]!.stamp.temporalFootprint]
    const seconds = Math.max(second.end - first.start, first.end - second.start, MIN_SECONDS)
    return Math.max(0, distanceMeters - slackMeters) / seconds
  }
  for (const track of groupBySigner(stamps, verdicts)) {
    for (let step = 1; step < track.length; step++) {
      const to = track[step]![0]!
      // Compare with every earlier stamp, not only with the last one: an imprecise stamp between two others would
      // shorten each move.
      const speed = Math.max(...track.slice(0, step).map(([from]) => speedBetween(from!, to)))
      max = Math.max(max, speed)
      for (const copy of track[step]!) {
        collected[copy]!.warn('implied-speed', speed <= UNUSUAL_MPS, speed, UNUSUAL_MPS)
        collected[copy]!.fail('impossible-speed', speed <= IMPOSSIBLE_MPS, speed, IMPOSSIBLE_MPS)
      }
    }
  }
  return { max: Math.round(max * 1000) / 1000, checks: collected.map(({ list }) => list) }
}

/** Groups the stamps by signer, in order of time. Copies of a stamp share one step of the track. */
function groupBySigner(stamps: readonly ReadStamp[], verdicts: readonly StampVerdict[]): number[][][] {
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

  /** Orders by start, end and digest, never by position in the request. */
  function compare(a: number, b: number): number {
    const [x, y] = [stamps[a]!.stamp.temporalFootprint, stamps[b]!.stamp.temporalFootprint]
    if (x.start !== y.start) return x.start - y.start
    if (x.end !== y.end) return x.end - y.end
    const [first, second] = [verdicts[a]!.digest(), verdicts[b]!.digest()]
    return first === second ? 0 : first < second ? -1 : 1
  }
}
