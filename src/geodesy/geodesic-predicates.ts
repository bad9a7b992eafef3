/**
 * Decides `contains` and `intersects` for geometries whose edges are shortest geodesics of WGS 84.
 *
 * Every decision rests on one of four facts, each of which the margin makes certain:
 * - two geometries are apart, because their distance is at least the margin;
 * - a place that is away from the edges of a polygon is inside or outside of it;
 * - two edges cross, because the ends of each lie on different sides of the other, away from its line;
 * - two vertices or edges are the same.
 * Where these do not decide, there is no answer.
 */

import { spendWork } from '../base/work.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import type { Kernel } from '../wasm/loader.ts'
import { GeodesicEdge, type Offset, UNCERTAIN_METERS } from './edge-offset.ts'
import { linesFrom, MARGIN_METERS, Nearness } from './nearness.ts'
import { polygonWalls } from './polygon-walls.ts'
import type { PreparedDistance } from './prepared-distance.ts'

/**
 * Longest edge whose geodesic is accurate to the margin, metres. Towards the antipode, azimuths determine the middle of an edge less
 * and less: at this length, an error of 15 nm at the end is one of 0.1 µm in the middle.
 */
export const LONGEST_EDGE_METERS = 19_000_000

/** Longest pieces of edges whose crossing is decided by their sides, metres. Two that meet lie in a convex part of the surface. */
const LONGEST_PIECE_METERS = 500_000
/** Length of a piece as a share of the edge that is divided into two. */
const PIECE_SHARE = 0.55

/** A geometry, with what was prepared of it. */
export interface GeodesicOperand {
  readonly geometry: FlatGeometry
  readonly distance: PreparedDistance | FlatGeometry
  /** The boundary of its polygons. Undefined if it is not prepared. */
  readonly walls: Walls | undefined
}

/** The boundary of polygons as lines, and the same for distances. */
export interface Walls {
  readonly lines: readonly Float64Array[]
  /** Undefined if there are none. */
  readonly distance: PreparedDistance | FlatGeometry | undefined
}

/** Finds the boundary of the polygons of a geometry. */
export function wallsOf(geometry: FlatGeometry): Walls & { readonly distance: FlatGeometry | undefined } {
  const lines = polygonWalls(geometry)
  return { lines, distance: lines.length === 0 ? undefined : linesFrom(lines) }
}

/**
 * Tells whether a contains b: no point of b lies outside of a, and their interiors meet.
 *
 * @param a has polygons that are valid as geodesics, and no whole parallels
 * @param b likewise
 * @returns undefined if the answer is not certain
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
export function containsOnGeodesics(kernel: Kernel, a: GeodesicOperand, b: GeodesicOperand): boolean | undefined {
  if (isSame(a.geometry, b.geometry)) return true
  if (hasOnlyPoints(a.geometry)) return containsAsPoints(a.geometry, b.geometry)
  const hasPolygons = a.geometry.partDimensions.includes(2)
  if (!hasPolygons && b.geometry.partDimensions.includes(2)) return false
  if (hasLongEdge(kernel, a.geometry) || hasLongEdge(kernel, b.geometry)) return undefined
  const near = new Nearness(kernel)
  const [shapeA, shapeB] = [new Shape(near, a), new Shape(near, b)]
  if (near.areApart(shapeA.whole, shapeB.whole)) return false
  if (!hasPolygons) return new LineContainer(kernel, shapeA, shapeB).decide()
  return new PolygonContainer(kernel, near, shapeA, shapeB).decide()
}

/** Tells whether a and b share any point. Arguments, result and errors are those of `containsOnGeodesics`. */
export function intersectsOnGeodesics(kernel: Kernel, a: GeodesicOperand, b: GeodesicOperand): boolean | undefined {
  if (shareVertex(a.geometry, b.geometry)) return true
  if (hasOnlyPoints(a.geometry) && hasOnlyPoints(b.geometry)) return false
  if (hasLongEdge(kernel, a.geometry) || hasLongEdge(kernel, b.geometry)) return undefined
  const near = new Nearness(kernel)
  const [shapeA, shapeB] = [new Shape(near, a), new Shape(near, b)]
  if (near.areApart(shapeA.whole, shapeB.whole)) return false
  const isMet =
    shapeA.holdsVertexOf(shapeB) ||
    shapeB.holdsVertexOf(shapeA) ||
    new Crossings(kernel, near).find(shapeA.edges, shapeB.edges, () => true)
  return isMet ? true : undefined
}

/** A geometry with what is derived from it, in the memory of the kernel. */
class Shape {
  readonly geometry: FlatGeometry
  readonly whole: number
  /** The boundary of its polygons. */
  readonly walls: readonly Float64Array[]
  /** Its lines and `walls`. */
  readonly edges: readonly Float64Array[]
  readonly #near: Nearness
  readonly #polygons: number
  readonly #walls: number

  constructor(near: Nearness, { geometry, distance, walls = wallsOf(geometry) }: GeodesicOperand) {
    this.geometry = geometry
    this.#near = near
    this.whole = near.add(distance, geometry.vertices.length / 2)
    this.walls = walls.lines
    this.edges = [...this.walls, ...sequencesOf(geometry, 1)]
    const isPolygonal = geometry.partDimensions.every((dimension) => dimension === 2)
    this.#polygons = this.walls.length === 0 ? 0 : isPolygonal ? this.whole : near.add(partsOf(geometry, 2))
    this.#walls = walls.distance === undefined ? 0 : near.add(walls.distance, sizeOf(this.walls) + this.walls.length)
  }

  get partCount(): number {
    return this.geometry.partDimensions.length
  }

  /** Whether all of it is one polygon. */
  get isOnePolygon(): boolean {
    return this.partCount === 1 && this.walls.length > 0
  }

  /** Whether another geometry, by its pointer, is certainly away from the boundary of the polygons. */
  isClearOfWalls(other: number): boolean {
    return this.#walls === 0 || this.#near.areApart(this.#walls, other)
  }

  /** Whether a position is certainly not in the geometry. */
  excludes(lon: number, lat: number): boolean {
    return this.#near.isAwayFrom(this.whole, lon, lat)
  }

  /** Whether a position that is away from the boundary of the polygons is inside of one. */
  encloses(lon: number, lat: number): boolean {
    return this.#polygons !== 0 && !this.#near.isAwayFrom(this.#polygons, lon, lat)
  }

  /** Whether a position is certainly inside of a polygon. */
  holds(lon: number, lat: number): boolean {
    return this.encloses(lon, lat) && this.#near.isAwayFrom(this.#walls, lon, lat)
  }

  /** Whether a vertex of another geometry is certainly inside of a polygon. */
  holdsVertexOf({ geometry: { vertices } }: Shape): boolean {
    if (this.#polygons === 0) return false
    for (let i = 0; i < vertices.length; i += 2) if (this.holds(vertices[i]!, vertices[i + 1]!)) return true
    return false
  }

  /** Whether a vertex of another geometry is certainly outside. */
  excludesVertexOf({ geometry: { vertices } }: Shape): boolean {
    for (let i = 0; i < vertices.length; i += 2) if (this.excludes(vertices[i]!, vertices[i + 1]!)) return true
    return false
  }
}

/** Decides what a geometry with polygons contains. */
class PolygonContainer {
  readonly #kernel: Kernel
  readonly #near: Nearness
  readonly #a: Shape
  readonly #b: Shape

  constructor(kernel: Kernel, near: Nearness, a: Shape, b: Shape) {
    this.#kernel = kernel
    this.#near = near
    this.#a = a
    this.#b = b
  }

  decide(): boolean | undefined {
    const [a, b] = [this.#a, this.#b]
    if (!a.isClearOfWalls(b.whole)) {
      if (this.#isCertainlyOutside()) return false
      return a.isOnePolygon && b.edges.length === 0 ? this.#containsPoints() : undefined
    }
    // Each part of b is connected and does not meet the boundary of the polygons, so any of its vertices decides.
    const { vertices, sequenceStarts, partStarts, partDimensions } = b.geometry
    let isInside = true
    for (let part = 0; part < partDimensions.length && isInside; part++) {
      const vertex = sequenceStarts[partStarts[part]!]!
      isInside = a.encloses(vertices[2 * vertex]!, vertices[2 * vertex + 1]!)
    }
    if (isInside) return true
    // The rest may be on the lines and points of a collection.
    const isPolygonal = a.geometry.partDimensions.every((dimension) => dimension === 2)
    return isPolygonal || a.excludesVertexOf(b) ? false : undefined
  }

  /** Decides for points, none of which is certainly outside: each has to be certainly inside of the polygon, or a vertex of it. */
  #containsPoints(): boolean | undefined {
    const boundary = new Set(this.#a.walls.flatMap(positionKeys))
    const { vertices } = this.#b.geometry
    let isInteriorMet = false
    for (let i = 0; i < vertices.length; i += 2) {
      if (boundary.has(positionKey(vertices[i]!, vertices[i + 1]!))) continue
      if (!this.#a.holds(vertices[i]!, vertices[i + 1]!)) return undefined
      isInteriorMet = true
    }
    return isInteriorMet
  }

  /** Looks for a place of b that is certainly outside of a. */
  #isCertainlyOutside(): boolean {
    const [a, b] = [this.#a, this.#b]
    if (a.excludesVertexOf(b)) return true
    const crossings = new Crossings(this.#kernel, this.#near)
    if (a.isOnePolygon) {
      // Next to each of its walls there are places outside.
      const wallVertices = a.walls.flatMap((wall) => [...wall])
      for (let i = 0; i < wallVertices.length; i += 2) if (b.holds(wallVertices[i]!, wallVertices[i + 1]!)) return true
      return crossings.find(b.edges, a.walls, () => true)
    }
    return crossings.find(b.edges, a.walls, (edge, wall) => this.#leavesAt(edge, wall))
  }

  /** Whether an edge of b that crosses a wall has a place near the crossing that is certainly outside of a. */
  #leavesAt(edge: Edge, wall: Edge): boolean {
    const [lon1, lat1, lon2, lat2] = edge
    const meters = this.#kernel.inverse(lat1, lon1, lat2, lon2)
    const share = crossingShare(this.#kernel, edge, wall)
    for (const way of [-1, 1]) {
      for (let step = FIRST_STEP_METERS; step < meters; step *= 4) {
        const place = share + (way * step) / meters
        if (place <= 0 || place >= 1) break
        const [lon, lat] = placeAlong(this.#kernel, edge, place)
        if (this.#a.excludes(lon, lat)) return true
      }
    }
    return false
  }
}

/** Distance of the first place that is tried on both sides of a crossing, metres. The next are each four times as far. */
const FIRST_STEP_METERS = 4 * MARGIN_METERS
/** Halvings of 500 km after which a piece is shorter than a nanometre. */
const HALVINGS = 50

/** Returns where an edge crosses another, which it does, as a share of its length. */
function crossingShare(kernel: Kernel, edge: Edge, other: Edge): number {
  spendWork(1)
  const line = new GeodesicEdge(kernel, other[0], other[1], other[2], other[3])
  const isLeft = (lon: number, lat: number) => line.measureOffset(lon, lat, false).leftMeters > 0
  const startsLeft = isLeft(edge[0], edge[1])
  let [low, high] = [0, 1]
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (low + high) / 2
    const [lon, lat] = placeAlong(kernel, edge, middle)
    spendWork(1)
    if (isLeft(lon, lat) === startsLeft) low = middle
    else high = middle
  }
  return low
}

/** Decides what a geometry of lines and points contains. */
class LineContainer {
  readonly #kernel: Kernel
  readonly #a: Shape
  readonly #b: Shape

  constructor(kernel: Kernel, a: Shape, b: Shape) {
    this.#kernel = kernel
    this.#a = a
    this.#b = b
  }

  decide(): boolean | undefined {
    const [a, b] = [this.#a, this.#b]
    if (a.excludesVertexOf(b)) return false
    const edgesA = edgesOf(a.edges)
    const edgesB = edgesOf(b.edges)
    // Points contain no lines.
    if (edgesB.length > 0 && edgesA.length === 0) return false
    if (edgesB.some((edge) => this.#leavesMidway(edge))) return false
    const known = new Set(edgesA.map(edgeKey))
    const verticesOfA = new Set(a.edges.flatMap(positionKeys))
    // With the ends of its edges, which change nothing, and lines of no length, which are points.
    const pointsOfB = positionKeys(b.geometry.vertices)
    const isPart =
      edgesB.every((edge) => known.has(edgeKey(edge))) && pointsOfB.every((point) => verticesOfA.has(point))
    if (!isPart || sequencesOf(a.geometry, 0).length > 0) return undefined
    // All but finitely many places of an edge are in the interior of lines.
    if (edgesB.length > 0) return true
    const boundary = boundaryOfLines(a.edges)
    return pointsOfB.some((point) => !boundary.has(point))
  }

  #leavesMidway(edge: Edge): boolean {
    const [lon, lat] = placeAlong(this.#kernel, edge, 1 / 2)
    return this.#a.excludes(lon, lat)
  }
}

type Edge = readonly [lon1: number, lat1: number, lon2: number, lat2: number]

type Accept = (first: Edge, second: Edge) => boolean

/** Finds edges of two sets of lines that certainly cross. */
class Crossings {
  readonly #kernel: Kernel
  readonly #near: Nearness

  constructor(kernel: Kernel, near: Nearness) {
    this.#kernel = kernel
    this.#near = near
  }

  /**
   * Calls `accept` with pieces of edges that cross, of the first lines and of the second, until it returns true.
   *
   * @returns whether it returned true
   */
  find(first: readonly Float64Array[], second: readonly Float64Array[], accept: Accept): boolean {
    if (first.length === 0 || second.length === 0) return false
    return this.#near.temporarily(() => {
      const pointer = this.#near.add(linesFrom(first))
      return this.#find(first, pointer, second, this.#near.add(linesFrom(second)), accept)
    })
  }

  #find(
    first: readonly Float64Array[],
    firstPointer: number,
    second: readonly Float64Array[],
    secondPointer: number,
    accept: Accept,
  ): boolean {
    if (this.#near.areApart(firstPointer, secondPointer)) return false
    const [sizeA, sizeB] = [sizeOf(first), sizeOf(second)]
    if (sizeA === 1 && sizeB === 1) {
      const [s, t] = [edgesOf(first)[0], edgesOf(second)[0]]
      return s !== undefined && t !== undefined && !shareEnd(s, t) && this.#cross(s, t, accept)
    }
    const splitsFirst = sizeA >= sizeB
    return halves(splitsFirst ? first : second).some((half) =>
      this.#near.temporarily(() => {
        const pointer = this.#near.add(linesFrom(half))
        return splitsFirst
          ? this.#find(half, pointer, second, secondPointer, accept)
          : this.#find(first, firstPointer, half, pointer, accept)
      }),
    )
  }

  /**
   * Whether two edges that are not apart certainly cross. Long edges are divided into two pieces that overlap, so that a crossing is
   * away from the ends of one of them.
   */
  #cross(s: Edge, t: Edge, accept: Accept): boolean {
    const [sMeters, tMeters] = [this.#length(s), this.#length(t)]
    if (sMeters <= LONGEST_PIECE_METERS && tMeters <= LONGEST_PIECE_METERS) {
      return this.#areOnBothSides(s, t) && this.#areOnBothSides(t, s) && accept(s, t)
    }
    const splitsFirst = sMeters >= tMeters
    const divided = splitsFirst ? s : t
    const pieces: readonly Edge[] = [
      [divided[0], divided[1], ...placeAlong(this.#kernel, divided, PIECE_SHARE)],
      [...placeAlong(this.#kernel, divided, 1 - PIECE_SHARE), divided[2], divided[3]],
    ]
    const whole = splitsFirst ? t : s
    return pieces.some((piece) => {
      if (this.#areEdgesApart(piece, whole)) return false
      return splitsFirst ? this.#cross(piece, whole, accept) : this.#cross(whole, piece, accept)
    })
  }

  #areEdgesApart(s: Edge, t: Edge): boolean {
    return this.#near.temporarily(() => {
      const pointer = this.#near.add(linesFrom([Float64Array.from(s)]))
      return this.#near.areApart(pointer, this.#near.add(linesFrom([Float64Array.from(t)])))
    })
  }

  #length([lon1, lat1, lon2, lat2]: Edge): number {
    spendWork(1)
    return this.#kernel.inverse(lat1, lon1, lat2, lon2)
  }

  /** Whether the ends of an edge certainly lie on different sides of the line of another. */
  #areOnBothSides([lon1, lat1, lon2, lat2]: Edge, [lon3, lat3, lon4, lat4]: Edge): boolean {
    spendWork(3)
    const line = new GeodesicEdge(this.#kernel, lon1, lat1, lon2, lat2)
    const side3 = certainSide(line.measureOffset(lon3, lat3, false))
    return side3 !== 0 && side3 === -certainSide(line.measureOffset(lon4, lat4, false))
  }
}

/** Returns 1 for an offset that is certainly to the left, −1 to the right, 0 if the side is not certain. */
function certainSide({ leftMeters, errorMeters }: Offset): number {
  const margin = (errorMeters / UNCERTAIN_METERS) * MARGIN_METERS
  return leftMeters > margin ? 1 : leftMeters < -margin ? -1 : 0
}

function placeAlong(
  kernel: Kernel,
  [lon1, lat1, lon2, lat2]: Edge,
  share: number,
): readonly [lon: number, lat: number] {
  spendWork(2)
  const length = kernel.inverse(lat1, lon1, lat2, lon2)
  const lat = kernel.direct(lat1, lon1, kernel.salp1(), kernel.calp1(), share * length)
  return [kernel.arrivalLon(), lat]
}

/** Whether an edge may be too long for its geodesic to be accurate to the margin. */
function hasLongEdge(kernel: Kernel, { vertices, sequenceStarts }: FlatGeometry): boolean {
  for (let sequence = 0; sequence + 1 < sequenceStarts.length; sequence++) {
    const end = 2 * sequenceStarts[sequence + 1]!
    for (let i = 2 * sequenceStarts[sequence]!; i + 2 < end; i += 2) {
      const run = Math.abs(vertices[i + 2]! - vertices[i]!)
      const rise = Math.abs(vertices[i + 3]! - vertices[i + 1]!)
      // Edges of at most a quarter turn in both directions are shorter than 15,100 km.
      if (rise <= 90 && (run <= 90 || run >= 270)) continue
      spendWork(1)
      const meters = kernel.inverse(vertices[i + 1]!, vertices[i]!, vertices[i + 3]!, vertices[i + 2]!)
      if (meters > LONGEST_EDGE_METERS) return true
    }
  }
  return false
}

function hasOnlyPoints({ partDimensions }: FlatGeometry): boolean {
  return partDimensions.every((dimension) => dimension === 0)
}

/** Whether points contain a geometry. A line all of whose vertices are one position is a point. */
function containsAsPoints({ vertices }: FlatGeometry, b: FlatGeometry): boolean {
  const known = new Set(positionKeys(vertices))
  const hasLength = edgesOf(sequencesOf(b, 1)).length > 0 || b.partDimensions.includes(2)
  return !hasLength && positionKeys(b.vertices).every((key) => known.has(key))
}

/** Whether both geometries have the same parts with the same vertices. */
function isSame(a: FlatGeometry, b: FlatGeometry): boolean {
  return (
    areEqual(a.vertices, b.vertices) &&
    areEqual(a.sequenceStarts, b.sequenceStarts) &&
    areEqual(a.partStarts, b.partStarts) &&
    areEqual(a.partDimensions, b.partDimensions)
  )
}

function areEqual(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function shareVertex({ vertices: a }: FlatGeometry, { vertices: b }: FlatGeometry): boolean {
  const [few, many] = a.length <= b.length ? [a, b] : [b, a]
  const keys = new Set(positionKeys(few))
  for (let i = 0; i < many.length; i += 2) if (keys.has(positionKey(many[i]!, many[i + 1]!))) return true
  return false
}

/** Returns a text that is the same for all names of one position. */
function positionKey(lon: number, lat: number): string {
  return `${Math.abs(lat) === 90 ? 0 : lon === -180 ? 180 : lon + 0} ${lat + 0}`
}

function positionKeys(vertices: Float64Array): string[] {
  const keys: string[] = []
  for (let i = 0; i < vertices.length; i += 2) keys.push(positionKey(vertices[i]!, vertices[i + 1]!))
  return keys
}

function edgeKey([lon1, lat1, lon2, lat2]: Edge): string {
  return [positionKey(lon1, lat1), positionKey(lon2, lat2)].sort().join(' ')
}

function shareEnd(s: Edge, t: Edge): boolean {
  const ends = [positionKey(s[0], s[1]), positionKey(s[2], s[3])]
  return ends.includes(positionKey(t[0], t[1])) || ends.includes(positionKey(t[2], t[3]))
}

/** Returns the positions at which an odd number of lines end: the boundary of lines by the rule of OGC. */
function boundaryOfLines(lines: readonly Float64Array[]): Set<string> {
  const boundary = new Set<string>()
  for (const line of lines) {
    for (const end of positionKeys(line).filter((_, index, { length }) => index === 0 || index === length - 1)) {
      if (!boundary.delete(end)) boundary.add(end)
    }
  }
  return boundary
}

/** Returns the edges of lines, without those of no length. */
function edgesOf(lines: readonly Float64Array[]): Edge[] {
  const edges: Edge[] = []
  for (const line of lines) {
    for (let i = 0; i + 3 < line.length; i += 2) {
      const edge = line.subarray(i, i + 4) as unknown as Edge
      if (positionKey(edge[0], edge[1]) !== positionKey(edge[2], edge[3])) edges.push(edge)
    }
  }
  return edges
}

function sizeOf(lines: readonly Float64Array[]): number {
  return lines.reduce((sum, line) => sum + line.length / 2 - 1, 0)
}

/** Divides lines with more than one edge into two sets of about as many edges. */
function halves(lines: readonly Float64Array[]): readonly [Float64Array[], Float64Array[]] {
  const first: Float64Array[] = []
  const second: Float64Array[] = []
  let left = Math.floor(sizeOf(lines) / 2)
  for (const line of lines) {
    const edges = line.length / 2 - 1
    const taken = Math.min(edges, left)
    if (taken > 0) first.push(line.subarray(0, 2 * taken + 2))
    if (taken < edges) second.push(line.subarray(2 * taken))
    left -= taken
  }
  return [first, second]
}

/** Returns the vertices of the parts of one dimension, for each sequence. */
function sequencesOf({ vertices, sequenceStarts, partStarts, partDimensions }: FlatGeometry, dimension: number) {
  const sequences: Float64Array[] = []
  for (let part = 0; part < partDimensions.length; part++) {
    if (partDimensions[part] !== dimension) continue
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      sequences.push(vertices.subarray(2 * sequenceStarts[sequence]!, 2 * sequenceStarts[sequence + 1]!))
    }
  }
  return sequences
}

/** Returns the parts of one dimension as a geometry. */
function partsOf(geometry: FlatGeometry, dimension: number): FlatGeometry {
  const { vertices, sequenceStarts, partStarts, partDimensions } = geometry
  const starts = [0]
  const parts = [0]
  const values: number[] = []
  for (let part = 0; part < partDimensions.length; part++) {
    if (partDimensions[part] !== dimension) continue
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      for (let i = 2 * sequenceStarts[sequence]!; i < 2 * sequenceStarts[sequence + 1]!; i++) values.push(vertices[i]!)
      starts.push(values.length / 2)
    }
    parts.push(starts.length - 1)
  }
  return {
    ...geometry,
    vertices: Float64Array.from(values),
    sequenceStarts: Uint32Array.from(starts),
    partStarts: Uint32Array.from(parts),
    partDimensions: new Uint8Array(parts.length - 1).fill(dimension),
  }
}
