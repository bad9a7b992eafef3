import type { Location } from '../exact/point-in-ring.ts'
import { Positions } from '../exact/positions.ts'
import type { UnwrappedRing } from './antimeridian-edges.ts'
import { isInsideOnLeft } from './segment-set.ts'

/** A ring of a polygon on the unrolled cylinder. */
export interface PolygonRing {
  readonly unwrapped: UnwrappedRing
  readonly isHole: boolean
}

/** An edge that ends at the pole, and how the depth changes on stepping eastward over it. */
interface Spoke {
  /** Longitude at which it reaches the pole, in [−180, 180). */
  readonly lon: number
  readonly pole: number
  readonly foot: number
  readonly step: number
}

/**
 * Locates a pole, which is one point, relative to the union of polygons: interior when all directions from it lead inside,
 * exterior when none does. Every longitude is a direction, also along edges at latitude ±90.
 *
 * Exact: the rings close on the cylinder and nothing lies beyond the pole. So the edges along the pole give the depth next to it
 * at one longitude, and the edges that end at the pole give it at the others.
 *
 * @param rings of one or more valid polygons, from `unwrapRing`
 */
export function poleLocation(pole: 1 | -1, rings: readonly PolygonRing[]): Location {
  const positions = new Positions(16, false)
  const spokes: Spoke[] = []
  // The depth just east of −180.
  let depth = 0
  let isTouched = false
  for (const { unwrapped, isHole } of rings) {
    const { lon, lat, turn } = unwrapped
    if (!lat.includes(90 * pole)) continue
    isTouched = true
    const isInteriorOnLeft = isEnclosedSideLeft(unwrapped) !== isHole
    for (let i = 1; i < lon.length; i++) {
      const leaves = lat[i - 1] === 90 * pole
      const arrives = lat[i] === 90 * pole
      if (leaves && arrives) {
        const step = isInteriorOnLeft === pole < 0 ? 1 : -1
        depth += step * (countPasses(lon[i]!, turn[i]!) - countPasses(lon[i - 1]!, turn[i - 1]!))
      } else if (leaves || arrives) {
        const [top, end] = leaves ? [i - 1, i] : [i, i - 1]
        const shift = turn[top]! + (lon[top] === 180 ? 1 : 0)
        const at = positions.add(lon[top]!, lat[top]!, turn[top]! - shift)
        const foot = positions.add(lon[end]!, lat[end]!, turn[end]! - shift)
        const step = (leaves === isInteriorOnLeft) === pole > 0 ? 1 : -1
        spokes.push({ lon: positions.lon[at]!, pole: at, foot, step })
      }
    }
  }
  if (!isTouched) return 'exterior'
  const compareWestward = (s: Spoke, t: Spoke): number => -pole * positions.orientation(s.pole, s.foot, t.foot)
  // An edge that reaches the pole at −180 comes last, as if at 180.
  const sortKey = ({ lon }: Spoke): number => (lon === -180 ? 180 : lon)
  spokes.sort((s, t) => sortKey(s) - sortKey(t) || compareWestward(s, t))
  let minDepth = depth
  let maxDepth = depth
  spokes.forEach((spoke, i) => {
    depth += spoke.step
    const next = spokes[i + 1]
    // Overlapping edges have nothing between them.
    if (next !== undefined && next.lon === spoke.lon && compareWestward(spoke, next) === 0) return
    minDepth = Math.min(minDepth, depth)
    maxDepth = Math.max(maxDepth, depth)
  })
  return minDepth > 0 ? 'interior' : maxDepth > 0 ? 'boundary' : 'exterior'
}

/** Counts how often one passes the longitude just east of −180 on the way from turn 0 eastward to a position. */
function countPasses(lon: number, turn: number): number {
  const isEast = lon === 180
  return turn + (isEast ? 1 : 0) + (lon > -180 && !isEast ? 1 : 0)
}

/** Tells whether the side that a ring encloses lies to its left. */
export function isEnclosedSideLeft(ring: UnwrappedRing): boolean {
  if (ring.pole !== 0) return ring.winding > 0 === ring.pole > 0
  const { lon, lat, turn } = ring
  const positions = new Positions(lon.length, false)
  for (let i = 0; i < lon.length; i++) positions.add(lon[i]!, lat[i]!, turn[i]!)
  return isInsideOnLeft(positions, 0, lon.length, ring)
}
