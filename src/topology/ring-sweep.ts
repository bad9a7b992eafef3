import type { ElementRings } from './element-rings.ts'
import { crossingFault, faultAt, type Invalidity, overlapFault } from './invalidity.ts'
import { depthsAt } from './locate.ts'
import type { Scene } from './scene.ts'
import { Sweep } from './sweep.ts'
import type { SweepNode, SweepVisitor } from './sweep-visitor.ts'
import { TouchGraph } from './touch-graph.ts'

/**
 * Judges the rings of one element over their arrangement. Faults between edges end the sweep; misplaced rings and cut
 * interiors are kept, since they mean something only when no edges are at fault.
 */
export class RingSweep implements SweepVisitor {
  readonly #scene: Scene
  readonly #sweep: Sweep
  /** Sequence of the exterior ring by key. */
  readonly #exteriors: readonly number[]
  readonly #isReal: Uint8Array
  readonly #touches = new TouchGraph()
  #fault: Invalidity | undefined
  #misplaced = -1
  #cut: Invalidity | undefined

  /** Sequences of rings that stay within [−180, 180]: their edges on its two ends are cuts, which meet only on the globe. */
  readonly #uncrossed: ReadonlySet<number>

  constructor({ scene, rings, exteriors, atPoles }: ElementRings) {
    this.#scene = scene
    this.#sweep = new Sweep(scene)
    this.#exteriors = exteriors
    this.#isReal = new Uint8Array(scene.count)
    for (let s = 0; s < scene.count; s++) this.#isReal[s] = scene.isReal(s) ? 1 : 0
    const uncrossed = rings.filter(
      ({ unwrapped }) => unwrapped.pole === 0 && unwrapped.turn.every((turn) => turn === 0),
    )
    this.#uncrossed = new Set(uncrossed.map(({ role }) => role.sequence))
    for (const [index, lat] of [90, -90].entries()) {
      const at = atPoles[index]!
      if (at.length < 2 || this.#touches.join(at.map(({ role: { sequence, step1 } }) => ({ sequence, key: step1 }))))
        continue
      this.#cut ??= { reason: 'disconnected interior', lon: 0, lat, sequence: at[1]!.role.sequence }
    }
  }

  find(): Invalidity | undefined {
    this.#sweep.run(Int32Array.from(this.#isReal.keys()), this)
    return this.#fault ?? (this.#misplaced >= 0 ? this.#explainMisplaced(this.#misplaced) : this.#cut)
  }

  crossing(lower: number, upper: number): boolean {
    if (this.#isReal[lower] === 0 || this.#isReal[upper] === 0) return true
    this.#fault = crossingFault(this.#scene, lower, upper)
    return false
  }

  piece(outgoing: readonly number[], from: number, to: number): boolean {
    let original = -1
    let real = -1
    for (let i = from; i < to; i++) {
      const segment = outgoing[i]!
      if (this.#isReal[segment] === 0) continue
      if (real >= 0 && !this.#isCut(real, segment)) {
        this.#fault = overlapFault(this.#scene, real, segment)
        return false
      }
      real = segment
      if (this.#scene.copy[segment] === 0) original = segment
    }
    // Around copies not everything is there; whatever is wrong shows around originals.
    if (original < 0 || this.#misplaced >= 0) return true
    const { below0, below1, above0, above1 } = this.#sweep
    const isRight = isPlace(below0[original]!, below1[original]!) && isPlace(above0[original]!, above1[original]!)
    if (!isRight) this.#misplaced = original
    return true
  }

  node({ position, incoming, outgoing }: SweepNode): boolean {
    if (incoming.length + outgoing.length <= 2) return true
    // Counter-clockwise from below: what leaves from bottom to top, then what arrives from top to bottom.
    const around = [...this.#uncut(outgoing), ...this.#uncut(incoming).toReversed()]
    if (around.length <= 2) return true
    const [west, east] = [0, 1].map((side) => around.filter((segment) => this.#sideOfSeam(segment, position) === side))
    return this.#judgeRings(position, around) && this.#touch(position, west!, 0) && this.#touch(position, east!, 1)
  }

  /** The edges that count, without the pairs of cuts that run on each other: the seam is no boundary there. */
  #uncut(segments: readonly number[]): number[] {
    const kept: number[] = []
    for (const segment of segments) {
      if (this.#isReal[segment] === 0) continue
      const last = kept[kept.length - 1]
      if (last !== undefined && this.#isCut(last, segment)) kept.pop()
      else kept.push(segment)
    }
    return kept
  }

  /** Rings at a place: none comes there twice, and none changes sides with another. */
  #judgeRings(position: number, around: readonly number[]): boolean {
    // What comes from the other side of the seam is another strand of the same ring.
    const strandOf = (segment: number): number =>
      2 * this.#scene.sequence[segment]! + this.#sideOfSeam(segment, position)
    const ends = new Map<number, number>()
    for (const segment of around) ends.set(strandOf(segment), (ends.get(strandOf(segment)) ?? 0) + 1)
    const open: number[] = []
    const isOpen = new Set<number>()
    for (const segment of around) {
      const ring = strandOf(segment)
      const count = ends.get(ring)!
      if (count > 2) {
        this.#fault = faultAt(this.#scene, 'self-touch', position, segment)
        return false
      }
      // A ring with one end here goes on along the pole or a cut.
      if (count < 2) continue
      if (open[open.length - 1] === ring) open.pop()
      else if (!isOpen.has(ring)) {
        open.push(ring)
        isOpen.add(ring)
      } else {
        this.#fault = faultAt(this.#scene, 'self-intersection', position, segment)
        return false
      }
    }
    return true
  }

  #touch(position: number, around: readonly number[], side: 0 | 1): true {
    const { sequence } = this.#scene
    if (around.some((segment) => sequence[segment] !== sequence[around[0]!])) {
      const isForest = this.#touches.add(this.#scene, position, around, side)
      if (!isForest) this.#cut ??= faultAt(this.#scene, 'disconnected interior', position, around[0]!)
    }
    return true
  }

  /** 1 when a segment of a ring within [−180, 180] comes to the seam at 180, else 0. */
  #sideOfSeam(segment: number, position: number): 0 | 1 {
    const { positions, copy, sequence } = this.#scene
    if (positions.planar || positions.lon[position] !== -180 || !this.#uncrossed.has(sequence[segment]!)) return 0
    return positions.turn[position] === copy[segment]! + 1 ? 1 : 0
  }

  /** Whether two segments on each other are a cut: edges at 180 and at −180. */
  #isCut(s: number, t: number): boolean {
    const { left, right, positions, sequence } = this.#scene
    if (positions.planar || !this.#uncrossed.has(sequence[s]!) || !this.#uncrossed.has(sequence[t]!)) return false
    const isOnSeam = (segment: number): boolean =>
      positions.lon[left[segment]!] === -180 &&
      positions.lon[right[segment]!] === -180 &&
      positions.turn[left[segment]!] === positions.turn[right[segment]!]
    if (!isOnSeam(s) || !isOnSeam(t) || positions.turn[left[s]!] !== positions.turn[left[t]!]) return false
    return this.#sideOfSeam(s, left[s]!) !== this.#sideOfSeam(t, left[t]!)
  }

  #explainMisplaced(segment: number): Invalidity {
    const scene = this.#scene
    const { sequence, step1, left, positions, count } = scene
    const ring = sequence[segment]!
    const exterior = this.#exteriors[Math.abs(step1[segment]!)]!
    const place = left[segment]!
    if (ring === exterior) return faultAt(scene, 'overlapping polygons', place, segment)
    const counted = { marks: sequence, value: exterior, isEqual: true }
    // A few places, since each costs a pass; a hole that touches its exterior ring in all of them lies on its wrong side.
    for (let s = 0, tries = 0; s < count && tries < 8; s++) {
      if (sequence[s] !== ring || Math.abs(positions.lat[left[s]!]!) === 90) continue
      tries++
      const depths = depthsAt(scene, left[s]!, counted)
      if (depths === undefined) continue
      return faultAt(scene, depths.depth0 > 0 ? 'nested holes' : 'hole outside its exterior ring', place, segment)
    }
    return faultAt(scene, 'hole outside its exterior ring', place, segment)
  }
}

/** Depth and sum of keys as in a place outside of all polygons or inside one. */
function isPlace(count: number, keys: number): boolean {
  return count === 0 ? keys === 0 : count === 1 && keys > 0
}
