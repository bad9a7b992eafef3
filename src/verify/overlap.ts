import type { TemporalFootprint } from '../types/generated.ts'

/** How two intervals of time overlap. */
export interface Overlap {
  /** Shared time over the length of the shorter interval, 0 … 1. An instant inside the other interval counts as 1. */
  readonly ratio: number
  /** Shared time over the duration of the claim. */
  readonly claimCoverage: number
  /** Shared time over the duration of the stamp. */
  readonly stampCoverage: number
  /** True when the stamp lies within the claim. */
  readonly isInside: boolean
}

const NO_OVERLAP: Overlap = { ratio: 0, claimCoverage: 0, stampCoverage: 0, isInside: false }

/** @param stamp if its end is before its start, nothing overlaps */
export function computeOverlap(stamp: TemporalFootprint, claim: TemporalFootprint): Overlap {
  const shared = Math.min(stamp.end, claim.end) - Math.max(stamp.start, claim.start)
  if (stamp.end < stamp.start || shared < 0) return NO_OVERLAP
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
