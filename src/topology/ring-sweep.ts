import type { ElementRings } from './element-rings.ts'
import { crossingFault, faultAt, type Invalidity, overlapFault } from './invalidity.ts'
import { depthsAt } from './locate.ts'
import type { Scene } from './scene.ts'
import { SeamCuts } from './seam-cuts.ts'
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
  readonly #cuts: SeamCuts
  readonly #touches = new TouchGraph()
  #fault: Invalidity | undefined
  #misplaced = -1
  #disconnected: Invalidity | undefined

  constructor({ scene, rings, exteriors, atPoles }: ElementRings) {
    this.#scene = scene
    this.#sweep = new Sweep(scene)
    this.#exteriors = exteriors
    this.#isReal = new Uint8Array(scene.count)
    for (let s = 0; s < scene.count; s++) this.#isReal[s] = scene.isReal(s) ? 1 : 0
    this.#cuts = new SeamCuts(scene, rings, exteriors)
    for (const [index, lat] of [90, -90].entries()) {
      const at = atPoles[index]!
      if (at.length < 2 || this.#touches.join(at.map(({ role: { sequence, step1 } }) => ({ sequence, key: step1 }))))
        continue
      this.#disconnected ??= { reason: 'disconnected interior', lon: 0, lat, sequence: at[1]!.role.sequence }
    }
  }

  find(): Invalidity | undefined {
    this.#sweep.run(Int32Array.from(this.#isReal.keys()), this)
    return this.#fault ?? (this.#misplaced >= 0 ? this.#explainMisplaced(this.#misplaced) : this.#disconnected)
  }

  crossing(lower: number, upper: number): boolean {
    if (this.#isReal[lower] === 0 || this.#isReal[upper] === 0) return true
    this.#fault = crossingFault(this.#scene, lower, upper)
    return false
  }

  piece(outgoing: readonly number[], from: number, to: number): boolean {
    let original = -1
    let real = -1
    let isPaired = false
    for (let i = from; i < to; i++) {
      const segment = outgoing[i]!
      if (this.#isReal[segment] === 0) continue
      if (real >= 0) {
        if (isPaired || !this.#cuts.isCut(real, segment)) {
          this.#fault = overlapFault(this.#scene, real, segment)
          return false
        }
        isPaired = true
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
    const isReal = (segment: number): boolean => this.#isReal[segment] === 1
    const leaving = outgoing.filter(isReal)
    const arriving = incoming.filter(isReal).reverse()
    this.#orderCut(leaving, position, 0)
    this.#orderCut(arriving, position, 1)
    // Counter-clockwise from below: what leaves from bottom to top, then what arrives from top to bottom.
    const around = [...leaving, ...arriving]
    // As for pieces, originals tell.
    if (around.length <= 2 || around.every((segment) => this.#scene.copy[segment] !== 0)) return true
    if (!this.#judgeRings(position, around)) return false
    for (const side of [0, 1] as const) {
      const there = around.filter((segment) => this.#cuts.sideOf(segment, position) === side)
      if (there.length > 2) this.#touch(position, there, side)
    }
    return true
  }

  /** Puts the two edges of a cut, which stand last, in the order in which a walk around the position comes to their sides. */
  #orderCut(segments: number[], position: number, first: 0 | 1): void {
    const last = segments.length - 1
    if (last < 1 || !this.#cuts.isCut(segments[last - 1]!, segments[last]!)) return
    if (this.#cuts.sideOf(segments[last]!, position) !== first) return
    segments.push(...segments.splice(last - 1, 1))
  }

  /** Rings at a place: none comes there twice, and none changes sides with another. */
  #judgeRings(position: number, around: readonly number[]): boolean {
    // What comes from the other side of the seam is another strand of the same ring.
    const strandOf = (segment: number): number =>
      2 * this.#scene.sequence[segment]! + this.#cuts.sideOf(segment, position)
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
      // A ring with one end here goes on along the pole.
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

  #touch(position: number, around: readonly number[], side: 0 | 1): void {
    const { sequence, positions } = this.#scene
    // Poles were looked at before.
    if (Math.abs(positions.lat[position]!) === 90) return
    if (around.every((segment) => sequence[segment] === sequence[around[0]!])) return
    const isForest = this.#touches.add(this.#scene, position, around, side)
    if (!isForest) this.#disconnected ??= faultAt(this.#scene, 'disconnected interior', position, around[0]!)
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
