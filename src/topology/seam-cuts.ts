import type { ElementRing } from './element-rings.ts'
import type { Scene } from './scene.ts'
import type { UnwrappedRing } from './unwrap.ts'

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
      const turn = turnOf(unwrapped)
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

/** The turn on which a ring stays; undefined when it goes over the seam. */
function turnOf({ lon, turn, pole }: UnwrappedRing): number | undefined {
  if (pole !== 0) return undefined
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (let i = 0; i < lon.length; i++) {
    // 180 is the end of its turn, −180 is the end of the turn before.
    least = Math.min(least, turn[i]! + (lon[i] === 180 ? 1 : 0))
    most = Math.max(most, turn[i]! - (lon[i] === -180 ? 1 : 0))
  }
  return least === most ? least : undefined
}
