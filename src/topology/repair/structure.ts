/**
 * Makes valid polygons from invalid ones by their structure, as `GeometryFixer` of JTS and `ST_MakeValid(…, 'method=structure')` of
 * PostGIS do (decision 153): what a ring goes around is inside, holes are subtracted from their exterior ring, and the polygons of a
 * MultiPolygon are united. A hole apart from its exterior ring becomes a polygon.
 */
import { spendWork } from '../../base/work.ts'
import type { PoleResolver } from '../../geometry/pole-resolver.ts'
import { orientation } from '../exact/exact.ts'
import { sideOfRing } from '../exact/point-in-ring.ts'
import { assemblePolygons, type InsideRule, type Polygon, type Ring } from './arrangement.ts'
import { crossesAntimeridian, foldRing } from './fold.ts'
import { type Chain, type Meeting, nodeChains } from './noding.ts'
import { Places } from './places.ts'

/** What a change of a repair is. */
export type ChangeCode =
  | 'repeated-vertex'
  | 'spike'
  | 'no-area'
  | 'cut-at-antimeridian'
  | 'self-intersection'
  | 'self-touch'
  | 'rings-cross'
  | 'rings-touch'
  | 'hole-outside'

export interface Change {
  readonly code: ChangeCode
  /** Where: a place of the input, or one that was computed and rounded. */
  readonly lon: number
  readonly lat: number
  /** Sequence of the input to which the change belongs. */
  readonly source: number
}

/** A ring of the input: closed, interleaved lon, lat in degrees. */
export interface SourceRing {
  readonly vertices: Float64Array
  readonly source: number
}

/** Thrown when rounding makes new crossings again and again. */
export class UnsettledError extends Error {
  override readonly name = 'UnsettledError'
}

const WOUND: InsideRule = (depth) => depth !== 0
const ODD: InsideRule = (depth) => depth % 2 !== 0
const COVERED: InsideRule = (depth) => depth > 0
const CUT: InsideRule = (depth, holes) => depth > 0 && holes <= 0
const DIFFERENT: InsideRule = (first, second) => first > 0 !== second > 0

/** Units of work of each vertex that is compared. */
const VERTEX_WORK = 1 / 64

/**
 * Repairs the polygons of one Polygon or MultiPolygon.
 *
 * @param polygons rings of each, the exterior one first
 * @param changes gets each change
 * @returns valid polygons in the plane of longitude and latitude, wound as RFC 7946 says; none if nothing has an area
 * @throws {UnsettledError} if rounding prevents a result
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
export function repairPolygons(
  polygons: readonly (readonly SourceRing[])[],
  resolvePole: PoleResolver,
  changes: Change[],
): Polygon[] {
  const repair = new Repair(resolvePole, changes)
  const parts = polygons.flatMap((rings) => repair.repairPolygon(rings))
  return parts.length < 2 ? parts : repair.combine(inLayer(parts, 0), COVERED)
}

/**
 * Returns the places that are inside one but not inside the other: the polygons as they were drawn, and a repair of them. Of what was
 * drawn, a place is inside if an odd number of the rings of one polygon go around it.
 *
 * @throws {UnsettledError} as `repairPolygons`
 */
export function findMoved(
  polygons: readonly (readonly SourceRing[])[],
  repaired: readonly Polygon[],
  resolvePole: PoleResolver,
): Polygon[] {
  const repair = new Repair(resolvePole, [])
  const drawn = polygons.flatMap((rings) => repair.drawPolygon(rings))
  return repair.combine([...inLayer(drawn, 0), ...inLayer(repaired, 1)], DIFFERENT)
}

interface Layered {
  readonly polygon: Polygon
  readonly layer: 0 | 1
}

class Repair {
  readonly #resolvePole: PoleResolver
  readonly #changes: Change[]

  constructor(resolvePole: PoleResolver, changes: Change[]) {
    this.#resolvePole = resolvePole
    this.#changes = changes
  }

  repairPolygon(rings: readonly SourceRing[]): Polygon[] {
    const shell = this.#repairRing(rings[0]!)
    if (shell.length === 0) return []
    const holes = rings.slice(1).map((ring) => this.#repairRing(ring))
    if (holes.every((hole) => hole.length === 0)) return shell
    const meeting = new Set<number>()
    const noded = this.#nodeParts([...inLayer(shell, 0), ...inLayer(holes.flat(), 1)], ([a, b]) => {
      // One of them is of the exterior ring.
      if (a === rings[0]!.source) meeting.add(b)
      if (b === rings[0]!.source) meeting.add(a)
    })
    const places = new Places()
    for (const { vertices } of shell.flat())
      for (let i = 0; i < vertices.length; i += 2) places.add(vertices[i]!, vertices[i + 1]!)
    const isApart = (hole: readonly Polygon[]): boolean =>
      !hole.flat().some((ring) => meeting.has(ring.source) || hasVertexIn(ring, places)) &&
      !isInsideAny(hole, shell) &&
      !isInsideAny(shell, hole)
    const outside = holes.filter((hole) => hole.length > 0 && isApart(hole))
    if (outside.length === 0) return assemblePolygons(noded, CUT)
    for (const hole of outside) this.#add('hole-outside', hole[0]![0]!)
    const cutting = holes.filter((hole) => !outside.includes(hole)).flat()
    const cut = this.combine([...inLayer(shell, 0), ...inLayer(cutting, 1)], CUT)
    return this.combine(inLayer([...cut, ...outside.flat()], 0), COVERED)
  }

  /** Returns what an odd number of rings go around. */
  drawPolygon(rings: readonly SourceRing[]): Polygon[] {
    const chains = rings.flatMap((ring) => this.#toChain(ring) ?? [])
    return assemblePolygons(this.#node(chains), ODD)
  }

  #add(code: ChangeCode, { vertices, source }: SourceRing, vertex = 0): void {
    this.#changes.push({ code, lon: vertices[2 * vertex]!, lat: vertices[2 * vertex + 1]!, source })
  }

  /** Returns what a ring goes around. */
  #repairRing(ring: SourceRing): Polygon[] {
    const chain = this.#toChain(ring)
    if (chain === undefined) {
      this.#add('no-area', ring)
      return []
    }
    const places = new Set<string>()
    const report = (code: ChangeCode, lon: number, lat: number) => {
      // Ways along ±180 and the poles are none of the ring.
      if (chain.isFolded && (Math.abs(lon) === 180 || Math.abs(lat) === 90)) return
      if (places.has(`${lon} ${lat}`)) return
      places.add(`${lon} ${lat}`)
      this.#changes.push({ code, lon, lat, source: ring.source })
    }
    const noded = this.#node([chain], ({ lon, lat, isCrossing }) =>
      report(isCrossing ? 'self-intersection' : 'self-touch', lon, lat),
    )
    for (const [lon, lat] of noded.flatMap(({ vertices }) => repeatedVertices(vertices))) report('self-touch', lon, lat)
    const polygons = assemblePolygons(noded, WOUND)
    if (polygons.length === 0) this.#add('no-area', ring)
    return polygons
  }

  /** Returns a ring without repeated vertices and spikes, cut at ±180; undefined if it has no area. */
  #toChain(ring: SourceRing): (Chain & { readonly isFolded: boolean }) | undefined {
    const vertices = cleanRing(ring.vertices, (code, lon, lat) =>
      this.#changes.push({ code, lon, lat, source: ring.source }),
    )
    if (vertices === undefined) return undefined
    const isFolded = crossesAntimeridian(vertices)
    if (isFolded) this.#add('cut-at-antimeridian', ring)
    const folded = isFolded ? foldRing(vertices, this.#resolvePole) : vertices
    return { vertices: folded, layer: 0, source: ring.source, isFolded }
  }

  /** Returns what is inside by a rule of the polygons of two layers. */
  combine(parts: readonly Layered[], isInside: InsideRule): Polygon[] {
    return assemblePolygons(this.#nodeParts(parts), isInside)
  }

  #nodeParts(parts: readonly Layered[], visit: (sources: Meeting['sources']) => void = () => {}): readonly Chain[] {
    const chains = parts.flatMap(({ polygon, layer }) =>
      polygon.map(({ vertices, source }): Chain => ({ vertices, source, layer })),
    )
    return this.#node(chains, ({ lon, lat, isCrossing, sources }) => {
      visit(sources)
      this.#changes.push({ code: isCrossing ? 'rings-cross' : 'rings-touch', lon, lat, source: Math.max(...sources) })
    })
  }

  #node(chains: readonly Chain[], visit?: (meeting: Meeting) => void): readonly Chain[] {
    const noded = nodeChains(chains, visit)
    if (noded === undefined) throw new UnsettledError('rounding its crossings makes new crossings')
    return noded
  }
}

/**
 * Removes repeated vertices, and vertices at which a ring turns back along the edge on which it came.
 *
 * @returns undefined if fewer than three vertices remain
 */
function cleanRing(
  ring: Float64Array,
  report: (code: 'repeated-vertex' | 'spike', lon: number, lat: number) => void,
): Float64Array | undefined {
  let places: [number, number][] = []
  for (let i = 0; i < ring.length - 2; i += 2) places.push([ring[i]! + 0, ring[i + 1]! + 0])
  for (;;) {
    const kept: [number, number][] = []
    for (const place of places) {
      kept.push(place)
      removeLast(kept, report)
    }
    // The end of the ring meets its start.
    let isChanged = false
    while (kept.length > 1 && isSame(kept.at(-1)!, kept[0]!)) {
      report('repeated-vertex', ...kept.pop()!)
      isChanged = true
    }
    if (kept.length < 3) return undefined
    for (const [at, other] of [
      [kept.length - 1, kept.length - 2],
      [0, 1],
    ] as const) {
      const [before, after] = at === 0 ? [kept.at(-1)!, kept[other]!] : [kept[other]!, kept[0]!]
      if (!foldsBack(before, kept[at]!, after)) continue
      report('spike', ...kept[at]!)
      kept.splice(at, 1)
      isChanged = true
      break
    }
    places = kept
    if (!isChanged) break
  }
  return Float64Array.from([...places, places[0]!].flat())
}

/** Removes places while the last one repeats the one before it, or the one before it is the tip of a spike. */
function removeLast(
  places: [number, number][],
  report: (code: 'repeated-vertex' | 'spike', lon: number, lat: number) => void,
): void {
  let isSpike = false
  for (;;) {
    const size = places.length
    if (size > 1 && isSame(places[size - 1]!, places[size - 2]!)) {
      const place = places.pop()!
      // The two sides of a spike that was removed end at the same vertex.
      if (!isSpike) report('repeated-vertex', ...place)
    } else if (size > 2 && foldsBack(places[size - 3]!, places[size - 2]!, places[size - 1]!)) {
      report('spike', ...places[size - 2]!)
      places.splice(size - 2, 1)
      isSpike = true
    } else return
  }
}

type Pair = readonly [number, number]

function isSame(a: Pair, b: Pair): boolean {
  return a[0] === b[0] && a[1] === b[1]
}

/** Tells whether the way a → b → c turns back at b. Edges over half the globe are left to the noding. */
function foldsBack(a: Pair, b: Pair, c: Pair): boolean {
  if (Math.abs(a[0] - b[0]) >= 180 || Math.abs(c[0] - b[0]) >= 180) return false
  if (orientation(...a, ...b, ...c) !== 0) return false
  return a[0] === b[0] ? a[1] < b[1] === c[1] < b[1] : a[0] < b[0] === c[0] < b[0]
}

/** Returns the vertices to which a closed ring comes more than once. */
function repeatedVertices(vertices: Float64Array): Pair[] {
  const seen = new Places()
  const repeated: Pair[] = []
  for (let i = 0; i < vertices.length - 2; i += 2) {
    const [lon, lat] = [vertices[i]!, vertices[i + 1]!]
    if (seen.has(lon, lat)) repeated.push([lon, lat])
    else seen.add(lon, lat)
  }
  return repeated
}

function inLayer(polygons: readonly Polygon[], layer: 0 | 1): Layered[] {
  return polygons.map((polygon) => ({ polygon, layer }))
}

function hasVertexIn({ vertices }: Ring, places: Places): boolean {
  for (let i = 0; i < vertices.length; i += 2) if (places.has(vertices[i]!, vertices[i + 1]!)) return true
  return false
}

/** Tells whether one of some polygons lies inside of others, whose boundaries it does not meet. */
function isInsideAny(polygons: readonly Polygon[], others: readonly Polygon[]): boolean {
  return polygons.some(([exterior]) => others.some((other) => isInPolygon(exterior!.vertices, other)))
}

function isInPolygon(vertices: Float64Array, [exterior, ...holes]: Polygon): boolean {
  const [lon, lat] = [vertices[0]!, vertices[1]!]
  const side = ({ vertices: ring }: Ring): number => {
    spendWork((ring.length / 2) * VERTEX_WORK)
    return sideOfRing(ring, 0, ring.length / 2, lon, lat)
  }
  return side(exterior!) > 0 && holes.every((hole) => side(hole) < 0)
}
