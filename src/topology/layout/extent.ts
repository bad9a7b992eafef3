import type { Positions } from '../exact/positions.ts'
import type { UnwrappedRing } from './seam-edges.ts'

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
