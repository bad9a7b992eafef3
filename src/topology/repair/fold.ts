import { ringEdgeTurn } from '../../geometry/edge-turn.ts'
import type { PoleResolver } from '../../geometry/pole-resolver.ts'
import { unwrapRing } from '../layout/unwrap.ts'

/** Tells whether an edge of a closed ring takes the short way across longitude ±180. */
export function crossesAntimeridian(ring: Float64Array): boolean {
  const count = ring.length / 2
  for (let i = 0; i < count - 1; i++) if (ringEdgeTurn(ring, 0, count, i) !== 0) return true
  return false
}

/**
 * Cuts a ring at longitude ±180 and closes it there, so that it encloses the same places in the plane. Each crossing becomes a way
 * along ±180 to a pole, along the pole to the other end of the map, and back to the crossing. Where the ring crosses once in each
 * direction, the ways along the pole cancel out. Where it winds around the axis, they remain, and the pole is inside.
 *
 * @param ring closed, interleaved lon, lat in degrees
 */
export function foldRing(ring: Float64Array, resolvePole: PoleResolver): Float64Array {
  const { pole } = unwrapRing(ring, resolvePole)
  const poleLat = pole < 0 ? -90 : 90
  const count = ring.length / 2
  const folded = [ring[0]!, ring[1]!]
  const add = (lon: number, lat: number) => {
    if (lon !== folded.at(-2) || lat !== folded.at(-1)) folded.push(lon, lat)
  }
  for (let i = 0; i < count - 1; i++) {
    const [lon1, lat1, lon2, lat2] = ring.subarray(2 * i, 2 * i + 4) as unknown as [number, number, number, number]
    const turn = ringEdgeTurn(ring, 0, count, i)
    if (turn !== 0) {
      const side = 180 * turn
      const [before, after] = [side - lon1, lon2 + side]
      const lat = latitudeAt(lat1, lat2, Math.abs(before), Math.abs(after))
      add(side, lat)
      add(side, poleLat)
      add(-side, poleLat)
      add(-side, lat)
    }
    add(lon2, lat2)
  }
  return Float64Array.from(folded)
}

/** Returns the latitude of an edge at a crossing, given the differences of longitude from its ends. */
function latitudeAt(lat1: number, lat2: number, before: number, after: number): number {
  if (before === 0 || lat1 === lat2) return lat1
  if (after === 0) return lat2
  const lat = lat1 + (lat2 - lat1) * (before / (before + after))
  return Math.min(Math.max(lat1, lat2), Math.max(Math.min(lat1, lat2), lat))
}
