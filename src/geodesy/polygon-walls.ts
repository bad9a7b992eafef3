import type { FlatGeometry } from '../geometry/flat.ts'

/** Where an edge runs along longitude ±180: from one latitude to another, degrees. */
type Interval = readonly [south: number, north: number]

/**
 * Returns the boundary of the polygons of a geometry as lines.
 *
 * A Polygon or MultiPolygon that is cut at longitude ±180 has edges on both sides of it. These are not a boundary, so they are left
 * out, and so are edges along a pole, which have no length. In a collection of several geometries all edges count, because its polygons
 * may overlap.
 */
export function polygonWalls(geometry: FlatGeometry): Float64Array[] {
  const { vertices, sequenceStarts, partStarts, partDimensions, elementTypes } = geometry
  const joinsAtSeam = elementTypes.length === 1
  const walls: Float64Array[] = []
  const seam: Interval[] = []
  for (let part = 0; part < partDimensions.length; part++) {
    if (partDimensions[part] !== 2) continue
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
      let first = start
      for (let vertex = start; vertex + 1 < end; vertex++) {
        const [lon1, lat1, lon2, lat2] = vertices.subarray(2 * vertex, 2 * vertex + 4) as unknown as Edge
        const isPoint = lat1 === lat2 && Math.abs(lat1) === 90
        if (!isPoint && !(joinsAtSeam && isOnSeam(lon1, lat1) && isOnSeam(lon2, lat2))) continue
        if (vertex > first) walls.push(vertices.slice(2 * first, 2 * vertex + 2))
        if (lat1 !== lat2) seam.push(lat1 < lat2 ? [lat1, lat2] : [lat2, lat1])
        first = vertex + 1
      }
      if (end - 1 > first) walls.push(vertices.slice(2 * first, 2 * end))
    }
  }
  for (const [south, north] of coveredOnce(seam)) walls.push(Float64Array.of(180, south, 180, north))
  return walls
}

type Edge = readonly [lon1: number, lat1: number, lon2: number, lat2: number]

function isOnSeam(lon: number, lat: number): boolean {
  return Math.abs(lon) === 180 || Math.abs(lat) === 90
}

/** Returns the intervals that an odd number of the given ones covers. */
function coveredOnce(intervals: readonly Interval[]): Interval[] {
  const ends = intervals.flat().sort((a, b) => a - b)
  const covered: Interval[] = []
  for (let i = 0; i < ends.length; i += 2) if (ends[i] !== ends[i + 1]) covered.push([ends[i]!, ends[i + 1]!])
  return covered
}
