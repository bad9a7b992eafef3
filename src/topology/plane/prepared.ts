import type { FlatGeometry } from '../../geometry/flat.ts'
import { LineBoundary } from '../layout/line-boundary.ts'
import { EAST, findGlobeFlags, HAS_WHOLE_PARALLEL, NORTH, SOUTH, WEST } from '../layout/unwrap.ts'
import { EdgeRay } from './edge-ray.ts'
import { EdgeTree } from './edge-tree.ts'

/** Approximate memory for one end of a line in a `LineBoundary`: a short string and its set entry. */
const LINE_END_BYTES = 120

/**
 * A geometry with the lookup structures of the predicates, each built on first use and then kept. Results are the same as for the
 * geometry without them.
 *
 * Two predicates must not use it at the same time.
 */
export class PreparedTopology {
  readonly geometry: FlatGeometry
  /** One Polygon or MultiPolygon: every edge has the exterior on one side, except at single points where other rings touch it. */
  readonly isOnePolygonal: boolean
  /**
   * One polygon with its holes: every edge has the exterior on one side everywhere, because its rings touch on the other side.
   */
  readonly isOnePolygon: boolean
  readonly hasPolygons: boolean
  readonly hasLines: boolean
  readonly hasPoints: boolean
  /** The `starMargin` with which a single polygon without holes was proved valid; otherwise 0. */
  starMargin = 0
  #tree: EdgeTree | undefined
  #ray: EdgeRay | undefined
  #lineBoundary: LineBoundary | undefined
  #globeFlags: number | undefined
  #isRing: Uint8Array | undefined
  #eastward: PreparedTopology | null | undefined

  /** @param tree the tree of its edges, if that was built before */
  constructor(geometry: FlatGeometry, tree?: EdgeTree) {
    this.#tree = tree
    const { elementTypes, partDimensions } = geometry
    this.geometry = geometry
    this.isOnePolygonal = elementTypes.length === 1 && partDimensions[0] === 2
    this.isOnePolygon = this.isOnePolygonal && partDimensions.length === 1
    this.hasPolygons = this.isOnePolygonal || partDimensions.includes(2)
    this.hasLines = !this.isOnePolygonal && partDimensions.includes(1)
    this.hasPoints = !this.isOnePolygonal && partDimensions.includes(0)
  }

  get hasTree(): boolean {
    return this.#tree !== undefined
  }

  get tree(): EdgeTree {
    this.#tree ??= new EdgeTree(this.geometry)
    return this.#tree
  }

  get ray(): EdgeRay {
    this.#ray ??= new EdgeRay(this.tree, !this.isOnePolygonal)
    return this.#ray
  }

  /**
   * The same geometry with longitudes in [0, 360), a plane in which geometries on both sides of ±180 are in one piece. Undefined
   * when the geometry meets a pole, has whole parallels or extends over 180° or more, and when adding 360 would round a longitude.
   * It never rounds longitudes in [−180, −128], because the sum has the same precision.
   */
  get eastward(): PreparedTopology | undefined {
    if (this.#eastward !== undefined) return this.#eastward ?? undefined
    const moved = this.#moveEastward()
    // Kept only if `byteLength` counts it. A geometry without globe flags needs it only with one that crosses the antimeridian.
    if (this.globeFlags !== 0) this.#eastward = moved ?? null
    return moved
  }

  /** Whether edges along the antimeridian may be a cut between two parts, as RFC 7946 asks for. */
  get mayBeCut(): boolean {
    return (this.globeFlags & (EAST | WEST)) !== 0 && this.geometry.partDimensions.length > 1
  }

  /** The boundary of its lines in the plane. */
  get lineBoundary(): LineBoundary {
    this.#lineBoundary ??= new LineBoundary(this.geometry, true)
    return this.#lineBoundary
  }

  /** By sequence: 1 for rings of polygons. */
  get isRing(): Uint8Array {
    if (this.#isRing === undefined) {
      const { partStarts, partDimensions, sequenceStarts } = this.geometry
      this.#isRing = new Uint8Array(sequenceStarts.length - 1)
      partDimensions.forEach((dimension, part) => {
        if (dimension === 2) this.#isRing!.fill(1, partStarts[part]!, partStarts[part + 1]!)
      })
    }
    return this.#isRing
  }

  /** Where it meets ±180 and the poles, as the bits that `arePlanar` takes. */
  get globeFlags(): number {
    this.#globeFlags ??= this.#tree?.isSurelyPlanar === true ? 0 : findGlobeFlags(this.geometry)
    return this.#globeFlags
  }

  /** Call this when a pass over the vertices has shown that the globe flags are 0. */
  clearMarks(): void {
    this.#globeFlags = 0
  }

  /** Largest size it may grow to, in bytes, including the geometry's own arrays. */
  get byteLength(): number {
    const { vertices, sequenceStarts, partStarts, partDimensions, elementStarts } = this.geometry
    const arrays = [vertices, sequenceStarts, partStarts, partDimensions, elementStarts]
    const flat = arrays.reduce((sum, array) => sum + array.byteLength, 0)
    const ray = this.isOnePolygonal ? 0 : 2 * sequenceStarts.length
    const moved = this.globeFlags === 0 ? undefined : this.eastward
    const lineEnds = this.hasLines ? 2 * LINE_END_BYTES * partDimensions.length : 0
    return flat + this.tree.byteLength + ray + lineEnds + (moved === undefined || moved === this ? 0 : moved.byteLength)
  }

  #moveEastward(): PreparedTopology | undefined {
    if ((this.globeFlags & (NORTH | SOUTH | HAS_WHOLE_PARALLEL)) !== 0) return undefined
    const { geometry } = this
    let moved: PreparedTopology = this
    if (geometry.vertices.some((value, i) => i % 2 === 0 && value < 0)) {
      const vertices = geometry.vertices.slice()
      for (let i = 0; i < vertices.length; i += 2) {
        const lon = vertices[i]!
        vertices[i] = eastwardLongitude(lon)
        if (lon < 0 && vertices[i]! - 360 !== lon) return undefined
      }
      moved = new PreparedTopology({ ...geometry, vertices })
    }
    const { boxes } = moved.tree
    const root = boxes.length - 4
    // If the whole geometry spans less than 180°, so does each edge, and its short way lies in this plane.
    return boxes[root + 2]! - boxes[root]! < 180 ? moved : undefined
  }
}

/** Returns the same longitude in [0, 360), rounded. */
export function eastwardLongitude(lon: number): number {
  return lon < 0 ? lon + 360 : lon
}

/** A geometry, as received or prepared. */
export type Topology = FlatGeometry | PreparedTopology

/**
 * Prepares a geometry that many predicates will use.
 *
 * @param geometry has valid polygons (`findInvalidity`); must not change afterwards
 */
export function prepareTopology(geometry: FlatGeometry): PreparedTopology {
  const prepared = new PreparedTopology(geometry)
  // Computed now, so that the first predicate does not pay for it.
  if (prepared.tree.leafCount > 0) prepared.globeFlags
  return prepared
}

/** Returns the prepared form. A geometry as received gets new lookup structures. */
export function toPrepared(topology: Topology): PreparedTopology {
  return topology instanceof PreparedTopology ? topology : new PreparedTopology(topology)
}

export function toGeometry(topology: Topology): FlatGeometry {
  return topology instanceof PreparedTopology ? topology.geometry : topology
}

/** Tells whether a geometry holds points only. */
export function isPuntal(topology: Topology): boolean {
  if (topology instanceof PreparedTopology) return !topology.hasPolygons && !topology.hasLines
  const { partDimensions } = topology
  for (let part = 0; part < partDimensions.length; part++) if (partDimensions[part] !== 0) return false
  return true
}
