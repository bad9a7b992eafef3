import type { Scene } from './scene.ts'

/**
 * Rings of polygons and the places where they touch. The interior of a polygon is connected as long as its rings and their
 * common places form no cycle.
 */
export class TouchGraph {
  /** Parent by sequence in the forest of rings known to hang together. */
  readonly #parents = new Map<number, number>()
  /** Places seen, since copies show a place again. */
  readonly #places = new Set<string>()

  /**
   * @param around segments that meet at the position
   * @param side of the seam, where what meets only through it is no touch
   * @returns false when rings of one polygon that hung together already meet again
   */
  add({ positions, sequence, step1 }: Scene, position: number, around: readonly number[], side = 0): boolean {
    const place = `${positions.lon[position]!} ${positions.lat[position]!} ${side}`
    if (this.#places.has(place)) return true
    this.#places.add(place)
    return this.join(around.map((segment) => ({ sequence: sequence[segment]!, key: Math.abs(step1[segment]!) })))
  }

  /**
   * @param rings that meet at one place: their sequences, and the keys of their polygons
   * @returns false when rings of one polygon that hung together already meet again
   */
  join(rings: readonly { readonly sequence: number; readonly key: number }[]): boolean {
    /** First ring of each polygon here, by key. */
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
