/** Makes polygons from rings that meet at common vertices only, by the depths of the faces between them. */
import { spendWork } from '../../base/work.ts'
import { orientation } from '../exact/exact.ts'
import { sideOfRing } from '../exact/point-in-ring.ts'
import type { Chain } from './noding.ts'
import { Places } from './places.ts'

/** A ring of a polygon: closed, interleaved lon, lat in degrees, with the sequence of the input from which its first edge comes. */
export interface Ring {
  readonly vertices: Float64Array
  readonly source: number
}

/** The exterior ring, counterclockwise, and its holes, clockwise. */
export type Polygon = readonly Ring[]

/** Tells from the two depths of a face whether it is inside. A ring adds 1 to the depth of its layer on its left. */
export type InsideRule = (depth0: number, depth1: number) => boolean

/** Units of work of each vertex, and of each comparison with an edge or a ring. */
const VERTEX_WORK = 1
const COMPARISON_WORK = 1 / 64

/**
 * Returns the faces that are inside, joined where they share an edge, as valid polygons.
 *
 * Rings start at the vertex that comes first in the chains, and polygons are in the order of these vertices.
 *
 * @param chains as `nodeChains` returns them
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
export function assemblePolygons(chains: readonly Chain[], isInside: InsideRule): Polygon[] {
  const graph = new Graph(chains)
  graph.findDepths()
  return graph.tracePolygons(isInside)
}

/** A ring in nodes of the graph, without the first again as the last. */
interface Loop {
  readonly nodes: readonly number[]
  readonly source: number
}

interface Shell {
  readonly ring: Ring
  readonly holes: Ring[]
  readonly firstNode: number
  readonly box: readonly [west: number, south: number, east: number, north: number]
  readonly size: number
}

/**
 * Nodes and edges. Edge e has the half-edges 2e, from the node that comes first in the chains to the other, and 2e + 1. Edges that
 * rings follow as often in one direction as in the other have no effect, and are left out.
 */
class Graph {
  readonly #lon: readonly number[]
  readonly #lat: readonly number[]
  /** Start of each half-edge. */
  readonly #from: number[] = []
  /** Difference of the depths on the two sides of each half-edge: left − right, for both layers. */
  readonly #step0: number[] = []
  readonly #step1: number[] = []
  readonly #source: number[] = []
  /** Half-edges that start at each node, counterclockwise from south, and the index of each half-edge there. */
  readonly #out: number[][]
  readonly #index: number[] = []
  /** Depths on the left of each half-edge. */
  readonly #depth0: Int32Array
  readonly #depth1: Int32Array

  constructor(chains: readonly Chain[]) {
    const places = new Places()
    this.#lon = places.lon
    this.#lat = places.lat
    const edges = new Map<number, { a: number; b: number; step0: number; step1: number; source: number }>()
    for (const { vertices, layer, source } of chains) {
      spendWork((vertices.length / 2) * VERTEX_WORK)
      let from = places.add(vertices[0]!, vertices[1]!)
      for (let i = 2; i < vertices.length; i += 2) {
        const to = places.add(vertices[i]!, vertices[i + 1]!)
        const [a, b] = from < to ? [from, to] : [to, from]
        const key = a * 2 ** 26 + b
        let edge = edges.get(key)
        if (edge === undefined) {
          edge = { a, b, step0: 0, step1: 0, source }
          edges.set(key, edge)
        }
        const step = from < to ? 1 : -1
        if (layer === 0) edge.step0 += step
        else edge.step1 += step
        from = to
      }
    }
    this.#out = this.#lon.map(() => [])
    for (const { a, b, step0, step1, source } of edges.values()) {
      if (a === b || (step0 === 0 && step1 === 0)) continue
      const half = this.#from.length
      this.#from.push(a, b)
      this.#step0.push(step0, -step0)
      this.#step1.push(step1, -step1)
      this.#source.push(source, source)
      this.#out[a]!.push(half)
      this.#out[b]!.push(half + 1)
    }
    for (const [node, out] of this.#out.entries()) {
      out.sort((g, h) => this.#compareDirections(node, this.#to(g), this.#to(h)))
      for (const [index, half] of out.entries()) this.#index[half] = index
    }
    this.#depth0 = new Int32Array(this.#from.length)
    this.#depth1 = new Int32Array(this.#from.length)
  }

  #to(half: number): number {
    return this.#from[half ^ 1]!
  }

  #isBefore(a: number, b: number): boolean {
    const [x, y] = [this.#lon[a]!, this.#lon[b]!]
    return x !== y ? x < y : this.#lat[a]! < this.#lat[b]!
  }

  /** Orientation of three nodes: positive if c lies to the left of a → b. */
  #orientation(a: number, b: number, c: number): number {
    const [lon, lat] = [this.#lon, this.#lat]
    return orientation(lon[a]!, lat[a]!, lon[b]!, lat[b]!, lon[c]!, lat[c]!)
  }

  /** Compares two directions by their angles from south, counterclockwise; south itself comes last. */
  #compareDirections(node: number, g: number, h: number): number {
    const isWestG = this.#isBefore(g, node)
    const isWestH = this.#isBefore(h, node)
    if (isWestG !== isWestH) return isWestG ? 1 : -1
    return -this.#orientation(node, g, h)
  }

  /** Finds the depths around each component of the graph, from its westernmost node on. */
  findDepths(): void {
    const firsts = this.#westernmostNodes()
    const edges: number[] = []
    for (let half = 0; half < this.#from.length; half += 2)
      edges.push(this.#isBefore(this.#from[half]!, this.#to(half)) ? half : half + 1)
    // Half-edges that run east, by their western ends.
    edges.sort((g, h) => this.#lon[this.#from[g]!]! - this.#lon[this.#from[h]!]! || g - h)
    let entered = 0
    let active: number[] = []
    for (const first of firsts) {
      const lon = this.#lon[first]!
      while (entered < edges.length && this.#lon[this.#from[edges[entered]!]!]! < lon) active.push(edges[entered++]!)
      active = active.filter((half) => this.#lon[this.#to(half)]! >= lon)
      spendWork(active.length * COMPARISON_WORK)
      let [depth0, depth1] = [0, 0]
      for (const half of active) {
        if (this.#orientation(this.#from[half]!, this.#to(half), first) <= 0) continue
        depth0 += this.#step0[half]!
        depth1 += this.#step1[half]!
      }
      this.#spreadDepths(first, depth0, depth1)
    }
  }

  /** Returns the westernmost node of each component; of several the southernmost. In the order of their longitudes. */
  #westernmostNodes(): number[] {
    const isSeen = new Uint8Array(this.#out.length)
    const firsts: number[] = []
    for (let start = 0; start < this.#out.length; start++) {
      if (isSeen[start] === 1 || this.#out[start]!.length === 0) continue
      isSeen[start] = 1
      let first = start
      const pending = [start]
      while (pending.length > 0) {
        const node = pending.pop()!
        if (this.#isBefore(node, first)) first = node
        for (const half of this.#out[node]!) {
          const to = this.#to(half)
          if (isSeen[to] === 1) continue
          isSeen[to] = 1
          pending.push(to)
        }
      }
      firsts.push(first)
    }
    return firsts.sort((a, b) => (this.#isBefore(a, b) ? -1 : 1))
  }

  /** @param depth0 depth to the west of the component's westernmost node */
  #spreadDepths(first: number, depth0: number, depth1: number): void {
    const isSeen = new Set([first])
    this.#goAround(first, 0, depth0, depth1)
    const pending = [first]
    while (pending.length > 0) {
      for (const half of this.#out[pending.pop()!]!) {
        const to = this.#to(half)
        if (isSeen.has(to)) continue
        isSeen.add(to)
        // What is on the left of a half-edge is on the right of the opposite one.
        this.#goAround(to, this.#index[half ^ 1]!, this.#depth0[half]!, this.#depth1[half]!)
        pending.push(to)
      }
    }
  }

  /** Sets the depths around a node, counterclockwise from the half-edge at an index, given those on its right. */
  #goAround(node: number, index: number, depth0: number, depth1: number): void {
    const out = this.#out[node]!
    let [left0, left1] = [depth0, depth1]
    for (let i = 0; i < out.length; i++) {
      const half = out[(index + i) % out.length]!
      left0 += this.#step0[half]!
      left1 += this.#step1[half]!
      this.#depth0[half] = left0
      this.#depth1[half] = left1
    }
  }

  tracePolygons(isInside: InsideRule): Polygon[] {
    const isLeftInside = (half: number) => isInside(this.#depth0[half]!, this.#depth1[half]!)
    const isBoundary = this.#from.map((_, half) => isLeftInside(half) && !isLeftInside(half ^ 1))
    const isDone = new Uint8Array(isBoundary.length)
    const shells: Shell[] = []
    const holes: Ring[] = []
    for (let start = 0; start < isBoundary.length; start++) {
      if (!isBoundary[start] || isDone[start] === 1) continue
      const walk: number[] = []
      for (let half = start; isDone[half] === 0; half = this.#nextBoundary(half, isBoundary)) {
        isDone[half] = 1
        walk.push(half)
      }
      const own: Ring[] = []
      let shell: Shell | undefined
      for (const loop of this.#splitWalk(walk)) {
        if (this.#isCounterclockwise(loop.nodes)) {
          shell = this.#toShell(loop)
          shells.push(shell)
        } else own.push(this.#toRing(loop))
      }
      if (shell === undefined) holes.push(...own)
      else shell.holes.push(...own)
    }
    for (const hole of holes) findShell(shells, hole.vertices)?.holes.push(hole)
    return shells.sort((a, b) => a.firstNode - b.firstNode).map(({ ring, holes: inner }) => [ring, ...inner])
  }

  /** Returns the half-edge with which the boundary of the same face goes on. */
  #nextBoundary(half: number, isBoundary: readonly boolean[]): number {
    const out = this.#out[this.#to(half)]!
    let index = this.#index[half ^ 1]!
    for (;;) {
      index = (index + out.length - 1) % out.length
      if (isBoundary[out[index]!]) return out[index]!
    }
  }

  /** Splits the boundary of a face into rings, wherever it comes to a node again. */
  #splitWalk(walk: readonly number[]): Loop[] {
    const loops: Loop[] = []
    const stack: number[] = []
    const at = new Map<number, number>()
    for (const half of walk) {
      const node = this.#from[half]!
      const before = at.get(node)
      if (before !== undefined) loops.push(this.#cutLoop(stack, before, at))
      at.set(node, stack.length)
      stack.push(half)
    }
    loops.push(this.#cutLoop(stack, 0, at))
    return loops
  }

  #cutLoop(stack: number[], start: number, at: Map<number, number>): Loop {
    const halves = stack.splice(start)
    const nodes = halves.map((half) => this.#from[half]!)
    for (const node of nodes) at.delete(node)
    let first = 0
    for (let i = 1; i < nodes.length; i++) if (nodes[i]! < nodes[first]!) first = i
    return { nodes: [...nodes.slice(first), ...nodes.slice(0, first)], source: this.#source[halves[first]!]! }
  }

  #isCounterclockwise(nodes: readonly number[]): boolean {
    let first = 0
    for (let i = 1; i < nodes.length; i++) if (this.#isBefore(nodes[i]!, nodes[first]!)) first = i
    const before = nodes[(first + nodes.length - 1) % nodes.length]!
    const after = nodes[(first + 1) % nodes.length]!
    return this.#orientation(before, nodes[first]!, after) > 0
  }

  #toRing({ nodes, source }: Loop): Ring {
    const vertices = new Float64Array(2 * nodes.length + 2)
    for (const [i, node] of [...nodes, nodes[0]!].entries()) {
      vertices[2 * i] = this.#lon[node]!
      vertices[2 * i + 1] = this.#lat[node]!
    }
    return { vertices, source }
  }

  #toShell(loop: Loop): Shell {
    const ring = this.#toRing(loop)
    return {
      ring,
      holes: [],
      firstNode: loop.nodes[0]!,
      box: boxOf(ring.vertices),
      size: Math.abs(shoelace(ring.vertices)),
    }
  }
}

/** Returns the smallest shell around a hole that has no vertex in common with it, or touches it only. */
function findShell(shells: readonly Shell[], hole: Float64Array): Shell | undefined {
  const [west, south, east, north] = boxOf(hole)
  let smallest: Shell | undefined
  spendWork(shells.length * COMPARISON_WORK)
  for (const shell of shells) {
    const [shellWest, shellSouth, shellEast, shellNorth] = shell.box
    if (west < shellWest || south < shellSouth || east > shellEast || north > shellNorth) continue
    if (smallest !== undefined && smallest.size <= shell.size) continue
    if (isInsideRing(hole, shell.ring.vertices)) smallest = shell
  }
  return smallest
}

/** Tells whether a ring that crosses no edge of another one lies inside of it. */
function isInsideRing(ring: Float64Array, outer: Float64Array): boolean {
  const last = outer.length / 2
  for (let i = 2; i < ring.length; i += 2) {
    spendWork(last * COMPARISON_WORK)
    const side = sideOfRing(outer, 0, last, ring[i]!, ring[i + 1]!)
    if (side !== 0) return side > 0
  }
  // All vertices touch. An edge between two of them does not, or the rings would be the same there.
  for (let i = 2; i < ring.length; i += 2) {
    const side = sideOfRing(outer, 0, last, (ring[i - 2]! + ring[i]!) / 2, (ring[i - 1]! + ring[i + 1]!) / 2)
    if (side !== 0) return side > 0
  }
  return false
}

function boxOf(vertices: Float64Array): readonly [number, number, number, number] {
  let [west, south, east, north] = [vertices[0]!, vertices[1]!, vertices[0]!, vertices[1]!]
  for (let i = 2; i < vertices.length; i += 2) {
    west = Math.min(west, vertices[i]!)
    east = Math.max(east, vertices[i]!)
    south = Math.min(south, vertices[i + 1]!)
    north = Math.max(north, vertices[i + 1]!)
  }
  return [west, south, east, north]
}

function shoelace(vertices: Float64Array): number {
  const [originX, originY] = [vertices[0]!, vertices[1]!]
  let sum = 0
  for (let i = 2; i < vertices.length; i += 2) {
    const [ax, ay] = [vertices[i - 2]! - originX, vertices[i - 1]! - originY]
    sum += ax * (vertices[i + 1]! - originY) - ay * (vertices[i]! - originX)
  }
  return sum / 2
}
