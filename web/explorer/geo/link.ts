/** Where two geometries are nearest to each other, for a drawing; the signed distance comes from the service. */
import type { Geometry } from '../../../src/types/generated.ts'
import type { Kernel } from '../../../src/wasm/loader.ts'
import { along } from './edges.ts'
import { type LonLat, sequencesOf } from './shape.ts'

/** Places looked at on each geometry: every pair of them is compared. */
const MOST_PLACES = 500

interface Place {
  readonly position: LonLat
  readonly x: number
  readonly y: number
  readonly z: number
  /** Index of the sequence: neighbours in it have a piece of line between them. */
  readonly sequence: number
}

/** @returns the ends of about the shortest way; undefined when the two (almost) touch, or hold nothing */
export function linkBetween(kernel: Kernel, a: Geometry, b: Geometry): readonly [LonLat, LonLat] | undefined {
  const [from, to] = [placesOf(kernel, a), placesOf(kernel, b)]
  let best = Number.POSITIVE_INFINITY
  let pair: [number, number] | undefined
  for (const [i, p] of from.entries()) {
    for (const [j, q] of to.entries()) {
      const square = (p.x - q.x) ** 2 + (p.y - q.y) ** 2 + (p.z - q.z) ** 2
      if (square >= best) continue
      best = square
      pair = [i, j]
    }
  }
  if (pair === undefined) return undefined
  let ends: [LonLat, LonLat] = [from[pair[0]]!.position, to[pair[1]]!.position]
  // Between the places: each end slides along its own line to what is nearest to the other.
  for (let round = 0; round < 3; round++) {
    ends = [slide(from, pair[0], ends[1]), ends[1]]
    ends = [ends[0], slide(to, pair[1], ends[0])]
  }
  return kernel.inverse(ends[0][1], ends[0][0], ends[1][1], ends[1][0]) < 1 ? undefined : ends
}

function placesOf(kernel: Kernel, geometry: Geometry): Place[] {
  const places = sequencesOf(geometry).flatMap(({ positions }, sequence) =>
    along(kernel, positions, 'geodesic').map((position) => placeOf(position, sequence)),
  )
  const stride = Math.ceil(places.length / MOST_PLACES)
  return stride <= 1 ? places : places.filter((_, index) => index % stride === 0)
}

function placeOf(position: LonLat, sequence: number): Place {
  const [longitude, latitude] = [(position[0] * Math.PI) / 180, (position[1] * Math.PI) / 180]
  const cosine = Math.cos(latitude)
  return { position, sequence, x: cosine * Math.cos(longitude), y: cosine * Math.sin(longitude), z: Math.sin(latitude) }
}

/** The nearest place on the pieces of line before and after one of the places. */
function slide(places: readonly Place[], at: number, target: LonLat): LonLat {
  const here = places[at]!
  const goal = placeOf(target, 0)
  let best = here.position
  let least = Number.POSITIVE_INFINITY
  for (const other of [places[at - 1], here, places[at + 1]]) {
    if (other === undefined || other.sequence !== here.sequence) continue
    const [dx, dy, dz] = [other.x - here.x, other.y - here.y, other.z - here.z]
    const square = dx * dx + dy * dy + dz * dz
    const along = square === 0 ? 0 : ((goal.x - here.x) * dx + (goal.y - here.y) * dy + (goal.z - here.z) * dz) / square
    const share = Math.max(0, Math.min(1, along))
    const apart =
      (here.x + share * dx - goal.x) ** 2 + (here.y + share * dy - goal.y) ** 2 + (here.z + share * dz - goal.z) ** 2
    if (apart >= least) continue
    least = apart
    best = [
      here.position[0] + share * (other.position[0] - here.position[0]),
      here.position[1] + share * (other.position[1] - here.position[1]),
    ]
  }
  return best
}
