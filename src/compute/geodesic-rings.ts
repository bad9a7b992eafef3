/**
 * Whether rings that are valid with straight edges in longitude and latitude are so as geodesics too.
 *
 * While a straight edge is bent into its geodesic, nothing about two edges changes unless the edge sweeps over a vertex of
 * the other. So all that can be wrong is found by looking for swept vertices: those between an edge and its geodesic. Without
 * any, the geodesic rings cross nowhere and contain each other as the straight ones do. Sides are decided by azimuths, within
 * the error of the kernel (`edge-offset.ts`).
 */
import { areaSquareMeters } from '../geodesy/area.ts'
import { WorkLimitError } from '../geodesy/distance.ts'
import { GeodesicEdge, UNCERTAIN_METERS } from '../geodesy/edge-offset.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { EASTWARD, EdgeTree, FANOUT, WESTWARD } from '../topology/edge-tree.ts'
import type { Invalidity, InvalidityReason } from '../topology/invalidity.ts'
import { orientation } from '../topology/orientation.ts'
import type { PreparedTopology } from '../topology/prepared.ts'
import { hasLongitudeJump, turnOfEdge } from '../topology/unwrap.ts'
import type { Kernel } from '../wasm/loader.ts'

/**
 * Metres of a ring that may lie beyond a geodesic edge, both ways from one vertex. What then counts as boundary, or fails to,
 * is at most 1 mm from the boundary: distances of geometries are measured no better.
 */
const MAX_BEYOND_METERS = 2e-3
/** Areas beyond geodesic edges, together: half of the error that an area may have. */
const MAX_STRAY_SQUARE_METERS = 0.5e-4
const MAX_STRAY_SHARE = 0.5e-12

/** a (π/180)² / 8, m: an edge of w by h degrees leaves its line in the plane by less than this · w (w + 2h), up to 90°. */
const METERS_PER_SQUARE_DEGREE = 242.9
/** Degrees of longitude up to which that bound is used. */
const BOUND_TO_DEGREES = 90
/** Metres in a degree of latitude, at least. */
const METERS_PER_DEGREE = 110_000
/** Where cos φ ≥ 1 − |φ| / 90 is used to tell that a vertex is far from an edge. */
const [FAR_TO_WIDTH, FAR_TO_LATITUDE, FAR_FACTOR] = [20, 85, 1.2]
/** Where a star-shaped ring is judged by its margin. */
const [STAR_TO_DEGREES, STAR_TO_LATITUDE] = [1, 80]
/** By how much more of an edge may lie beyond another than of a straight line, by its length in metres. */
const STRAIGHT = { toMeters: 1e5, factor: 1.01 }
const BENT = { toMeters: 9e6, factor: 2 }
/** So many comparisons of boxes count as one solution of the inverse problem. */
const LOOKS_PER_SOLUTION = 16

/** A vertex on the wrong side of a geodesic edge. */
export interface GeodesicFault extends Invalidity {
  /** Index in its sequence of the vertex. */
  readonly vertex: number
  readonly depthMeters: number
  /** The ends of the edge, degrees. */
  readonly edge: Readonly<Edge>
}

/**
 * The first grave fault of the polygons of a geometry as geodesics. Faults are borne with while at most 2 mm of a ring lie
 * beyond an edge at each place, and twice the area there is, in sum, at most the larger of 0.5 cm² and 5·10⁻¹³ of the area.
 *
 * @param topology of polygons that `findInvalidity` found valid
 * @param workLimit solutions of the inverse problem that it may cost
 * @throws {WorkLimitError} when the limit is reached
 */
export function findGeodesicFault(
  kernel: Kernel,
  topology: PreparedTopology,
  workLimit: number,
): GeodesicFault | undefined {
  const { geometry, isOnePolygonal } = topology
  if (isOnePolygonal && arePlainlyHarmless(topology)) return undefined
  const { elementTypes, elementStarts, partStarts } = geometry
  const budget = { solutions: workLimit, limit: workLimit }
  for (let element = 0; element < elementTypes.length; element++) {
    if (!elementTypes[element]!.endsWith('Polygon')) continue
    const [first, end] = [partStarts[elementStarts[element]!]!, partStarts[elementStarts[element + 1]!]!]
    const swept = new SweptVertices(kernel, topology, element, first, end, budget).find()
    if (swept.length === 0) continue
    const fault = judge(kernel, geometry, element, swept)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Whether all edges are too short to matter, or those of a star-shaped ring stay in their sectors. One pass. */
function arePlainlyHarmless({ geometry, tree, starMargin }: PreparedTopology): boolean {
  const { vertices, sequenceStarts } = geometry
  let width = 0
  let height = 0
  for (let sequence = 0; sequence + 1 < sequenceStarts.length; sequence++) {
    const end = 2 * sequenceStarts[sequence + 1]!
    let i = 2 * sequenceStarts[sequence]!
    let lon = vertices[i]!
    let lat = vertices[i + 1]!
    for (i += 2; i < end; i += 2) {
      const lon2 = vertices[i]!
      const lat2 = vertices[i + 1]!
      const turn = Math.abs(lon2 - lon)
      const rise = Math.abs(lat2 - lat)
      if (turn > width) width = turn
      if (rise > height) height = rise
      lon = lon2
      lat = lat2
    }
  }
  const bulge = METERS_PER_SQUARE_DEGREE * width * (width + 2 * height)
  const length = (vertices.length / 2) * (width + height) * 1.02 * METERS_PER_DEGREE
  if (bulge <= UNCERTAIN_METERS && 2 * bulge * length <= MAX_STRAY_SQUARE_METERS) return true
  if (starMargin === 0 || width > STAR_TO_DEGREES || height > STAR_TO_DEGREES) return false
  const { boxes } = tree
  const root = boxes.length - 4
  if (boxes[root + 1]! < -STAR_TO_LATITUDE || boxes[root + 3]! > STAR_TO_LATITUDE) return false
  const across = boxes[root + 2]! - boxes[root]!
  // At the share t of its width, a geodesic has left its line by less than this · t (1 − t) degrees of latitude. That turns
  // it over the ray through an end only where the triangle with the mean is smaller.
  const rise = 0.0175 * (width * width + 12 * (height + 0.1 * width) ** 2)
  const rounding = 1e-15 * (across + boxes[root + 3]! - boxes[root + 1]!)
  return starMargin > across * (rise + rounding)
}

/** A vertex between an edge and its geodesic, or perhaps there. Indices are those of `FlatGeometry.vertices`. */
interface Swept {
  readonly vertex: number
  /** The edge that starts at this vertex. */
  readonly edge: number
  readonly vertexSequence: number
  readonly edgeSequence: number
  readonly depthMeters: number
  readonly isCertain: boolean
  /** At least what of the two edges at the vertex lies beyond the edge; infinite when another vertex does, or may. */
  readonly beyondMeters: number
}

type Edge = [lon1: number, lat1: number, lon2: number, lat2: number]

/** An edge from west to east on the unrolled cylinder. */
interface Chord {
  readonly start: number
  readonly x1: number
  readonly y1: number
  readonly x2: number
  readonly y2: number
}

/** Finds the swept vertices of a Polygon or MultiPolygon. */
class SweptVertices {
  readonly #kernel: Kernel
  /** Longitudes unrolled along each ring: no edge jumps. The same as sent where none did. */
  readonly #geometry: FlatGeometry
  /** Unrolled longitudes are rounded. */
  readonly #isRounded: boolean
  readonly #tree: EdgeTree
  /** By node of the tree, degrees of latitude by which the geodesics of its edges may leave its box. */
  readonly #reach: Float64Array
  readonly #budget: { solutions: number; readonly limit: number }
  readonly #found: Swept[] = []
  #edge: { readonly start: number; readonly geodesic: GeodesicEdge } | undefined

  constructor(
    kernel: Kernel,
    topology: PreparedTopology,
    element: number,
    firstSequence: number,
    endSequence: number,
    budget: { solutions: number; readonly limit: number },
  ) {
    const { geometry } = topology
    const { elementStarts } = geometry
    this.#kernel = kernel
    this.#isRounded = hasLongitudeJump(geometry, elementStarts[element]!, elementStarts[element + 1]!)
    this.#geometry = this.#isRounded ? unrolled(geometry, firstSequence, endSequence) : geometry
    const isWhole = topology.isOnePolygonal && !this.#isRounded
    this.#tree = isWhole ? topology.tree : new EdgeTree(this.#geometry, firstSequence, endSequence)
    this.#reach = reachOf(this.#tree)
    this.#budget = budget
  }

  find(): readonly Swept[] {
    const { boxes } = this.#tree
    const root = boxes.length - 4
    const turns = this.#isRounded ? Math.ceil((boxes[root + 2]! - boxes[root]!) / 360) : 0
    for (let turn = 0; turn <= turns; turn++) this.#join(360 * turn)
    if (Math.max(-boxes[root + 1]!, boxes[root + 3]!) === 90 || boxes[root + 2]! - boxes[root]! >= 180) {
      this.#lookAlongMeridians()
    }
    return this.#found
  }

  /** Looks at vertices on the meridians of edges that lead over a pole or end there, beside the straight edge. */
  #lookAlongMeridians(): void {
    const { leafFirst, leafLast, leafSequence } = this.#tree
    const { vertices } = this.#geometry
    for (let leaf = 0; leaf < leafFirst.length; leaf++) {
      for (let start = leafFirst[leaf]!; start < leafLast[leaf]!; start++) {
        const [ax, ay, bx, by] = vertices.slice(2 * start, 2 * start + 4) as unknown as Edge
        const poles = Number(Math.abs(ay) === 90) + Number(Math.abs(by) === 90)
        if (poles === 2 || ax === bx || (poles === 0 && !isHalfTurn(ax, bx))) continue
        const chord = ax < bx ? { start, x1: ax, y1: ay, x2: bx, y2: by } : { start, x1: bx, y1: by, x2: ax, y2: ay }
        this.#lookAlong(chord, leafSequence[leaf]!)
      }
    }
  }

  #lookAlong(chord: Chord, edgeSequence: number): void {
    const { leafFirst, leafLast, leafSequence } = this.#tree
    const { vertices } = this.#geometry
    const { x1, y1, x2, y2 } = chord
    const pole = Math.abs(y1) === 90 ? y1 : Math.abs(y2) === 90 ? y2 : this.#poleOver(chord)
    for (let leaf = 0; leaf < leafFirst.length; leaf++) {
      this.#spend((leafLast[leaf]! - leafFirst[leaf]!) / LOOKS_PER_SOLUTION)
      for (let vertex = leafFirst[leaf]!; vertex < leafLast[leaf]!; vertex++) {
        const [x, y] = [vertices[2 * vertex]!, vertices[2 * vertex + 1]!]
        const [isFirst, isSecond] = [isSameMeridian(x, x1), isSameMeridian(x, x2)]
        const end = isFirst ? y1 : y2
        if ((!isFirst && !isSecond) || Math.abs(y) === 90 || Math.abs(pole - y) >= Math.abs(pole - end)) continue
        const shift = 360 * Math.round(((isFirst ? x1 : x2) - x) / 360)
        this.#look(chord, edgeSequence, vertex, leafSequence[leaf]!, shift)
      }
    }
  }

  /** The latitude of the pole that an edge over half the globe leads over. */
  #poleOver(chord: Chord): number {
    return this.#geodesicOf(chord).leadsNorth ? 90 : -90
  }

  /** Looks at the pairs of nodes, the second shifted in longitude, in which an edge of one is near a vertex of the other. */
  #join(shift: number): void {
    const { boxes, levels, top, trends } = this.#tree
    const reach = this.#reach
    let looks = 0
    // Pairs of (level, node).
    const stack = [top, 0, top, 0]
    while (stack.length > 0) {
      const nodeB = stack.pop()!
      const levelB = stack.pop()!
      const nodeA = stack.pop()!
      const levelA = stack.pop()!
      const isSelf = shift === 0 && levelA === levelB && nodeA === nodeB
      // Along a chain that runs east or west, no vertex has a longitude within another edge.
      if (isSelf && (trends[levels[levelA]! + nodeA]! & (EASTWARD | WESTWARD)) !== 0) continue
      if (levelA === 0 && levelB === 0) {
        looks += this.#joinLeaves(nodeA, nodeB, shift)
        if (!isSelf) looks += this.#joinLeaves(nodeB, nodeA, -shift)
        continue
      }
      const splitsA = levelA >= levelB
      const level = (splitsA ? levelA : levelB) - 1
      const first = FANOUT * (splitsA ? nodeA : nodeB)
      const start = levels[level]!
      const end = Math.min(first + FANOUT, levels[level + 1]! - start)
      const fixed = splitsA ? levels[levelB]! + nodeB : levels[levelA]! + nodeA
      const move = splitsA ? shift : -shift
      looks += end - first
      this.#spend(looks / LOOKS_PER_SOLUTION)
      looks = 0
      for (let child = first; child < end; child++) {
        // With itself, each pair comes in both orders: one will do.
        if (shift === 0 && (splitsA ? level === levelB && child > nodeB : levelA === level && nodeA > child)) continue
        const c = 4 * (start + child)
        const f = 4 * fixed
        const room = Math.max(reach[start + child]!, reach[fixed]!)
        if (
          room === 0 ||
          boxes[f]! + move >= boxes[c + 2]! ||
          boxes[f + 2]! + move <= boxes[c]! ||
          boxes[f + 1]! > boxes[c + 3]! + room ||
          boxes[f + 3]! < boxes[c + 1]! - room
        ) {
          continue
        }
        if (splitsA) stack.push(level, child, levelB, nodeB)
        else stack.push(levelA, nodeA, level, child)
      }
    }
    this.#spend(looks / LOOKS_PER_SOLUTION)
  }

  /** Looks at the edges of one leaf and the vertices of another. @returns comparisons made */
  #joinLeaves(leafE: number, leafV: number, shift: number): number {
    const { vertices, boxes, leafFirst, leafLast, leafSequence } = this.#tree
    const firstV = leafFirst[leafV]!
    const lastV = leafLast[leafV]!
    const leafWest = boxes[4 * leafV]! + shift
    const leafSouth = boxes[4 * leafV + 1]!
    const leafEast = boxes[4 * leafV + 2]! + shift
    const leafNorth = boxes[4 * leafV + 3]!
    let looks = 0
    for (let start = leafFirst[leafE]!; start < leafLast[leafE]!; start++) {
      looks++
      const ax = vertices[2 * start]!
      const bx = vertices[2 * start + 2]!
      const isForward = ax < bx
      const west = isForward ? ax : bx
      const east = isForward ? bx : ax
      if (west >= leafEast || east <= leafWest || west === east) continue
      const ay = vertices[2 * start + 1]!
      const by = vertices[2 * start + 3]!
      // An edge along a pole has no length.
      if (ay === by && Math.abs(ay) === 90) continue
      const room = reachOfEdge(east - west, Math.abs(by - ay))
      const south = (ay < by ? ay : by) - room
      const north = (ay < by ? by : ay) + room
      if (south > leafNorth || north < leafSouth) continue
      looks += lastV - firstV
      for (let vertex = firstV; vertex < lastV; vertex++) {
        const x = vertices[2 * vertex]! + shift
        const y = vertices[2 * vertex + 1]!
        if (x <= west || x >= east || y < south || y > north) continue
        const chord = isForward ? { start, x1: ax, y1: ay, x2: bx, y2: by } : { start, x1: bx, y1: by, x2: ax, y2: ay }
        if (isFar(chord, x, y, room)) continue
        this.#look(chord, leafSequence[leafE]!, vertex, leafSequence[leafV]!, shift)
      }
    }
    return looks
  }

  /** Decides about one edge and one vertex. */
  #look(chord: Chord, edgeSequence: number, vertex: number, vertexSequence: number, shift: number): void {
    const { vertices } = this.#geometry
    const [x, y] = [vertices[2 * vertex]! + shift, vertices[2 * vertex + 1]!]
    // A pole is one place, whatever its longitude: geodesics that end there or lead over it touch a vertex on it.
    if (Math.abs(y) === 90 && (isHalfTurn(chord.x1, chord.x2) || y === chord.y1 || y === chord.y2)) return
    // From pole to pole any meridian is a shortest way: the edge is left to the judgement in the plane.
    if (Math.abs(chord.y2 - chord.y1) === 180) return
    const offset = this.#offsetOf(chord, x, y)
    const isCertain = Math.abs(offset.northMeters) > offset.errorMeters
    const side = this.#sideInPlane(chord, vertex, vertexSequence, shift)
    if (isCertain && side !== 0 && side > 0 === offset.northMeters > 0) return
    const depthMeters = Math.max(Math.abs(offset.northMeters), offset.errorMeters)
    const wrongSide = isCertain ? Math.sign(offset.northMeters) : side > 0 ? -1 : 1
    const [before, after] = this.#neighbours(vertex, vertexSequence)
    this.#found.push({
      vertex,
      edge: chord.start,
      vertexSequence,
      edgeSequence,
      depthMeters,
      isCertain,
      beyondMeters:
        this.#beyond(chord, vertex, before, shift, wrongSide, depthMeters) +
        this.#beyond(chord, vertex, after, shift, wrongSide, depthMeters),
    })
  }

  /** How far north of the geodesic a position lies, negative to the south. */
  #offsetOf(chord: Chord, x: number, y: number): { northMeters: number; errorMeters: number } {
    this.#spend(1)
    const { x1, y1, x2, y2 } = chord
    const isNearSecond = Math.abs(x2 - x) + Math.abs(y2 - y) < Math.abs(x - x1) + Math.abs(y1 - y)
    const { leftMeters, errorMeters } = this.#geodesicOf(chord).offsetOf(wrapped(x), y, isNearSecond)
    return { northMeters: leftMeters, errorMeters }
  }

  #geodesicOf({ start, x1, y1, x2, y2 }: Chord): GeodesicEdge {
    if (this.#edge?.start !== start) {
      this.#spend(1)
      this.#edge = { start, geodesic: new GeodesicEdge(this.#kernel, wrapped(x1), y1, wrapped(x2), y2) }
    }
    return this.#edge.geodesic
  }

  /** 1 when a vertex lies north of the straight edge, −1 south; one on it has the side of its neighbours. */
  #sideInPlane(chord: Chord, vertex: number, sequence: number, shift: number): number {
    const own = this.#sideOf(chord, vertex, shift)
    if (own !== 0) return own
    const [before, after] = this.#neighbours(vertex, sequence)
    return this.#sideOf(chord, before, shift) || this.#sideOf(chord, after, shift)
  }

  #sideOf({ x1, y1, x2, y2 }: Chord, vertex: number, shift: number): number {
    const { vertices } = this.#geometry
    const [x, y] = [vertices[2 * vertex]! + shift, vertices[2 * vertex + 1]!]
    const side = orientation(x1, y1, x2, y2, x, y)
    if (!this.#isRounded) return Math.sign(side)
    const rounding = 2e-13 * (Math.abs(y2 - y1) + Math.abs(y - y1))
    return Math.abs(side) <= rounding ? 0 : Math.sign(side)
  }

  /** The vertices before and after one on its ring. */
  #neighbours(vertex: number, sequence: number): readonly [before: number, after: number] {
    const { vertices, sequenceStarts } = this.#geometry
    const first = sequenceStarts[sequence]!
    const count = sequenceStarts[sequence + 1]! - 1 - first
    const isSame = (other: number) =>
      vertices[2 * other] === vertices[2 * vertex] && vertices[2 * other + 1] === vertices[2 * vertex + 1]
    let before = vertex
    let after = vertex
    for (let i = 0; i < count && isSame(before); i++) before = before === first ? first + count - 1 : before - 1
    for (let i = 0; i < count && isSame(after); i++) after = after + 1 === first + count ? first : after + 1
    return [before, after]
  }

  /** At least what of the edge from a vertex to another lies on the wrong side of a geodesic edge, metres. */
  #beyond(chord: Chord, vertex: number, other: number, shift: number, wrongSide: number, depthMeters: number): number {
    const { vertices } = this.#geometry
    const [x, y] = [vertices[2 * other]!, vertices[2 * other + 1]!]
    this.#spend(1)
    const length = this.#kernel.inverse(vertices[2 * vertex + 1]!, wrapped(vertices[2 * vertex]!), y, wrapped(x))
    const { northMeters, errorMeters } = this.#offsetOf(chord, x + shift, y)
    const away = -wrongSide * northMeters
    if (!(away > errorMeters) || length > BENT.toMeters) return Number.POSITIVE_INFINITY
    const { factor } = length > STRAIGHT.toMeters ? BENT : STRAIGHT
    return (factor * depthMeters * length) / (depthMeters + away)
  }

  #spend(solutions: number): void {
    this.#budget.solutions -= solutions
    if (this.#budget.solutions < 0) throw new WorkLimitError(`the rings need more than ${this.#budget.limit} solutions`)
  }
}

/** The rings from one sequence to another with longitudes that go on where an edge leads over ±180. */
function unrolled(geometry: FlatGeometry, firstSequence: number, endSequence: number): FlatGeometry {
  const { vertices: sent, sequenceStarts } = geometry
  const vertices = Float64Array.from(sent)
  for (let sequence = firstSequence; sequence < endSequence; sequence++) {
    let turns = 0
    for (let i = 2 * sequenceStarts[sequence]! + 2; i < 2 * sequenceStarts[sequence + 1]!; i += 2) {
      const lon = sent[i]!
      turns += turnOfEdge(sent[i - 2]!, sent[i - 1]!, lon, sent[i + 1]!)
      vertices[i] = lon + 360 * turns
    }
  }
  return { ...geometry, vertices }
}

// Up to the rounding of unrolled longitudes.
function isHalfTurn(x: number, y: number): boolean {
  return Math.abs(Math.abs(x - y) - 180) < 1e-12
}

function isSameMeridian(x: number, y: number): boolean {
  return Math.abs(wrapped(x - y)) < 1e-12
}

function wrapped(lon: number): number {
  return lon >= -180 && lon <= 180 ? lon : lon - 360 * Math.round(lon / 360)
}

function reachOf(tree: EdgeTree): Float64Array {
  const { vertices, levels, leafFirst, leafLast } = tree
  const reach = new Float64Array(tree.boxes.length / 4)
  for (let leaf = 0; leaf < leafFirst.length; leaf++) {
    let width = 0
    let height = 0
    for (let i = 2 * leafFirst[leaf]!; i < 2 * leafLast[leaf]!; i += 2) {
      width = Math.max(width, Math.abs(vertices[i + 2]! - vertices[i]!))
      height = Math.max(height, Math.abs(vertices[i + 3]! - vertices[i + 1]!))
    }
    reach[leaf] = reachOfEdge(width, height)
  }
  for (let level = 1; level < levels.length - 1; level++) {
    const [below, start, end] = [levels[level - 1]!, levels[level]!, levels[level + 1]!]
    for (let node = start; node < end; node++) {
      const from = below + FANOUT * (node - start)
      for (let child = from; child < Math.min(from + FANOUT, start); child++) {
        reach[node] = Math.max(reach[node]!, reach[child]!)
      }
    }
  }
  return reach
}

/** Degrees of latitude by which the geodesic of an edge of w by h degrees may leave its box, at most. */
function reachOfEdge(width: number, height: number): number {
  return width === 0 ? 0 : metersOfBulge(width, height) / METERS_PER_DEGREE
}

function metersOfBulge(width: number, height: number): number {
  return width > BOUND_TO_DEGREES ? 180 * METERS_PER_DEGREE : METERS_PER_SQUARE_DEGREE * width * (width + 2 * height)
}

/** Whether a position near the box of an edge is certainly farther from it than its geodesic. */
function isFar({ x1, y1, x2, y2 }: Chord, x: number, y: number, reach: number): boolean {
  const latitude = Math.max(Math.abs(y1), Math.abs(y2)) + reach
  if (x2 - x1 > FAR_TO_WIDTH || latitude > FAR_TO_LATITUDE) return false
  const shrink = 1 - latitude / 90
  const cross = Math.abs((x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)) - 1e-13 * (x2 - x1 + Math.abs(y2 - y1))
  const across = FAR_FACTOR * reach
  return cross > 0 && (shrink * cross) ** 2 > across * across * ((shrink * (x2 - x1)) ** 2 + (y2 - y1) ** 2)
}

/** What the swept vertices of an element come to. */
function judge(
  kernel: Kernel,
  geometry: FlatGeometry,
  element: number,
  swept: readonly Swept[],
): GeodesicFault | undefined {
  const bears = (some: readonly Swept[]): boolean => {
    if (some.some(({ beyondMeters }) => beyondMeters > MAX_BEYOND_METERS)) return false
    const stray = 2 * some.reduce((sum, { depthMeters, beyondMeters }) => sum + depthMeters * beyondMeters, 0)
    if (stray <= MAX_STRAY_SQUARE_METERS) return true
    return stray <= MAX_STRAY_SHARE * areaSquareMeters(kernel, elementOf(geometry, element))
  }
  if (bears(swept)) return undefined
  const parities = new Parities(geometry, swept)
  const harmful = swept.filter((each) => parities.isHarmful(each))
  if (harmful.length === 0 || bears(harmful)) return undefined
  const deepest = harmful.reduce((most, { depthMeters }) => Math.max(most, depthMeters), 0)
  const graves = harmful.filter(({ depthMeters }) => 2 * depthMeters >= deepest)
  const grave = graves.reduce((first, each) => (each.vertex < first.vertex ? each : first))
  const { vertices, sequenceStarts } = geometry
  return {
    reason: parities.isCrossing(grave) ? 'self-intersection' : reasonOf(geometry, grave),
    lon: vertices[2 * grave.vertex]!,
    lat: vertices[2 * grave.vertex + 1]!,
    sequence: grave.vertexSequence,
    vertex: grave.vertex - sequenceStarts[grave.vertexSequence]!,
    depthMeters: grave.depthMeters,
    edge: [...vertices.subarray(2 * grave.edge, 2 * grave.edge + 4)] as Edge,
  }
}

/** One element as a geometry. */
function elementOf(geometry: FlatGeometry, element: number): FlatGeometry {
  const { elementStarts, partStarts, partDimensions } = geometry
  const [first, end] = [elementStarts[element]!, elementStarts[element + 1]!]
  return {
    ...geometry,
    partStarts: partStarts.subarray(first, end + 1),
    partDimensions: partDimensions.subarray(first, end),
  }
}

/** The name of a fault of rings that do not cross. */
function reasonOf({ partStarts }: FlatGeometry, { vertexSequence, edgeSequence }: Swept): InvalidityReason {
  const partOf = (sequence: number) => partStarts.findLastIndex((start) => start <= sequence)
  const part = partOf(vertexSequence)
  if (part !== partOf(edgeSequence)) return 'overlapping polygons'
  const exterior = partStarts[part]
  return vertexSequence === exterior || edgeSequence === exterior ? 'hole outside its exterior ring' : 'nested holes'
}

/**
 * How often edges and rings changed sides. Two edges cross as geodesics when they swept over an odd number of each other's
 * ends; a vertex changes between inside and outside of a ring when an odd number of its edges swept over it.
 *
 * So a vertex that was swept does no harm where neither happened: a thin triangle may turn over, and a whole polygon pass
 * over another.
 */
class Parities {
  readonly #geometry: FlatGeometry
  readonly #isClear: boolean
  readonly #odd = new Set<string>()

  constructor(geometry: FlatGeometry, swept: readonly Swept[]) {
    this.#geometry = geometry
    this.#isClear = swept.every(({ isCertain }) => isCertain)
    if (!this.#isClear) return
    for (const each of swept) {
      for (const key of [...this.#crossings(each), changeOf(each)]) {
        if (!this.#odd.delete(key)) this.#odd.add(key)
      }
    }
  }

  isHarmful(swept: Swept): boolean {
    const { vertexSequence, edgeSequence } = swept
    if (!this.#isClear || this.isCrossing(swept)) return true
    return vertexSequence !== edgeSequence && this.#odd.has(changeOf(swept))
  }

  /** Whether an edge at the vertex crosses the edge. Where sides are not certain, all do. */
  isCrossing(swept: Swept): boolean {
    return !this.#isClear || this.#crossings(swept).some((key) => this.#odd.has(key))
  }

  /** Names of the pairs of the edge with the edges at the vertex, unless they meet at an end: those do not cross. */
  #crossings({ vertex, edge, vertexSequence }: Swept): string[] {
    const { sequenceStarts } = this.#geometry
    const first = sequenceStarts[vertexSequence]!
    const before = vertex === first ? sequenceStarts[vertexSequence + 1]! - 2 : vertex - 1
    return [before, vertex]
      .filter((own) => !this.#meet(own, edge))
      .map((own) => `${Math.min(own, edge)} ${Math.max(own, edge)}`)
  }

  #meet(a: number, b: number): boolean {
    return this.#isSame(a, b) || this.#isSame(a, b + 1) || this.#isSame(a + 1, b) || this.#isSame(a + 1, b + 1)
  }

  #isSame(a: number, b: number): boolean {
    const { vertices } = this.#geometry
    const [lat, turns] = [vertices[2 * a + 1]!, (vertices[2 * a]! - vertices[2 * b]!) / 360]
    return lat === vertices[2 * b + 1] && (turns === 0 || Math.abs(turns) === 1 || Math.abs(lat) === 90)
  }
}

function changeOf({ vertex, edgeSequence }: Swept): string {
  return `${vertex} in ${edgeSequence}`
}
