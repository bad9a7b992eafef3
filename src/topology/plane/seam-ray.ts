import type { FlatGeometry } from '../../geometry/flat.ts'
import { EdgeRay } from './edge-ray.ts'
import { EdgeTree } from './edge-tree.ts'

/** Largest error of a longitude after a turn is added, degrees. The true error is below 1e-13, so this is more than enough. */
const MARGIN = 1e-12

/**
 * Locates points in a Polygon or MultiPolygon that crosses the antimeridian but not the meridian of Greenwich. In the plane of
 * longitudes from 0 to 360 such a geometry is in one piece. Adding a turn rounds, so points close to an edge are left undecided.
 */
export class AntimeridianRay {
  readonly byteLength: number
  readonly #ray: EdgeRay | undefined

  /** @param geometry has no vertex at a pole */
  constructor(geometry: FlatGeometry) {
    const vertices = geometry.vertices.slice()
    for (let i = 0; i < vertices.length; i += 2) vertices[i] = eastward(vertices[i]!)
    const tree = new EdgeTree({ ...geometry, vertices })
    const root = tree.boxes.length - 4
    this.byteLength = vertices.byteLength + tree.byteLength
    // Less than 180°: then no edge is longer, and the short way of each lies in this plane.
    if (tree.boxes[root + 2]! - tree.boxes[root]! < 180 - 2 * MARGIN) this.#ray = new EdgeRay(tree, false, MARGIN)
  }

  /** Number of leaves opened so far, as a measure of cost. */
  get effort(): number {
    return this.#ray?.openedLeaves ?? 0
  }

  /**
   * @param lon of a point that is not at a pole
   * @returns undefined when the result is uncertain
   */
  locate(lon: number, lat: number): 'interior' | 'exterior' | undefined {
    const ray = this.#ray?.cast(eastward(lon), lat)
    if (ray === undefined || ray.isUncertain) return undefined
    return ray.isOdd ? 'interior' : 'exterior'
  }
}

/** Returns the same longitude in [0, 360). */
function eastward(lon: number): number {
  return lon < 0 ? lon + 360 : lon
}
