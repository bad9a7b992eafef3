import type { Positions } from './positions.ts'
import type { Scene } from './scene.ts'
import { UndecidableError } from './undecidable.ts'
import type { UnwrappedRing } from './unwrap.ts'

/** Segments of a scene, copies included, beyond which rings that wind again and again would cost too much. */
const MAX_SEGMENTS = 300_000

/** A range of longitudes in degrees on the unrolled cylinder, rounded: never decides, only spares work. */
export interface Extent {
  readonly west: number
  readonly east: number
}

/** What bounds nothing yet. */
export const NO_EXTENT: Extent = { west: Number.POSITIVE_INFINITY, east: Number.NEGATIVE_INFINITY }

export function union(a: Extent, b: Extent): Extent {
  return { west: Math.min(a.west, b.west), east: Math.max(a.east, b.east) }
}

export function shifted({ west, east }: Extent, turns: number): Extent {
  return { west: west + 360 * turns, east: east + 360 * turns }
}

export function extentOf({ x, count }: Positions): Extent {
  let west = Number.POSITIVE_INFINITY
  let east = Number.NEGATIVE_INFINITY
  for (let i = 0; i < count; i++) {
    west = Math.min(west, x[i]!)
    east = Math.max(east, x[i]!)
  }
  return { west, east }
}

export function extentOfRing({ lon, turn }: UnwrappedRing): Extent {
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
 * Whole turns by which something has to be shifted to come near a target.
 *
 * @param segments of the thing
 * @returns first and last turn, to be taken both
 * @throws {UndecidableError} when the copies would be more than a scene should hold
 */
export function turnsToward(scene: Scene, own: Extent, target: Extent, segments: number): readonly [number, number] {
  // One degree more than needed makes rounding harmless.
  const first = Math.ceil((target.west - own.east - 1) / 360)
  const last = Math.floor((target.east - own.west + 1) / 360)
  if (scene.count + (last - first + 1) * segments > MAX_SEGMENTS) {
    throw new UndecidableError('the geometries wind around the axis too often')
  }
  return [first, last]
}
