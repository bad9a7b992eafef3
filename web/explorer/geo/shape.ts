/** Geometries as things with vertices that can be moved. */
import type { Geometry, Position } from '../../../src/types/generated.ts'

export type LonLat = readonly [longitude: number, latitude: number]

/** Where a vertex stands in `coordinates`: indices from the outermost list inwards; empty for a Point. */
export type VertexPath = readonly number[]

export interface Vertex {
  readonly path: VertexPath
  readonly position: LonLat
  /** Its sequence: vertices that lines run between. */
  readonly sequence: string
}

/** 0.1 m at the equator: finer than any hand. */
const DRAWN_DIGITS = 6

/** Longitude into −180..180, both to the digits that hands draw by. */
export function drawn(longitude: number, latitude: number): LonLat {
  const round = (value: number) => Number(value.toFixed(DRAWN_DIGITS))
  return [round(wrapped(longitude)), round(Math.max(-90, Math.min(90, latitude)))]
}

export function wrapped(longitude: number): number {
  return longitude >= -180 && longitude <= 180 ? longitude : ((((longitude + 180) % 360) + 360) % 360) - 180
}

/** The longitude's turn of the globe that lies nearest to another. */
export function near(longitude: number, other: number): number {
  return longitude + 360 * Math.round((other - longitude) / 360)
}

/** Lists of positions that lines run along, and whether they are rings; points are lists of one. */
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

/** Every vertex once: the last of a ring is its first. A collection has none that could be moved here. */
export function verticesOf(geometry: Geometry): readonly Vertex[] {
  const found: Vertex[] = []
  const visit = (value: unknown, path: VertexPath): void => {
    if (!Array.isArray(value)) return
    if (typeof value[0] === 'number') {
      found.push({ path, position: [value[0], value[1]], sequence: path.slice(0, -1).join('.') })
      return
    }
    const last = isRingOf(geometry, path) ? value.length - 1 : value.length
    for (let index = 0; index < last; index++) visit(value[index], [...path, index])
  }
  if (geometry.type !== 'GeometryCollection') visit(geometry.coordinates, [])
  return found
}

/** Whether the list under a path is a ring. */
export function isRingOf(geometry: Geometry, path: VertexPath): boolean {
  return (geometry.type === 'Polygon' && path.length === 1) || (geometry.type === 'MultiPolygon' && path.length === 2)
}

/** The geometry with one vertex elsewhere. */
export function moveVertex(geometry: Geometry, path: VertexPath, to: LonLat): Geometry {
  return changed(geometry, path, (list, index, isRing) => {
    list[index] = [...to]
    if (isRing && index === 0) list[list.length - 1] = [...to]
  })
}

/** The geometry with one more vertex, behind the one under `path`. */
export function insertVertex(geometry: Geometry, path: VertexPath, at: LonLat): Geometry {
  return changed(geometry, path, (list, index) => list.splice(index + 1, 0, [...at]))
}

/** The geometry without a vertex, or as it was where none can be spared. */
export function removeVertex(geometry: Geometry, path: VertexPath): Geometry {
  return changed(geometry, path, (list, index, isRing) => {
    if (list.length <= (isRing ? 4 : geometry.type === 'MultiPoint' ? 1 : 2)) return
    list.splice(index, 1)
    if (isRing && index === 0) list[list.length - 1] = [...list[0]!]
  })
}

/** The geometry moved as a whole, in degrees; latitudes end at the poles. */
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

/** West, south, east, north; east may lie beyond 180 where the geometry crosses the antimeridian. */
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
  // Two shapes on either side of the antimeridian are one turn apart, or near.
  const shifted = longitudes.map((longitude) => (longitude < 0 ? longitude + 360 : longitude))
  const span = (values: readonly number[]) => Math.max(...values) - Math.min(...values)
  const best = span(shifted) < span(longitudes) ? shifted : longitudes
  return [Math.min(...best), Math.min(...latitudes), Math.max(...best), Math.max(...latitudes)]
}
