import type { FlatGeometry } from '../../geometry/flat.ts'
import type { PoleResolver } from '../../geometry/pole-resolver.ts'
import { ringForm } from '../../geometry/whole-parallels.ts'
import { findAntimeridianSides, findRingTurn } from './antimeridian-edges.ts'
import type { ElementRing } from './element-rings.ts'
import type { SegmentSet } from './segment-set.ts'
import { unwrapRing } from './unwrap.ts'

/**
 * The polygons of an element that stay within one turn, from −180 to 180; a vertex on the antimeridian may have either name. For
 * these polygons the map ends at the antimeridian: edges that come to it from its two sides do not touch there, and edges along
 * both sides of it are a cut, as RFC 7946 asks for.
 */
export class AntimeridianCuts {
  readonly #segments: SegmentSet
  /** Turn by sequence, for the rings of these polygons. */
  readonly #turns = new Map<number, number>()
  readonly #exteriors: readonly number[]

  /** @param exteriors sequence of the exterior ring by key */
  constructor(segments: SegmentSet, rings: readonly ElementRing[], exteriors: readonly number[]) {
    this.#segments = segments
    this.#exteriors = exteriors
    for (const { unwrapped, role } of rings) {
      const exterior = exteriors[role.step1]!
      // A polygon that crosses the antimeridian is in one piece there, and so are its holes.
      if (role.sequence !== exterior && !this.#turns.has(exterior)) continue
      const turn = unwrapped.pole === 0 ? findRingTurn(unwrapped) : undefined
      if (turn !== undefined) this.#turns.set(role.sequence, turn)
    }
  }

  /** Returns 1 when a segment of such a polygon comes to the antimeridian from the west, at 180; otherwise 0. */
  sideAt(segment: number, position: number): 0 | 1 {
    const { positions, copy, sequence } = this.#segments
    if (positions.planar || positions.lon[position] !== -180) return 0
    const turn = this.#turns.get(sequence[segment]!)
    return turn !== undefined && positions.turn[position] === copy[segment]! + turn + 1 ? 1 : 0
  }

  /**
   * Returns the side of each of the segments that meet at a position, as `sideAt` does. Inside a polygon that lies on both sides of
   * the antimeridian the map does not end, so its holes touch there: the side is 0 for all of them. An edge along the antimeridian
   * may be a cut, where it ends.
   */
  sidesAt(around: readonly number[], position: number): (segment: number) => 0 | 1 {
    const { sequence, step1 } = this.#segments
    const sideAt = (segment: number): 0 | 1 => this.sideAt(segment, position)
    if (around.every((segment) => sideAt(segment) === 0)) return sideAt
    const ending = new Set<number>()
    for (const segment of around) {
      const key = Math.abs(step1[segment]!)
      if (sequence[segment] === this.#exteriors[key] || this.#isOnAntimeridian(segment)) ending.add(key)
    }
    return (segment) => (ending.has(Math.abs(step1[segment]!)) ? sideAt(segment) : 0)
  }

  #isOnAntimeridian(segment: number): boolean {
    const { left, right, positions } = this.#segments
    return (
      positions.lon[left[segment]!] === -180 &&
      positions.lon[right[segment]!] === -180 &&
      positions.turn[left[segment]!] === positions.turn[right[segment]!]
    )
  }

  /** Tells whether two overlapping segments are a cut: edges of such polygons, one at 180 and one at −180. */
  isCut(s: number, t: number): boolean {
    const { left, positions, sequence } = this.#segments
    if (positions.planar || !this.#turns.has(sequence[s]!) || !this.#turns.has(sequence[t]!)) return false
    if (!this.#isOnAntimeridian(s) || !this.#isOnAntimeridian(t)) return false
    if (positions.turn[left[s]!] !== positions.turn[left[t]!]) return false
    return this.sideAt(s, left[s]!) !== this.sideAt(t, left[t]!)
  }
}

/**
 * Finds a hole in which edges along the antimeridian lie that are no boundary: edges of the hole itself, of another hole on the
 * other side, or of the exterior ring. Predicates and areas are still defined, but a distance from inside the hole would be
 * measured to these edges.
 *
 * @returns the sequence of the hole
 */
export function findAntimeridianHole(geometry: FlatGeometry, resolvePole: PoleResolver): number | undefined {
  const { vertices, sequenceStarts, partStarts, partDimensions } = geometry
  for (let part = 0; part < partDimensions.length; part++) {
    const [exterior, end] = [partStarts[part]!, partStarts[part + 1]!]
    if (partDimensions[part] !== 2 || end - exterior < 2) continue
    if (!touchesAntimeridian(vertices, sequenceStarts[exterior]!, sequenceStarts[end]!)) continue
    const isBand = (sequence: number): boolean =>
      ringForm(vertices, sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!).kind === 'band'
    const unwrapped = (sequence: number) =>
      unwrapRing(vertices.subarray(2 * sequenceStarts[sequence]!, 2 * sequenceStarts[sequence + 1]!), resolvePole)
    const isExteriorOpen = !isBand(exterior) && unwrapped(exterior).isOpenAtAntimeridian
    let [isEast, isWest] = [false, false]
    for (let hole = exterior + 1; hole < end; hole++) {
      if (isBand(hole)) continue
      const ring = unwrapped(hole)
      const crossesAntimeridian = ring.pole !== 0 || findRingTurn(ring) === undefined
      if (ring.isOpenAtAntimeridian || (isExteriorOpen && crossesAntimeridian)) return hole
      const [east, west] = findAntimeridianSides(ring)
      isEast ||= east
      isWest ||= west
      if (isEast && isWest) return hole
    }
  }
  return undefined
}

function touchesAntimeridian(vertices: Float64Array, start: number, end: number): boolean {
  for (let i = 2 * start; i < 2 * end; i += 2) if (Math.abs(vertices[i]!) === 180) return true
  return false
}
