/**
 * Checks whether rings that are valid with planar edges are also valid as geodesics.
 *
 * While a planar edge is bent into its geodesic, its relation to another edge changes only if it sweeps over a vertex of that
 * edge. So every fault involves a swept vertex: one between an edge's geodesic and its planar edge. Without swept vertices, the
 * geodesic rings do not cross, and they contain each other as the planar rings do. Azimuths decide on which side of a geodesic
 * a vertex lies, within the error of the kernel (`edge-offset.ts`).
 */
import { areaSquareMeters } from '../geodesy/area.ts'
import { UNCERTAIN_METERS } from '../geodesy/edge-offset.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import type { Invalidity, InvalidityReason } from '../topology/invalidity.ts'
import type { PreparedTopology } from '../topology/plane/prepared.ts'
import type { Kernel } from '../wasm/loader.ts'
import { bulgeMeters, METERS_PER_DEGREE, type SweptVertex } from './swept-vertex.ts'
import { SweptVertexSearch } from './swept-vertices.ts'

/**
 * Tolerated length of a ring beyond a geodesic edge, summed over both edges at one vertex. It misplaces the boundary by at most
 * 1 mm, which is the error of a distance between geometries.
 */
const MAX_BEYOND_METERS = 2e-3
/**
 * Tolerated sum of the areas beyond geodesic edges, in m² and as a share of the polygon: half of the error allowed for an area.
 */
const MAX_STRAY_SQUARE_METERS = 0.5e-4
const MAX_STRAY_SHARE = 0.5e-12

/**
 * The margin of a star-shaped ring proves it harmless for edges up to this many degrees wide or high, and up to this latitude.
 */
const [STAR_TO_DEGREES, STAR_TO_LATITUDE] = [1, 80]

/** A vertex on the wrong side of a geodesic edge. */
export interface GeodesicFault extends Invalidity {
  /** Index of the vertex within its sequence. */
  readonly vertex: number
  readonly depthMeters: number
  /** Ends of the edge, degrees. */
  readonly edge: readonly [lon1: number, lat1: number, lon2: number, lat2: number]
}

/**
 * Finds a fault that makes a geometry's polygons invalid as geodesics. Small faults are tolerated: at most 2 mm of a ring may lie
 * beyond an edge at each vertex, and the sum of twice the areas beyond edges may be at most the larger of 0.5 cm² and 5·10⁻¹³
 * of the area.
 *
 * @param topology polygons that are valid by `findInvalidity`
 * @returns undefined if the polygons are valid
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
export function findGeodesicFault(kernel: Kernel, topology: PreparedTopology): GeodesicFault | undefined {
  const { geometry, isOnePolygonal } = topology
  if (isOnePolygonal && areClearlyHarmless(topology)) return undefined
  const { elementTypes, elementStarts, partStarts } = geometry
  for (let element = 0; element < elementTypes.length; element++) {
    if (!elementTypes[element]!.endsWith('Polygon')) continue
    const [first, end] = [partStarts[elementStarts[element]!]!, partStarts[elementStarts[element + 1]!]!]
    const swept = new SweptVertexSearch(kernel, topology, element, first, end).find()
    if (swept.length === 0) continue
    const fault = assessSwept(kernel, geometry, element, swept)
    if (fault !== undefined) return fault
  }
  return undefined
}

/**
 * Returns true if one pass over the vertices proves that no fault is possible: all edges are too short to matter, or the
 * geodesics of a star-shaped ring stay within the sectors of their edges.
 */
function areClearlyHarmless({ geometry, tree, starMargin }: PreparedTopology): boolean {
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
      const run = Math.abs(lon2 - lon)
      const rise = Math.abs(lat2 - lat)
      if (run > width) width = run
      if (rise > height) height = rise
      lon = lon2
      lat = lat2
    }
  }
  const bulge = bulgeMeters(width, height)
  const length = (vertices.length / 2) * (width + height) * 1.02 * METERS_PER_DEGREE
  if (bulge <= UNCERTAIN_METERS && 2 * bulge * length <= MAX_STRAY_SQUARE_METERS) return true
  if (starMargin === 0 || width > STAR_TO_DEGREES || height > STAR_TO_DEGREES) return false
  const { boxes } = tree
  const root = boxes.length - 4
  if (boxes[root + 1]! < -STAR_TO_LATITUDE || boxes[root + 3]! > STAR_TO_LATITUDE) return false
  const across = boxes[root + 2]! - boxes[root]!
  // At the fraction t of its width, a geodesic has left its planar edge by less than rise · t (1 − t) degrees of latitude. That
  // can carry it across the ray through one of its ends only if the triangle of the edge and the ring's mean is smaller than
  // this.
  const rise = 0.0175 * (width * width + 12 * (height + 0.1 * width) ** 2)
  const rounding = 1e-15 * (across + boxes[root + 3]! - boxes[root + 1]!)
  return starMargin > across * (rise + rounding)
}

/** Decides whether the swept vertices of an element make it invalid, and which of them to report. */
function assessSwept(
  kernel: Kernel,
  geometry: FlatGeometry,
  element: number,
  swept: readonly SweptVertex[],
): GeodesicFault | undefined {
  const isTolerable = (subset: readonly SweptVertex[]): boolean => {
    if (subset.some(({ beyondMeters }) => beyondMeters > MAX_BEYOND_METERS)) return false
    const stray = 2 * subset.reduce((sum, { depthMeters, beyondMeters }) => sum + depthMeters * beyondMeters, 0)
    if (stray <= MAX_STRAY_SQUARE_METERS) return true
    return stray <= MAX_STRAY_SHARE * areaSquareMeters(kernel, elementGeometry(geometry, element))
  }
  if (isTolerable(swept)) return undefined
  const parities = new Parities(geometry, swept)
  const harmful = swept.filter((each) => parities.isHarmful(each))
  if (harmful.length === 0 || isTolerable(harmful)) return undefined
  const maxDepthMeters = harmful.reduce((most, { depthMeters }) => Math.max(most, depthMeters), 0)
  const deepest = harmful.filter(({ depthMeters }) => 2 * depthMeters >= maxDepthMeters)
  const reported = deepest.reduce((first, each) => (each.vertex < first.vertex ? each : first))
  const { vertices, sequenceStarts } = geometry
  return {
    reason: parities.isCrossing(reported) ? 'self-intersection' : faultReason(geometry, reported),
    lon: vertices[2 * reported.vertex]!,
    lat: vertices[2 * reported.vertex + 1]!,
    sequence: reported.vertexSequence,
    vertex: reported.vertex - sequenceStarts[reported.vertexSequence]!,
    depthMeters: reported.depthMeters,
    edge: [...vertices.subarray(2 * reported.edge, 2 * reported.edge + 4)] as [number, number, number, number],
  }
}

/** Returns one element as a geometry. */
function elementGeometry(geometry: FlatGeometry, element: number): FlatGeometry {
  const { elementStarts, partStarts, partDimensions } = geometry
  const [first, end] = [elementStarts[element]!, elementStarts[element + 1]!]
  return {
    ...geometry,
    partStarts: partStarts.subarray(first, end + 1),
    partDimensions: partDimensions.subarray(first, end),
  }
}

/** Names a fault between two rings that do not cross. */
function faultReason({ partStarts }: FlatGeometry, { vertexSequence, edgeSequence }: SweptVertex): InvalidityReason {
  const partOf = (sequence: number) => partStarts.findLastIndex((start) => start <= sequence)
  const part = partOf(vertexSequence)
  if (part !== partOf(edgeSequence)) return 'overlapping polygons'
  const exterior = partStarts[part]
  return vertexSequence === exterior || edgeSequence === exterior ? 'hole outside its exterior ring' : 'nested holes'
}

/**
 * Counts, modulo 2, how often edges and rings changed sides. Two edges cross as geodesics if they swept over an odd number of
 * each other's ends. A vertex changes between inside and outside of a ring if an odd number of the ring's edges swept over it.
 *
 * A swept vertex is harmless if neither happened: a thin triangle may flip over, and a whole polygon may pass over another.
 */
class Parities {
  readonly #geometry: FlatGeometry
  readonly #areAllCertain: boolean
  readonly #oddKeys = new Set<string>()

  constructor(geometry: FlatGeometry, swept: readonly SweptVertex[]) {
    this.#geometry = geometry
    this.#areAllCertain = swept.every(({ isCertain }) => isCertain)
    if (!this.#areAllCertain) return
    for (const each of swept) {
      for (const key of [...this.#crossings(each), sideChangeKey(each)]) {
        if (!this.#oddKeys.delete(key)) this.#oddKeys.add(key)
      }
    }
  }

  isHarmful(swept: SweptVertex): boolean {
    const { vertexSequence, edgeSequence } = swept
    if (!this.#areAllCertain || this.isCrossing(swept)) return true
    return vertexSequence !== edgeSequence && this.#oddKeys.has(sideChangeKey(swept))
  }

  /** Returns true if an edge at the vertex crosses the sweeping edge. If any side is uncertain, every edge counts as crossing. */
  isCrossing(swept: SweptVertex): boolean {
    return !this.#areAllCertain || this.#crossings(swept).some((key) => this.#oddKeys.has(key))
  }

  /**
   * Returns the keys of the pairs of the edge with each edge at the vertex. Pairs that share an end are left out: they do not
   * cross.
   */
  #crossings({ vertex, edge, vertexSequence }: SweptVertex): string[] {
    const { sequenceStarts } = this.#geometry
    const first = sequenceStarts[vertexSequence]!
    const before = vertex === first ? sequenceStarts[vertexSequence + 1]! - 2 : vertex - 1
    return [before, vertex]
      .filter((own) => !this.#shareEnd(own, edge))
      .map((own) => `${Math.min(own, edge)} ${Math.max(own, edge)}`)
  }

  #shareEnd(a: number, b: number): boolean {
    return this.#isSame(a, b) || this.#isSame(a, b + 1) || this.#isSame(a + 1, b) || this.#isSame(a + 1, b + 1)
  }

  #isSame(a: number, b: number): boolean {
    const { vertices } = this.#geometry
    const [lat, shiftTurns] = [vertices[2 * a + 1]!, (vertices[2 * a]! - vertices[2 * b]!) / 360]
    return lat === vertices[2 * b + 1] && (shiftTurns === 0 || Math.abs(shiftTurns) === 1 || Math.abs(lat) === 90)
  }
}

function sideChangeKey({ vertex, edgeSequence }: SweptVertex): string {
  return `${vertex} in ${edgeSequence}`
}
