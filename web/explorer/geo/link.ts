/** Finds the shortest line between two geometries for the map, approximately. The signed distance comes from the service. */
import type { Geometry } from '../../../src/types/generated.ts'
import type { Kernel } from '../../../src/wasm/loader.ts'
import { along } from './edges.ts'
import { type LonLat, sequencesOf } from './shape.ts'

/** Sampled positions per geometry. Every pair is compared, so the work grows with the square. */
const MAX_SAMPLES = 500

interface Sample {
  readonly position: LonLat
  readonly x: number
  readonly y: number
  readonly z: number
  /** Index of the sequence. A piece of line joins neighbouring samples of one sequence. */
  readonly sequence: number
}

/** @returns the approximate ends of the shortest line; undefined if the geometries are less than 1 m apart, or one is empty */
export function linkBetween(kernel: Kernel, a: Geometry, b: Geometry): readonly [LonLat, LonLat] | undefined {
  const [from, to] = [sampleGeometry(kernel, a), sampleGeometry(kernel, b)]
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
  // The nearest point may lie between samples, so each end slides along its own line towards the other end.
  for (let round = 0; round < 3; round++) {
    ends = [slide(from, pair[0], ends[1]), ends[1]]
    ends = [ends[0], slide(to, pair[1], ends[0])]
  }
  return kernel.inverse(ends[0][1], ends[0][0], ends[1][1], ends[1][0]) < 1 ? undefined : ends
}

function sampleGeometry(kernel: Kernel, geometry: Geometry): Sample[] {
  const samples = sequencesOf(geometry).flatMap(({ positions }, sequence) =>
    along(kernel, positions, 'geodesic').map((position) => toSample(position, sequence)),
  )
  const stride = Math.ceil(samples.length / MAX_SAMPLES)
  return stride <= 1 ? samples : samples.filter((_, index) => index % stride === 0)
}

function toSample(position: LonLat, sequence: number): Sample {
  const [longitude, latitude] = [(position[0] * Math.PI) / 180, (position[1] * Math.PI) / 180]
  const cosine = Math.cos(latitude)
  return { position, sequence, x: cosine * Math.cos(longitude), y: cosine * Math.sin(longitude), z: Math.sin(latitude) }
}

/** Returns the point nearest to the target on the pieces of line before and after a sample. */
function slide(samples: readonly Sample[], at: number, target: LonLat): LonLat {
  const here = samples[at]!
  const goal = toSample(target, 0)
  let best = here.position
  let leastSquared = Number.POSITIVE_INFINITY
  for (const other of [samples[at - 1], here, samples[at + 1]]) {
    if (other === undefined || other.sequence !== here.sequence) continue
    const [dx, dy, dz] = [other.x - here.x, other.y - here.y, other.z - here.z]
    const square = dx * dx + dy * dy + dz * dz
    const along = square === 0 ? 0 : ((goal.x - here.x) * dx + (goal.y - here.y) * dy + (goal.z - here.z) * dz) / square
    const share = Math.max(0, Math.min(1, along))
    const distanceSquared =
      (here.x + share * dx - goal.x) ** 2 + (here.y + share * dy - goal.y) ** 2 + (here.z + share * dz - goal.z) ** 2
    if (distanceSquared >= leastSquared) continue
    leastSquared = distanceSquared
    best = [
      here.position[0] + share * (other.position[0] - here.position[0]),
      here.position[1] + share * (other.position[1] - here.position[1]),
    ]
  }
  return best
}
