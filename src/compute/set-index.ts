import { spendWork } from '../base/work.ts'
import { canonicalGeometry } from '../crypto/canonical.ts'
import { utf8 } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { hasWholeParallel } from '../geometry/whole-parallels.ts'
import { PreparedTopology } from '../topology/plane/prepared.ts'
import type { SetShape } from '../wire/set-messages.ts'
import type { StoredShape } from '../wire/stored-messages.ts'
import type { Hex } from '../wire/values.ts'
import { boxDistance } from './box-distance.ts'
import { childrenOf, featureEdgeTree, featureGeoJson, featureGeometry, setLevels } from './set-tree.ts'

/** Features of which a thread remembers what it has computed. */
const MAX_REMEMBERED = 4096
/** Nodes of the tree that count as one unit of work. */
const NODES_PER_UNIT = 16

/** A set in one thread: searches its tree, and remembers what is computed of single features. */
export class SetIndex {
  readonly #set: SetShape
  readonly #levels: readonly number[]
  readonly #topologies = new Map<number, PreparedTopology>()
  readonly #refs = new Map<number, Hex>()
  readonly #parallels = new Map<number, boolean>()

  constructor(set: SetShape) {
    this.#set = set
    this.#levels = setLevels(set.count)
  }

  /** Returns the features whose box contains a position, ascending. */
  findAt(lon: number, lat: number): number[] {
    const { boxes, leafFeatures } = this.#set.trees
    const levels = this.#levels
    const found: number[] = []
    let visited = 0
    const visit = (level: number, node: number): void => {
      visited++
      const o = 4 * (levels[level]! + node)
      if (lon < boxes[o]! || lon > boxes[o + 2]! || lat < boxes[o + 1]! || lat > boxes[o + 3]!) return
      if (level === 0) {
        found.push(leafFeatures[node]!)
        return
      }
      const [from, to] = childrenOf(levels, level, node)
      for (let child = from; child < to; child++) visit(level - 1, child)
    }
    if (this.#set.count > 0) visit(levels.length - 2, 0)
    spendWork(visited / NODES_PER_UNIT)
    return found.length > 1 ? found.sort((a, b) => a - b) : found
  }

  /**
   * Visits features in the order of a lower bound of their distances from a position.
   *
   * @param reach returns the distance in metres beyond which no feature matters; it may shrink
   */
  visitNearest(lon: number, lat: number, reach: () => number, visit: (feature: number) => void): void {
    const { boxes, leafFeatures } = this.#set.trees
    const levels = this.#levels
    const queue = new NodeQueue()
    const add = (level: number, node: number): void => {
      const o = 4 * (levels[level]! + node)
      const bound = boxDistance(lon, lat, boxes[o]!, boxes[o + 1]!, boxes[o + 2]!, boxes[o + 3]!)
      if (bound <= reach()) queue.push(bound, level, node)
    }
    if (this.#set.count > 0) add(levels.length - 2, 0)
    while (queue.pop()) {
      const { level, node } = queue
      if (queue.bound > reach()) return
      spendWork(1 / 4)
      if (level === 0) visit(leafFeatures[node]!)
      else {
        const [from, to] = childrenOf(levels, level, node)
        for (let child = from; child < to; child++) add(level - 1, child)
      }
    }
  }

  /** A feature for predicates. */
  topology(feature: number): PreparedTopology {
    const known = this.#topologies.get(feature)
    if (known !== undefined) return known
    const geometry = featureGeometry(this.#set.features, feature)
    const topology = new PreparedTopology(geometry, featureEdgeTree(this.#set.trees, feature, geometry))
    if (this.#topologies.size >= MAX_REMEMBERED) this.#topologies.clear()
    this.#topologies.set(feature, topology)
    return topology
  }

  /** A feature as an input. @param ref its reference, or any text that names it if the reference is not needed */
  shape(feature: number, ref: Hex): StoredShape {
    const { geometry } = this.topology(feature)
    // Its polygons were checked when the set was stored.
    return { ref, geometry, validityWork: 0, hasWholeParallel: this.#hasParallel(feature, geometry) }
  }

  #hasParallel(feature: number, geometry: FlatGeometry): boolean {
    const known = this.#parallels.get(feature)
    if (known !== undefined) return known
    const result = hasWholeParallel(geometry)
    if (this.#parallels.size >= MAX_REMEMBERED) this.#parallels.clear()
    this.#parallels.set(feature, result)
    return result
  }

  /** Hash of the canonical text of the feature's geometry. */
  ref(feature: number, keccak: Keccak): Hex {
    const known = this.#refs.get(feature)
    if (known !== undefined) return known
    const ref = keccak.hashHex(utf8(canonicalGeometry(featureGeoJson(this.topology(feature).geometry))))
    if (this.#refs.size >= MAX_REMEMBERED) this.#refs.clear()
    this.#refs.set(feature, ref)
    return ref
  }

  /** Text that names a feature among those of all sets. */
  name(feature: number): Hex {
    return `0x${this.#set.id}#${feature}`
  }

  /** `"feature":…` as JSON. */
  nameText(feature: number): string {
    return this.#text(2 * feature)
  }

  /** The properties as JSON. */
  propertiesText(feature: number): string {
    return this.#text(2 * feature + 1)
  }

  #text(index: number): string {
    const { texts, textStarts } = this.#set.features
    return Buffer.from(texts.buffer, texts.byteOffset, texts.byteLength).toString(
      'utf8',
      textStarts[index],
      textStarts[index + 1],
    )
  }
}

/** A binary heap of nodes, the one with the smallest bound first. */
class NodeQueue {
  readonly #bounds: number[] = []
  readonly #levels: number[] = []
  readonly #nodes: number[] = []
  bound = 0
  level = 0
  node = 0

  push(bound: number, level: number, node: number): void {
    const bounds = this.#bounds
    let at = bounds.length
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (bounds[parent]! <= bound) break
      this.#move(parent, at)
      at = parent
    }
    bounds[at] = bound
    this.#levels[at] = level
    this.#nodes[at] = node
  }

  /** Takes the first node into `bound`, `level` and `node`. @returns false if there is none */
  pop(): boolean {
    const bounds = this.#bounds
    if (bounds.length === 0) return false
    this.bound = bounds[0]!
    this.level = this.#levels[0]!
    this.node = this.#nodes[0]!
    const last = bounds.pop()!
    const lastLevel = this.#levels.pop()!
    const lastNode = this.#nodes.pop()!
    const size = bounds.length
    if (size === 0) return true
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= size) break
      if (child + 1 < size && bounds[child + 1]! < bounds[child]!) child++
      if (bounds[child]! >= last) break
      this.#move(child, at)
      at = child
    }
    bounds[at] = last
    this.#levels[at] = lastLevel
    this.#nodes[at] = lastNode
    return true
  }

  #move(from: number, to: number): void {
    this.#bounds[to] = this.#bounds[from]!
    this.#levels[to] = this.#levels[from]!
    this.#nodes[to] = this.#nodes[from]!
  }
}
