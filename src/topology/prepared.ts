import type { FlatGeometry } from '../geometry/flat.ts'
import { EdgeRay } from './edge-ray.ts'
import { EdgeTree } from './edge-tree.ts'
import { LineBoundary } from './line-boundary.ts'
import { AROUND, EAST, globeMarksOf, JUMPS, NORTH, SOUTH, WEST } from './plane.ts'
import { SeamRay } from './seam-ray.ts'

/** What a place of a line's end takes in a `LineBoundary`, about: a short text and its entry. */
const LINE_END_BYTES = 120

/**
 * A geometry with what predicates look things up in, made when a question needs it first and kept for the next one. Answers
 * are the same as for the geometry alone.
 *
 * Not for use by two questions at a time.
 */
export class PreparedTopology {
  readonly geometry: FlatGeometry
  /** One Polygon or MultiPolygon: every edge has its outside on one side, but for single places where other rings touch it. */
  readonly isOnePolygonal: boolean
  /** One polygon with its holes: every edge has its outside on one side everywhere, since its rings touch on the other. */
  readonly isOnePolygon: boolean
  readonly hasPolygons: boolean
  readonly hasLines: boolean
  readonly hasPoints: boolean
  /** Of one polygon without holes that was proved valid by it: see `starMargin`. 0 otherwise. */
  starMargin = 0
  #tree: EdgeTree | undefined
  #ray: EdgeRay | undefined
  #lineBoundary: LineBoundary | undefined
  #marks: number | undefined
  #isRing: Uint8Array | undefined
  #seamRay: SeamRay | undefined

  constructor(geometry: FlatGeometry) {
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
   * For points on both sides of ±180; undefined when the geometry is not polygonal, meets a pole, has whole parallels or does
   * not reach ±180.
   */
  get seamRay(): SeamRay | undefined {
    if (!this.isOnePolygonal || (this.marks & (NORTH | SOUTH | AROUND)) !== 0) return undefined
    if ((this.marks & (JUMPS | EAST | WEST)) === 0) return undefined
    this.#seamRay ??= new SeamRay(this.geometry)
    return this.#seamRay
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

  /** Where it meets what the plane of lon and lat tears: see `globeMarksOf`. */
  get marks(): number {
    this.#marks ??= this.#tree?.isClearOfSeam === true ? 0 : globeMarksOf(this.geometry)
    return this.#marks
  }

  /** To be called when a pass over its vertices has shown that its marks are 0. */
  markClear(): void {
    this.#marks = 0
  }

  /** Bytes it may grow to, the geometry's own arrays among them. */
  get byteLength(): number {
    const { vertices, sequenceStarts, partStarts, partDimensions, elementStarts } = this.geometry
    const arrays = [vertices, sequenceStarts, partStarts, partDimensions, elementStarts]
    const flat = arrays.reduce((sum, array) => sum + array.byteLength, 0)
    const ray = this.isOnePolygonal ? 0 : 2 * sequenceStarts.length
    const lineEnds = this.hasLines ? 2 * LINE_END_BYTES * partDimensions.length : 0
    return flat + this.tree.byteLength + ray + lineEnds + (this.seamRay?.byteLength ?? 0)
  }
}

/** A geometry, as sent or prepared. */
export type Topology = FlatGeometry | PreparedTopology

/**
 * Prepares a geometry about which many questions are asked.
 *
 * @param geometry of valid polygons (`findInvalidity`); must not change afterwards
 */
export function prepareTopology(geometry: FlatGeometry): PreparedTopology {
  const prepared = new PreparedTopology(geometry)
  // At once, so that the first question does not pay for it.
  if (prepared.tree.leafCount > 0) prepared.marks
  return prepared
}

/** The geometry with its lookups, empty ones when it comes as sent. */
export function preparedOf(topology: Topology): PreparedTopology {
  return topology instanceof PreparedTopology ? topology : new PreparedTopology(topology)
}

export function geometryOf(topology: Topology): FlatGeometry {
  return topology instanceof PreparedTopology ? topology.geometry : topology
}

/** Whether a geometry holds points alone. */
export function isPuntal(topology: Topology): boolean {
  if (topology instanceof PreparedTopology) return !topology.hasPolygons && !topology.hasLines
  const { partDimensions } = topology
  for (let part = 0; part < partDimensions.length; part++) if (partDimensions[part] !== 0) return false
  return true
}
