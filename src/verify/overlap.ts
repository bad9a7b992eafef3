import type { TemporalFootprint } from '../types/generated.ts'

/** Two intervals of time, compared. */
export interface Overlap {
  /** Shared time by the shorter of the two, 0 … 1. An instant inside the other counts fully. */
  readonly ratio: number
  /** Shared time by the claim's and by the stamp's duration. */
  readonly claimCoverage: number
  readonly stampCoverage: number
  /** The stamp lies within the claim. */
  readonly isInside: boolean
}

const NOTHING: Overlap = { ratio: 0, claimCoverage: 0, stampCoverage: 0, isInside: false }

/** @param stamp whose end may lie before its start: then it shares nothing */
export function overlapOf(stamp: TemporalFootprint, claim: TemporalFootprint): Overlap {
  const shared = Math.min(stamp.end, claim.end) - Math.max(stamp.start, claim.start)
  if (stamp.end < stamp.start || shared < 0) return NOTHING
  const stampLength = stamp.end - stamp.start
  const claimLength = claim.end - claim.start
  return {
    ratio: share(shared, Math.min(stampLength, claimLength)),
    claimCoverage: share(shared, claimLength),
    stampCoverage: share(shared, stampLength),
    isInside: claim.start <= stamp.start && stamp.end <= claim.end,
  }
}

function share(shared: number, length: number): number {
  return length === 0 ? 1 : Math.min(1, shared / length)
}
