import type { Positions } from '../exact/positions.ts'
import { UndecidableError } from '../exact/undecidable.ts'
import type { SegmentSet } from './scene.ts'
import type { UnwrappedRing } from './unwrap.ts'

/** Largest number of segments, copies included. Beyond it, rings that wind around the axis many times would cost too much. */
const MAX_SEGMENTS = 300_000

/** A range of longitudes in degrees on the unrolled cylinder. It is rounded, so it may save work but never decides. */
export interface Extent {
  readonly west: number
  readonly east: number
}

/** The empty extent. */
export const EMPTY_EXTENT: Extent = { west: Number.POSITIVE_INFINITY, east: Number.NEGATIVE_INFINITY }

export function uniteExtents(a: Extent, b: Extent): Extent {
  return { west: Math.min(a.west, b.west), east: Math.max(a.east, b.east) }
}

export function shiftExtent({ west, east }: Extent, turns: number): Extent {
  return { west: west + 360 * turns, east: east + 360 * turns }
}

export function computeExtent({ x, count }: Positions): Extent {
  let west = Number.POSITIVE_INFINITY
  let east = Number.NEGATIVE_INFINITY
  for (let i = 0; i < count; i++) {
    west = Math.min(west, x[i]!)
    east = Math.max(east, x[i]!)
  }
  return { west, east }
}

export function computeRingExtent({ lon, turn }: UnwrappedRing): Extent {
  let west = Number.POSITIVE_INFINITY
  let east = Number.NEGATIVE_INFINITY
  for (let i = 0; i < lon.length; i++) {
    const x = lon[i]! + 360 * turn[i]!
    west = Math.min(west, x)
    east = Math.max(east, x)
  }
  return { west, east }
}

/**
 * Returns the whole turns by which copies of something have to be shifted to come near a target.
 *
 * @param segmentCount number of segments in one copy
 * @returns the first and the last turn, both included
 * @throws {UndecidableError} when there would be too many copies
 */
export function turnsToReach(
  segments: SegmentSet,
  own: Extent,
  target: Extent,
  segmentCount: number,
): readonly [number, number] {
  // The margin of one degree makes rounding harmless.
  const first = Math.ceil((target.west - own.east - 1) / 360)
  const last = Math.floor((target.east - own.west + 1) / 360)
  if (segments.count + (last - first + 1) * segmentCount > MAX_SEGMENTS) {
    throw new UndecidableError('the geometries wind around the axis too often')
  }
  return [first, last]
}
