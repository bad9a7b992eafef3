/**
 * A geometry as flat arrays: the form in which geodesy and topology see every GeoJSON geometry.
 *
 * An element (the geometry itself, or a leaf of a GeometryCollection) consists of parts (a Point, a LineString, a Polygon with
 * its holes), a part of sequences (a position, a line, a ring), and a sequence of vertices. Each level is an array of offsets
 * into the next one, with one entry more than it has items, so item i is [starts[i], starts[i+1]).
 */

export const GEOMETRY_TYPES = [
  'Point',
  'MultiPoint',
  'LineString',
  'MultiLineString',
  'Polygon',
  'MultiPolygon',
  'GeometryCollection',
] as const
export type GeometryType = (typeof GEOMETRY_TYPES)[number]
/** Type of an element. Collections are flattened into their leaves. */
export type ElementType = Exclude<GeometryType, 'GeometryCollection'>

/** Dimension of a part, which is also its kind: 0 Point, 1 LineString, 2 Polygon. */
export type Dimension = 0 | 1 | 2

export interface FlatGeometry {
  /** The type as received; `GeometryCollection` even when it holds one element. */
  readonly type: GeometryType
  /** Interleaved [lon0, lat0, lon1, lat1, …], degrees, each finite and in range; rings closed (first = last). */
  readonly vertices: Float64Array
  /** Offsets into vertices, counted in vertices (not in doubles). */
  readonly sequenceStarts: Uint32Array
  /** Offsets into sequences. A Polygon part's first sequence is its exterior ring, the others are holes. */
  readonly partStarts: Uint32Array
  readonly partDimensions: Uint8Array
  /** Offsets into parts. */
  readonly elementStarts: Uint32Array
  readonly elementTypes: readonly ElementType[]
  /** JSON path of each element in the GeoJSON object: [] or ['geometries', 0, 'geometries', 2] … */
  readonly elementPaths: readonly (readonly (string | number)[])[]
}

/**
 * Returns the JSON path of a vertex in the GeoJSON object, for error messages.
 *
 * @param sequence index of the sequence
 * @param vertex index of the vertex in the sequence; omit it to name the sequence itself
 * @returns e.g. ['geometries', 1, 'coordinates', 0, 2, 5]
 */
export function vertexPath(geometry: FlatGeometry, sequence: number, vertex?: number): (string | number)[] {
  const part = findOwner(geometry.partStarts, sequence)
  const element = findOwner(geometry.elementStarts, part)
  const type = geometry.elementTypes[element]!
  const path: (string | number)[] = [...geometry.elementPaths[element]!, 'coordinates']
  if (type.startsWith('Multi')) path.push(part - geometry.elementStarts[element]!)
  if (geometry.partDimensions[part] === 2) path.push(sequence - geometry.partStarts[part]!)
  if (vertex !== undefined && geometry.partDimensions[part] !== 0) path.push(vertex)
  return path
}

/** Returns the index i with starts[i] ≤ item < starts[i + 1]. */
export function findOwner(starts: Uint32Array, item: number): number {
  let low = 0
  let high = starts.length - 2
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (starts[middle]! <= item) low = middle
    else high = middle - 1
  }
  return low
}

/** Makes a point at 0, 0, whose vertex may be overwritten. */
export function createPoint(): FlatGeometry {
  return {
    type: 'Point',
    vertices: new Float64Array(2),
    sequenceStarts: Uint32Array.of(0, 1),
    partStarts: Uint32Array.of(0, 1),
    partDimensions: Uint8Array.of(0),
    elementStarts: Uint32Array.of(0, 1),
    elementTypes: ['Point'],
    elementPaths: [[]],
  }
}
