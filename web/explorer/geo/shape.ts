/** Reads and edits the vertices of geometries. */
import type { Geometry, Position } from '../../../src/types/generated.ts'

export type LonLat = readonly [longitude: number, latitude: number]

/** The path of a vertex in `coordinates`: indices from the outermost list inwards; empty for a Point. */
export type VertexPath = readonly number[]

export interface Vertex {
  readonly path: VertexPath
  readonly position: LonLat
  /** Identifies the line or ring that the vertex belongs to. */
  readonly sequence: string
}

/** Decimal places of drawn coordinates: 0.1 m at the equator, finer than anyone can point. */
const DRAWN_DIGITS = 6

/** Returns a drawn position: longitude wrapped into −180..180, latitude clamped to ±90, both rounded to `DRAWN_DIGITS`. */
export function drawn(longitude: number, latitude: number): LonLat {
  const round = (value: number) => Number(value.toFixed(DRAWN_DIGITS))
  return [round(wrapped(longitude)), round(Math.max(-90, Math.min(90, latitude)))]
}

export function wrapped(longitude: number): number {
  return longitude >= -180 && longitude <= 180 ? longitude : ((((longitude + 180) % 360) + 360) % 360) - 180
}

/** Shifts a longitude by a multiple of 360° so that it is nearest to another longitude. */
export function near(longitude: number, other: number): number {
  return longitude + 360 * Math.round((other - longitude) / 360)
}

/** Returns the sequences of a geometry and whether each is a ring; a point is a sequence of one position. */
export function sequencesOf(geometry: Geometry): readonly { positions: readonly Position[]; isRing: boolean }[] {
  switch (geometry.type) {
    case 'Point':
      return [{ positions: [geometry.coordinates], isRing: false }]
    case 'MultiPoint':
      return geometry.coordinates.map((position) => ({ positions: [position], isRing: false }))
    case 'LineString':
      return [{ positions: geometry.coordinates, isRing: false }]
    case 'MultiLineString':
      return geometry.coordinates.map((positions) => ({ positions, isRing: false }))
    case 'Polygon':
      return geometry.coordinates.map((positions) => ({ positions, isRing: true }))
    case 'MultiPolygon':
      return geometry.coordinates.flatMap((rings) => rings.map((positions) => ({ positions, isRing: true })))
    case 'GeometryCollection':
      return geometry.geometries.flatMap(sequencesOf)
  }
}

export function vertexCount(geometry: Geometry): number {
  return sequencesOf(geometry).reduce(
    (sum, { positions, isRing }) => sum + positions.length - (isRing && positions.length > 1 ? 1 : 0),
    0,
  )
}

/** Returns every vertex once, so without the closing vertex of a ring. A collection has none, because it cannot be edited here. */
export function verticesOf(geometry: Geometry): readonly Vertex[] {
  const vertices: Vertex[] = []
  const visit = (value: unknown, path: VertexPath): void => {
    if (!Array.isArray(value)) return
    if (typeof value[0] === 'number') {
      vertices.push({ path, position: [value[0], value[1]], sequence: path.slice(0, -1).join('.') })
      return
    }
    const last = isRingOf(geometry, path) ? value.length - 1 : value.length
    for (let index = 0; index < last; index++) visit(value[index], [...path, index])
  }
  if (geometry.type !== 'GeometryCollection') visit(geometry.coordinates, [])
  return vertices
}

/** Returns whether the list at a path is a ring. */
export function isRingOf(geometry: Geometry, path: VertexPath): boolean {
  return (geometry.type === 'Polygon' && path.length === 1) || (geometry.type === 'MultiPolygon' && path.length === 2)
}

/** Returns the geometry with one vertex moved. */
export function moveVertex(geometry: Geometry, path: VertexPath, to: LonLat): Geometry {
  return changed(geometry, path, (list, index, isRing) => {
    list[index] = [...to]
    if (isRing && index === 0) list[list.length - 1] = [...to]
  })
}

/** Returns the geometry with a new vertex after the one at `path`. */
export function insertVertex(geometry: Geometry, path: VertexPath, at: LonLat): Geometry {
  return changed(geometry, path, (list, index) => list.splice(index + 1, 0, [...at]))
}

/** Returns the geometry without a vertex, or unchanged if it has only the vertices that its type needs. */
export function removeVertex(geometry: Geometry, path: VertexPath): Geometry {
  return changed(geometry, path, (list, index, isRing) => {
    if (list.length <= (isRing ? 4 : geometry.type === 'MultiPoint' ? 1 : 2)) return
    list.splice(index, 1)
    if (isRing && index === 0) list[list.length - 1] = [...list[0]!]
  })
}

/** Returns the geometry moved by an offset in degrees; latitudes are clamped at the poles. */
export function translate(geometry: Geometry, longitude: number, latitude: number): Geometry {
  if (geometry.type === 'GeometryCollection') {
    return { ...geometry, geometries: geometry.geometries.map((member) => translate(member, longitude, latitude)) }
  }
  const move = (value: unknown): unknown =>
    Array.isArray(value) && typeof value[0] === 'number'
      ? drawn(value[0] + longitude, value[1] + latitude)
      : (value as unknown[]).map(move)
  return { ...geometry, coordinates: move(geometry.coordinates) } as Geometry
}

function changed(
  geometry: Geometry,
  path: VertexPath,
  change: (list: number[][], index: number, isRing: boolean) => void,
): Geometry {
  if (geometry.type === 'GeometryCollection') return geometry
  const copy = structuredClone(geometry)
  if (path.length === 0) {
    const list = [copy.coordinates as number[]]
    change(list, 0, false)
    return { ...copy, coordinates: list[0] } as Geometry
  }
  const parent = path.slice(0, -1).reduce<unknown>((list, index) => (list as unknown[])[index], copy.coordinates)
  change(parent as number[][], path.at(-1)!, isRingOf(geometry, path.slice(0, -1)))
  return copy
}

/** West, south, east, north; east is above 180 if the geometry crosses the antimeridian. */
export type Box = readonly [number, number, number, number]

export function boxOf(geometries: readonly Geometry[]): Box | undefined {
  const positions = geometries.flatMap(sequencesOf).flatMap(({ positions }) => {
    let last: number | undefined
    return positions.map((position): LonLat => {
      last = last === undefined ? position[0] : near(position[0], last)
      return [last, position[1]]
    })
  })
  if (positions.length === 0) return undefined
  const longitudes = positions.map(([longitude]) => longitude)
  const latitudes = positions.map(([, latitude]) => latitude)
  // For shapes on both sides of the antimeridian, longitudes of 0..360 give the smaller box.
  const shifted = longitudes.map((longitude) => (longitude < 0 ? longitude + 360 : longitude))
  const span = (values: readonly number[]) => Math.max(...values) - Math.min(...values)
  const best = span(shifted) < span(longitudes) ? shifted : longitudes
  return [Math.min(...best), Math.min(...latitudes), Math.max(...best), Math.max(...latitudes)]
}
