import type { FlatGeometry } from '../geometry/flat.ts'
import type { Kernel } from '../wasm/loader.ts'

/** Beyond, the time grows with the square of the vertices past what other ways take. */
const MAX_VERTICES = 64
/** Longer edges come near the antipodes of others, where which side a position is on has no answer. */
const MAX_EDGE_METERS = 15e6
/** Metres by which positions must stand off an edge: far above rounding, which is 20 nm. */
const LEAST_OFFSET_METERS = 1e-3

/**
 * Whether a polygon of one ring plainly crosses itself nowhere as geodesics: of any two of its edges that do not meet at a
 * vertex, one has the other wholly on one side. Shortest geodesics from one place do not meet again, so edges that do meet at
 * a vertex are of no concern.
 *
 * @returns false for whatever cannot be told this way
 */
export function isPlainlySimple(kernel: Kernel, { vertices, sequenceStarts }: FlatGeometry): boolean {
  const count = sequenceStarts[1]! - 1
  if (sequenceStarts.length !== 2 || count > MAX_VERTICES) return false
  const sides = new Int8Array(count * count)
  for (let edge = 0; edge < count; edge++) {
    const [lon, lat] = [vertices[2 * edge]!, vertices[2 * edge + 1]!]
    const length = kernel.inverse(lat, lon, vertices[2 * edge + 3]!, vertices[2 * edge + 2]!)
    if (!(length > 0 && length < MAX_EDGE_METERS)) return false
    const [salp, calp] = [kernel.salp1(), kernel.calp1()]
    for (let other = 0; other < count; other++) {
      if (other === edge || other === (edge + 1) % count) continue
      kernel.inverse(lat, lon, vertices[2 * other + 1]!, vertices[2 * other]!)
      const offset = (kernel.salp1() * calp - kernel.calp1() * salp) * kernel.m12()
      sides[edge * count + other] = Math.abs(offset) > LEAST_OFFSET_METERS ? Math.sign(offset) : 0
    }
  }
  const isBeside = (edge: number, other: number) => {
    const side = sides[edge * count + other]!
    return side !== 0 && side === sides[edge * count + ((other + 1) % count)]
  }
  for (let edge = 0; edge < count; edge++) {
    for (let other = edge + 2; other < count; other++) {
      if ((other + 1) % count === edge) continue
      if (!isBeside(edge, other) && !isBeside(other, edge)) return false
    }
  }
  return true
}
