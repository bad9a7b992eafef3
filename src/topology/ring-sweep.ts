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

  /** @param scene rings whose depth 0 counts polygons and whose depth 1 adds their keys */
  constructor(scene: Scene, exteriors: readonly number[]) {
    this.#scene = scene
    this.#sweep = new Sweep(scene)
    this.#exteriors = exteriors
    this.#isReal = new Uint8Array(scene.count)
    for (let s = 0; s < scene.count; s++) this.#isReal[s] = isReal(scene, s) ? 1 : 0
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
      if (real >= 0) {
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
    const { sequence } = this.#scene
    // Counter-clockwise from below: what leaves from bottom to top, then what arrives from top to bottom.
    const around = [...outgoing, ...incoming.toReversed()].filter((segment) => this.#isReal[segment] === 1)
    if (around.length <= 2) return true
    const ends = new Map<number, number>()
    for (const segment of around) ends.set(sequence[segment]!, (ends.get(sequence[segment]!) ?? 0) + 1)
    const open: number[] = []
    const isOpen = new Set<number>()
    for (const segment of around) {
      const ring = sequence[segment]!
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
    if (ends.size > 1 && !this.#touches.add(this.#scene, position, around)) {
      this.#cut ??= faultAt(this.#scene, 'disconnected interior', position, around[0]!)
    }
    return true
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

/** Edges that count: not those along a pole, which is one point, nor those that only close a ring over its pole. */
export function isReal({ positions, left, right, vertex }: Scene, segment: number): boolean {
  if (vertex[segment]! < 0) return false
  const lat = positions.lat[left[segment]!]!
  return (lat !== 90 && lat !== -90) || lat !== positions.lat[right[segment]!]
}

/** Depth and sum of keys as in a place outside of all polygons or inside one. */
function isPlace(count: number, keys: number): boolean {
  return count === 0 ? keys === 0 : count === 1 && keys > 0
}
