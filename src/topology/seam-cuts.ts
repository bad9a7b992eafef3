import type { FlatGeometry } from '../geometry/flat.ts'
import { ringForm } from '../geometry/whole-parallels.ts'
import type { ElementRing } from './element-rings.ts'
import type { Scene } from './scene.ts'
import { seamSides, turnOfRing } from './seam-edges.ts'
import { type PoleOf, unwrapRing } from './unwrap.ts'

/**
 * The polygons of an element that stay on one turn from −180 to 180, whichever of the two names their vertices on the seam have.
 * To them the seam is where the map ends: what comes to it from its two sides does not touch there, and edges on both sides
 * of it are a cut, as RFC 7946 asks for.
 */
export class SeamCuts {
  readonly #scene: Scene
  /** Turn by sequence, for the rings of such polygons. */
  readonly #turns = new Map<number, number>()

  /** @param exteriors sequence of the exterior ring by key */
  constructor(scene: Scene, rings: readonly ElementRing[], exteriors: readonly number[]) {
    this.#scene = scene
    for (const { unwrapped, role } of rings) {
      const exterior = exteriors[role.step1]!
      // A polygon that goes over the seam is in one piece there, and so are its holes.
      if (role.sequence !== exterior && !this.#turns.has(exterior)) continue
      const turn = unwrapped.pole === 0 ? turnOfRing(unwrapped) : undefined
      if (turn !== undefined) this.#turns.set(role.sequence, turn)
    }
  }

  /** 1 when a segment of such a polygon comes to the seam from the west, at 180, else 0. */
  sideOf(segment: number, position: number): 0 | 1 {
    const { positions, copy, sequence } = this.#scene
    if (positions.planar || positions.lon[position] !== -180) return 0
    const turn = this.#turns.get(sequence[segment]!)
    return turn !== undefined && positions.turn[position] === copy[segment]! + turn + 1 ? 1 : 0
  }

  /** Whether two segments on each other are a cut: edges of such polygons at 180 and at −180. */
  isCut(s: number, t: number): boolean {
    const { left, right, positions, sequence } = this.#scene
    if (positions.planar || !this.#turns.has(sequence[s]!) || !this.#turns.has(sequence[t]!)) return false
    const isOnSeam = (segment: number): boolean =>
      positions.lon[left[segment]!] === -180 &&
      positions.lon[right[segment]!] === -180 &&
      positions.turn[left[segment]!] === positions.turn[right[segment]!]
    if (!isOnSeam(s) || !isOnSeam(t) || positions.turn[left[s]!] !== positions.turn[left[t]!]) return false
    return this.sideOf(s, left[s]!) !== this.sideOf(t, left[t]!)
  }
}

/**
 * Sequence of a hole in which edges along the antimeridian lie that are no boundary: of the hole itself, of another hole on the
 * other side, or of the exterior ring. Predicates and areas are defined all the same; a distance from inside the hole would be
 * measured to these edges.
 */
export function findSeamHole(geometry: FlatGeometry, poleOf: PoleOf): number | undefined {
  const { vertices, sequenceStarts, partStarts, partDimensions } = geometry
  for (let part = 0; part < partDimensions.length; part++) {
    const [exterior, end] = [partStarts[part]!, partStarts[part + 1]!]
    if (partDimensions[part] !== 2 || end - exterior < 2) continue
    if (!isAtSeam(vertices, sequenceStarts[exterior]!, sequenceStarts[end]!)) continue
    const isBand = (sequence: number): boolean =>
      ringForm(vertices, sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!).kind === 'band'
    const unwrapped = (sequence: number) =>
      unwrapRing(vertices.subarray(2 * sequenceStarts[sequence]!, 2 * sequenceStarts[sequence + 1]!), poleOf)
    const isExteriorOpen = !isBand(exterior) && unwrapped(exterior).isOpenAtSeam
    let [isEast, isWest] = [false, false]
    for (let hole = exterior + 1; hole < end; hole++) {
      if (isBand(hole)) continue
      const ring = unwrapped(hole)
      const isOver = ring.pole !== 0 || turnOfRing(ring) === undefined
      if (ring.isOpenAtSeam || (isExteriorOpen && isOver)) return hole
      const [east, west] = seamSides(ring)
      isEast ||= east
      isWest ||= west
      if (isEast && isWest) return hole
    }
  }
  return undefined
}

function isAtSeam(vertices: Float64Array, start: number, end: number): boolean {
  for (let i = 2 * start; i < 2 * end; i += 2) if (Math.abs(vertices[i]!) === 180) return true
  return false
}
