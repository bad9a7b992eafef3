import { MARGIN_METERS } from '../geodesy/nearness.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { toPrepared } from '../topology/plane/prepared.ts'
import type { Kernel } from '../wasm/loader.ts'
import { SweptVertexSearch } from './swept-vertices.ts'

/** Largest width of an edge in degrees, and largest latitude, for which the two readings are compared. */
const [MAX_WIDTH, MAX_LATITUDE] = [90, 85]

/**
 * Returns true if two geometries certainly relate to each other as geodesics as they do with edges that are straight in longitude and
 * latitude.
 *
 * While an edge is bent into its geodesic, its relation to another edge or to a point changes only if one of the two passes over a
 * vertex of the other: over each longitude that two edges have in common, both the straight lines and the geodesics cross at most
 * once, and which of the two is farther north at either end is a question about a vertex and an edge. So both readings agree if no
 * vertex is between an edge and its geodesic, on the edge, or within the margin of the geodesic. Edges along a meridian do not move,
 * and neither do the ends of edges, so geometries may share vertices and edges.
 *
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
export function areReadingsEqual(kernel: Kernel, a: FlatGeometry, b: FlatGeometry): boolean {
  if (!isOrdinary(a) || !isOrdinary(b)) return false
  const both = asRings([a, b])
  const swept = new SweptVertexSearch(kernel, toPrepared(both), 0, 0, both.sequenceStarts.length - 1, MARGIN_METERS)
  return swept.find().length === 0
}

/** Whether no vertex is near a pole or at longitude ±180, and no edge is wide. */
function isOrdinary({ vertices, sequenceStarts }: FlatGeometry): boolean {
  for (let i = 0; i < vertices.length; i += 2)
    if (Math.abs(vertices[i]!) >= 180 || Math.abs(vertices[i + 1]!) > MAX_LATITUDE) return false
  for (let sequence = 0; sequence + 1 < sequenceStarts.length; sequence++) {
    const end = 2 * sequenceStarts[sequence + 1]!
    for (let i = 2 * sequenceStarts[sequence]!; i + 2 < end; i += 2)
      if (Math.abs(vertices[i + 2]! - vertices[i]!) > MAX_WIDTH) return false
  }
  return true
}

/**
 * Returns the sequences of geometries as rings of one element, as the search takes them. The last vertex of each is repeated: the
 * search compares the vertices at which edges start.
 */
function asRings(geometries: readonly FlatGeometry[]): FlatGeometry {
  const vertices: number[] = []
  const sequenceStarts = [0]
  for (const { vertices: own, sequenceStarts: starts } of geometries) {
    for (let sequence = 0; sequence + 1 < starts.length; sequence++) {
      const end = 2 * starts[sequence + 1]!
      for (let i = 2 * starts[sequence]!; i < end; i++) vertices.push(own[i]!)
      vertices.push(own[end - 2]!, own[end - 1]!)
      sequenceStarts.push(vertices.length / 2)
    }
  }
  const count = sequenceStarts.length - 1
  return {
    type: 'MultiPolygon',
    vertices: Float64Array.from(vertices),
    sequenceStarts: Uint32Array.from(sequenceStarts),
    partStarts: Uint32Array.from(sequenceStarts, (_, index) => index),
    partDimensions: new Uint8Array(count).fill(2),
    elementStarts: Uint32Array.of(0, count),
    elementTypes: ['MultiPolygon'],
    elementPaths: [[]],
  }
}
