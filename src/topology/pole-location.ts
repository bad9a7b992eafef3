import type { Location } from './point-in-ring.ts'
import { Positions } from './positions.ts'
import { isInsideOnLeft } from './scene.ts'
import type { UnwrappedRing } from './unwrap.ts'

/** A ring of a polygon on the cylinder. */
export interface PolygonRing {
  readonly unwrapped: UnwrappedRing
  readonly isHole: boolean
}

/** An edge that ends at the pole: the side to which it leaves, and the depth gained on stepping eastward over it. */
interface Spoke {
  /** Longitude at which it arrives, in [−180, 180). */
  readonly lon: number
  readonly pole: number
  readonly foot: number
  readonly step: number
}

/**
 * Where a pole lies to the union of polygons, as the one place it is: interior when all directions from it lead inside,
 * exterior when none does. All longitudes, and all places at latitude ±90, are directions.
 *
 * Exact: the rings close on the cylinder and nothing lies beyond the pole, so the depth next to it is known from the edges
 * along it at one longitude, and elsewhere from the edges that end at it.
 *
 * @param rings of one or more valid polygons, laid by `unwrapRing`
 */
export function poleLocation(pole: 1 | -1, rings: readonly PolygonRing[]): Location {
  const positions = new Positions(16, false)
  const spokes: Spoke[] = []
  // Just east of −180.
  let depth = 0
  let isTouched = false
  for (const { unwrapped, isHole } of rings) {
    const { lon, lat, turn } = unwrapped
    if (!lat.includes(90 * pole)) continue
    isTouched = true
    const isLeftInside = isLeft(unwrapped) !== isHole
    for (let i = 1; i < lon.length; i++) {
      const leaves = lat[i - 1] === 90 * pole
      const arrives = lat[i] === 90 * pole
      if (leaves && arrives) {
        const step = isLeftInside === pole < 0 ? 1 : -1
        depth += step * (passes(lon[i]!, turn[i]!) - passes(lon[i - 1]!, turn[i - 1]!))
      } else if (leaves || arrives) {
        const [top, end] = leaves ? [i - 1, i] : [i, i - 1]
        const shift = turn[top]! + (lon[top] === 180 ? 1 : 0)
        const at = positions.add(lon[top]!, lat[top]!, turn[top]! - shift)
        const foot = positions.add(lon[end]!, lat[end]!, turn[end]! - shift)
        const step = (leaves === isLeftInside) === pole > 0 ? 1 : -1
        spokes.push({ lon: positions.lon[at]!, pole: at, foot, step })
      }
    }
  }
  if (!isTouched) return 'exterior'
  const isWestward = (s: Spoke, t: Spoke): number => -pole * positions.orientation(s.pole, s.foot, t.foot)
  // What arrives at −180 comes last, as 180.
  const place = ({ lon }: Spoke): number => (lon === -180 ? 180 : lon)
  spokes.sort((s, t) => place(s) - place(t) || isWestward(s, t))
  let least = depth
  let most = depth
  spokes.forEach((spoke, i) => {
    depth += spoke.step
    const next = spokes[i + 1]
    // Edges on each other have nothing between them.
    if (next !== undefined && next.lon === spoke.lon && isWestward(spoke, next) === 0) return
    least = Math.min(least, depth)
    most = Math.max(most, depth)
  })
  return least > 0 ? 'interior' : most > 0 ? 'boundary' : 'exterior'
}

/** How often one passes the longitude just east of −180 on the way to a position, eastward from turn 0. */
function passes(lon: number, turn: number): number {
  const isEast = lon === 180
  return turn + (isEast ? 1 : 0) + (lon > -180 && !isEast ? 1 : 0)
}

function isLeft(ring: UnwrappedRing): boolean {
  if (ring.pole !== 0) return ring.winding > 0 === ring.pole > 0
  const { lon, lat, turn } = ring
  const positions = new Positions(lon.length, false)
  for (let i = 0; i < lon.length; i++) positions.add(lon[i]!, lat[i]!, turn[i]!)
  return isInsideOnLeft(positions, 0, lon.length, ring)
}
