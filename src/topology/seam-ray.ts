import type { FlatGeometry } from '../geometry/flat.ts'
import { EdgeRay } from './edge-ray.ts'
import { EdgeTree } from './edge-tree.ts'

/** Degrees by which longitudes are wrong at most after a turn is added: less than 1e-13, and more than enough. */
const MARGIN = 1e-12

/**
 * Locates points in a Polygon or MultiPolygon that crosses the antimeridian but not that of Greenwich, in the plane of
 * longitudes from 0 to 360, where it is in one piece. Adding a turn rounds: what is close to an edge is left to others.
 */
export class SeamRay {
  readonly byteLength: number
  readonly #ray: EdgeRay | undefined

  /** @param geometry with no vertex at a pole */
  constructor(geometry: FlatGeometry) {
    const vertices = geometry.vertices.slice()
    for (let i = 0; i < vertices.length; i += 2) vertices[i] = eastward(vertices[i]!)
    const tree = new EdgeTree({ ...geometry, vertices })
    const root = tree.boxes.length - 4
    this.byteLength = vertices.byteLength + tree.byteLength
    // Less than half a turn: then no edge is longer, and the short way of each lies within.
    if (tree.boxes[root + 2]! - tree.boxes[root]! < 180 - 2 * MARGIN) this.#ray = new EdgeRay(tree, false, MARGIN)
  }

  /** Leaves looked into so far: what it costs. */
  get effort(): number {
    return this.#ray?.effort ?? 0
  }

  /**
   * @param lon of a point not at a pole
   * @returns undefined when it is not sure
   */
  locate(lon: number, lat: number): 'interior' | 'exterior' | undefined {
    const ray = this.#ray?.cast(eastward(lon), lat)
    if (ray === undefined || ray.isUnsure) return undefined
    return ray.isOdd ? 'interior' : 'exterior'
  }
}

/** The same longitude in [0, 360). */
function eastward(lon: number): number {
  return lon < 0 ? lon + 360 : lon
}
