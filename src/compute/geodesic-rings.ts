/**
 * Whether rings that are valid with straight edges in longitude and latitude are so as geodesics too.
 *
 * While a straight edge is bent into its geodesic, nothing about two edges changes unless the edge sweeps over a vertex of
 * the other. So all that can be wrong is found by looking for swept vertices: those between an edge and its geodesic. Without
 * any, the geodesic rings cross nowhere and contain each other as the straight ones do. Sides are decided by azimuths, within
 * the error of the kernel (`edge-offset.ts`).
 */
import { areaSquareMeters } from '../geodesy/area.ts'
import { UNCERTAIN_METERS } from '../geodesy/edge-offset.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import type { Invalidity, InvalidityReason } from '../topology/invalidity.ts'
import type { PreparedTopology } from '../topology/prepared.ts'
import type { Kernel } from '../wasm/loader.ts'
import { METERS_PER_DEGREE, metersOfBulge } from './edge-bulge.ts'
import { SolutionBudget, type Swept } from './swept-vertex.ts'
import { SweptVertices } from './swept-vertices.ts'

/**
 * Metres of a ring that may lie beyond a geodesic edge, both ways from one vertex. What then counts as boundary, or fails to,
 * is at most 1 mm from the boundary: distances of geometries are measured no better.
 */
const MAX_BEYOND_METERS = 2e-3
/** Areas beyond geodesic edges, together: half of the error that an area may have. */
const MAX_STRAY_SQUARE_METERS = 0.5e-4
const MAX_STRAY_SHARE = 0.5e-12

/** Where a star-shaped ring is judged by its margin. */
const [STAR_TO_DEGREES, STAR_TO_LATITUDE] = [1, 80]
/** A vertex on the wrong side of a geodesic edge. */
export interface GeodesicFault extends Invalidity {
  /** Index in its sequence of the vertex. */
  readonly vertex: number
  readonly depthMeters: number
  /** The ends of the edge, degrees. */
  readonly edge: readonly [lon1: number, lat1: number, lon2: number, lat2: number]
}

/**
 * The first grave fault of the polygons of a geometry as geodesics. Faults are tolerated while at most 2 mm of a ring lie
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
  const budget = new SolutionBudget(workLimit)
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
  const bulge = metersOfBulge(width, height)
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
    edge: [...vertices.subarray(2 * grave.edge, 2 * grave.edge + 4)] as [number, number, number, number],
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
