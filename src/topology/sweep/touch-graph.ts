import type { SegmentSet } from '../layout/scene.ts'

/**
 * Records which rings of polygons touch, and where. The interior of a polygon is connected as long as its rings and the points at
 * which they touch form no cycle.
 */
export class TouchGraph {
  /** Parent by sequence, in a union-find forest of rings that are known to be connected. */
  readonly #parents = new Map<number, number>()
  /** Points already added, because copies show a point again. */
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
   * @param rings that meet at one point: their sequences, and the keys of their polygons
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
