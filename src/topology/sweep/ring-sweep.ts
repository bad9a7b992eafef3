import { crossingFault, faultAt, type Invalidity, overlapFault } from '../invalidity.ts'
import { AntimeridianCuts } from '../layout/antimeridian-cuts.ts'
import type { ElementRings } from '../layout/element-rings.ts'
import type { SegmentSet } from '../layout/segment-set.ts'
import { Sweep, type SweepNode, type SweepVisitor } from './sweep.ts'

/**
 * Records which rings of polygons touch, and where. The interior of a polygon is connected as long as its rings and the points at
 * which they touch form no cycle.
 */
class TouchGraph {
  /** Parent by sequence, in a union-find forest of rings that are known to be connected. */
  readonly #parents = new Map<number, number>()
  /** Points already added. A point occurs again in every shifted copy. */
  readonly #pointKeys = new Set<string>()

  /**
   * @param around segments that meet at the position
   * @param side of the antimeridian; edges that meet only across it do not touch
   * @returns false when rings of one polygon that were already connected meet again
   */
  add({ positions, sequence, step1 }: SegmentSet, position: number, around: readonly number[], side = 0): boolean {
    const pointKey = `${positions.lon[position]!} ${positions.lat[position]!} ${side}`
    if (this.#pointKeys.has(pointKey)) return true
    this.#pointKeys.add(pointKey)
    return this.join(around.map((segment) => ({ sequence: sequence[segment]!, key: Math.abs(step1[segment]!) })))
  }

  /**
   * @param rings that meet at one point: their sequences, and the keys of their polygons (see `ElementRings.exteriors`)
   * @returns false when rings of one polygon that were already connected meet again
   */
  join(rings: readonly { readonly sequence: number; readonly key: number }[]): boolean {
    /** First ring of each polygon at this point, by key. */
    const firsts = new Map<number, number>()
    const seen = new Set<number>()
    let isForest = true
    for (const { sequence: ring, key } of rings) {
      if (seen.has(ring)) continue
      seen.add(ring)
      const first = firsts.get(key)
      if (first === undefined) {
        firsts.set(key, ring)
        continue
      }
      const root = this.#root(ring)
      const other = this.#root(first)
      if (root === other) isForest = false
      else this.#parents.set(root, other)
    }
    return isForest
  }

  #root(ring: number): number {
    let root = ring
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent
    let node = ring
    while (node !== root) {
      const parent = this.#parents.get(node)!
      this.#parents.set(node, root)
      node = parent
    }
    return root
  }
}

/**
 * Checks the rings of one element by a sweep over their arrangement. A fault between edges ends the sweep. Misplaced rings and
 * disconnected interiors are reported at the end, because they mean something only when no edge is at fault.
 */
export class ValiditySweep implements SweepVisitor {
  readonly #segments: SegmentSet
  readonly #sweep: Sweep
  /** Sequence of the exterior ring by key. */
  readonly #exteriors: readonly number[]
  readonly #isReal: Uint8Array
  readonly #cuts: AntimeridianCuts
  readonly #touches = new TouchGraph()
  #fault: Invalidity | undefined
  #misplaced = -1
  #disconnected: Invalidity | undefined

  constructor({ segments, rings, exteriors, atPoles }: ElementRings) {
    this.#segments = segments
    this.#sweep = new Sweep(segments)
    this.#exteriors = exteriors
    this.#isReal = new Uint8Array(segments.count)
    for (let s = 0; s < segments.count; s++) this.#isReal[s] = segments.isReal(s) ? 1 : 0
    this.#cuts = new AntimeridianCuts(segments, rings, exteriors)
    for (const [index, lat] of [90, -90].entries()) {
      const at = atPoles[index]!
      if (at.length < 2 || this.#touches.join(at.map(({ role: { sequence, step1 } }) => ({ sequence, key: step1 }))))
        continue
      this.#disconnected ??= { reason: 'disconnected interior', lon: 0, lat, sequence: at[1]!.role.sequence }
    }
  }

  findFault(): Invalidity | undefined {
    this.#sweep.run(Int32Array.from(this.#isReal.keys()), this)
    return this.#fault ?? (this.#misplaced >= 0 ? this.#explainMisplaced(this.#misplaced) : this.#disconnected)
  }

  visitCrossing(lower: number, upper: number): boolean {
    if (this.#isReal[lower] === 0 || this.#isReal[upper] === 0) return true
    this.#fault = crossingFault(this.#segments, lower, upper)
    return false
  }

  visitPiece(outgoing: readonly number[], from: number, to: number): boolean {
    let original = -1
    let real = -1
    let isPaired = false
    for (let i = from; i < to; i++) {
      const segment = outgoing[i]!
      if (this.#isReal[segment] === 0) continue
      if (real >= 0) {
        if (isPaired || !this.#cuts.isCut(real, segment)) {
          this.#fault = overlapFault(this.#segments, real, segment)
          return false
        }
        isPaired = true
      }
      real = segment
      if (this.#segments.copy[segment] === 0) original = segment
    }
    // Depths around copies are incomplete, but every fault also shows around an original.
    if (original < 0 || this.#misplaced >= 0) return true
    const { below0, below1, above0, above1 } = this.#sweep
    const isValid =
      isValidDepth(below0[original]!, below1[original]!) && isValidDepth(above0[original]!, above1[original]!)
    if (!isValid) this.#misplaced = original
    return true
  }

  visitNode({ position, incoming, outgoing }: SweepNode): boolean {
    if (incoming.length + outgoing.length <= 2) return true
    const isReal = (segment: number): boolean => this.#isReal[segment] === 1
    const leaving = outgoing.filter(isReal)
    const arriving = incoming.filter(isReal).reverse()
    this.#orderCut(leaving, position, 0)
    this.#orderCut(arriving, position, 1)
    // Counter-clockwise from below: outgoing segments from bottom to top, then incoming segments from top to bottom.
    const around = [...leaving, ...arriving]
    // As with pieces, faults show around originals.
    if (around.length <= 2 || around.every((segment) => this.#segments.copy[segment] !== 0)) return true
    const sideOf = this.#cuts.sidesAt(around, position)
    if (!this.#checkRings(position, around, sideOf)) return false
    for (const side of [0, 1] as const) {
      const sameSide = around.filter((segment) => sideOf(segment) === side)
      if (sameSide.length > 2) this.#touch(position, sameSide, side)
    }
    return true
  }

  /** Puts the two edges of a cut, which come last, into the order in which a walk around the position meets their sides. */
  #orderCut(segments: number[], position: number, first: 0 | 1): void {
    const last = segments.length - 1
    if (last < 1 || !this.#cuts.isCut(segments[last - 1]!, segments[last]!)) return
    if (this.#cuts.sideAt(segments[last]!, position) !== first) return
    segments.push(...segments.splice(last - 1, 1))
  }

  /** Checks the rings that meet at a position: none comes there twice, and no two cross. */
  #checkRings(position: number, around: readonly number[], sideOf: (segment: number) => 0 | 1): boolean {
    // Edges on the other side of the antimeridian are another strand of the same ring.
    const strandOf = (segment: number): number => 2 * this.#segments.sequence[segment]! + sideOf(segment)
    const ends = new Map<number, number>()
    for (const segment of around) ends.set(strandOf(segment), (ends.get(strandOf(segment)) ?? 0) + 1)
    const open: number[] = []
    const isOpen = new Set<number>()
    for (const segment of around) {
      const ring = strandOf(segment)
      const count = ends.get(ring)!
      if (count > 2) {
        this.#fault = faultAt(this.#segments, 'self-touch', position, segment)
        return false
      }
      // A ring with only one end here continues along the pole.
      if (count < 2) continue
      if (open[open.length - 1] === ring) open.pop()
      else if (!isOpen.has(ring)) {
        open.push(ring)
        isOpen.add(ring)
      } else {
        this.#fault = faultAt(this.#segments, 'self-intersection', position, segment)
        return false
      }
    }
    return true
  }

  #touch(position: number, around: readonly number[], side: 0 | 1): void {
    const { sequence, positions } = this.#segments
    // The constructor has checked the poles.
    if (Math.abs(positions.lat[position]!) === 90) return
    if (around.every((segment) => sequence[segment] === sequence[around[0]!])) return
    const isForest = this.#touches.add(this.#segments, position, around, side)
    if (!isForest) this.#disconnected ??= faultAt(this.#segments, 'disconnected interior', position, around[0]!)
  }

  #explainMisplaced(segment: number): Invalidity {
    const segments = this.#segments
    const { sequence, step1, left, positions, copy, count } = segments
    const ring = sequence[segment]!
    const exterior = this.#exteriors[Math.abs(step1[segment]!)]!
    const position = left[segment]!
    if (ring === exterior) return faultAt(segments, 'overlapping polygons', position, segment)
    // A few positions only, because each costs a pass. A hole that touches its exterior ring at all of them lies outside of it.
    for (let s = 0, tries = 0; s < count && tries < 8; s++) {
      // Copies may lie outside of the window, where edges are missing.
      if (sequence[s] !== ring || copy[s] !== 0 || Math.abs(positions.lat[left[s]!]!) === 90) continue
      tries++
      const depth = depthIn(segments, exterior, left[s]!)
      if (depth === undefined) continue
      return faultAt(segments, depth > 0 ? 'nested holes' : 'hole outside its exterior ring', position, segment)
    }
    return faultAt(segments, 'hole outside its exterior ring', position, segment)
  }
}

/**
 * Returns the depth of a position relative to one ring, in one pass over its edges: the sum of the steps of those below it.
 * Undefined when the position lies on the ring.
 */
function depthIn(segments: SegmentSet, ring: number, position: number): number | undefined {
  const { positions, left, right, sequence, step0 } = segments
  let depth = 0
  for (let s = 0; s < segments.count; s++) {
    if (sequence[s] !== ring) continue
    // The vertical line through the position, tilted by an infinitesimal angle so that it meets no other position.
    const fromLeft = positions.compare(left[s]!, position)
    if (fromLeft > 0) continue
    const toRight = positions.compare(position, right[s]!)
    if (toRight > 0) continue
    const side = fromLeft === 0 || toRight === 0 ? 0 : positions.orientation(left[s]!, right[s]!, position)
    if (side === 0) return undefined
    if (side > 0) depth += step0[s]!
  }
  return depth
}

/** Tells whether depth and sum of keys are those of a point outside all polygons, or inside one. */
function isValidDepth(count: number, keys: number): boolean {
  return count === 0 ? keys === 0 : count === 1 && keys > 0
}
