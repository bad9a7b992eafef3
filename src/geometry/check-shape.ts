import type { Geometry, Position } from '../types/generated.ts'

/** Depth of the positions in `coordinates`, and the least number of positions in the innermost array. */
const SHAPES: Readonly<Record<string, { readonly depth: number; readonly atLeast: number; readonly isRing?: true }>> = {
  Point: { depth: 0, atLeast: 1 },
  MultiPoint: { depth: 1, atLeast: 1 },
  LineString: { depth: 1, atLeast: 2 },
  MultiLineString: { depth: 2, atLeast: 2 },
  Polygon: { depth: 2, atLeast: 4, isRing: true },
  MultiPolygon: { depth: 3, atLeast: 4, isRing: true },
}
const MAX_COLLECTION_DEPTH = 8

/** Says why a value is not a geometry. */
class ShapeError extends Error {}

export type ShapeCheck =
  | { readonly ok: true; readonly geometry: Geometry }
  | { readonly ok: false; readonly reason: string }

/**
 * Tells whether a JSON value is a GeoJSON geometry (RFC 7946): structure, ranges of longitude and latitude, closed rings. It is
 * meant for values that no client sent, for which a short reason is enough. Requests are checked by the schemas, which name the
 * path.
 *
 * @param acceptsEmpty whether it and members of collections may be empty: `coordinates` or `geometries` is an empty array
 * @returns the value without foreign members, or the reason why it is not a geometry
 */
export function checkShape(value: unknown, acceptsEmpty = false): ShapeCheck {
  try {
    return { ok: true, geometry: readShape(value, 0, acceptsEmpty) }
  } catch (error) {
    if (error instanceof ShapeError) return { ok: false, reason: error.message }
    throw error
  }
}

function readShape(value: unknown, depth: number, acceptsEmpty: boolean): Geometry {
  if (typeof value !== 'object' || value === null) throw new ShapeError('is not a geometry')
  const { type, coordinates, geometries } = value as Record<string, unknown>
  if (type === 'GeometryCollection') {
    if (depth >= MAX_COLLECTION_DEPTH) throw new ShapeError('nests collections too deeply')
    if (!Array.isArray(geometries) || (geometries.length === 0 && !acceptsEmpty))
      throw new ShapeError('is an empty collection')
    return { type, geometries: geometries.map((member) => readShape(member, depth + 1, acceptsEmpty)) } as Geometry
  }
  const shape = typeof type === 'string' && Object.hasOwn(SHAPES, type) ? SHAPES[type] : undefined
  if (shape === undefined) throw new ShapeError('has an unknown geometry type')
  if (!(acceptsEmpty && Array.isArray(coordinates) && coordinates.length === 0))
    requirePositions(coordinates, shape.depth, shape)
  return { type, coordinates } as Geometry
}

function requirePositions(value: unknown, depth: number, shape: { atLeast: number; isRing?: true }): void {
  if (depth === 0) {
    requirePosition(value)
    return
  }
  if (!Array.isArray(value) || value.length === 0) throw new ShapeError('has no array where its type needs one')
  for (const member of value) requirePositions(member, depth - 1, shape)
  if (depth > 1) return
  if (value.length < shape.atLeast)
    throw new ShapeError(`has ${value.length} positions, fewer than the ${shape.atLeast} that it needs`)
  if (shape.isRing !== true) return
  const [first, last] = [value[0] as Position, value.at(-1) as Position]
  if (first[0] !== last[0] || first[1] !== last[1]) throw new ShapeError('has an open ring')
}

function requirePosition(value: unknown): void {
  const isPosition = Array.isArray(value) && value.length >= 2 && value.length <= 4
  if (!isPosition || !value.every((member) => Number.isFinite(member)))
    throw new ShapeError('has a position that is not two to four finite numbers')
  const [longitude, latitude] = value as Position
  if (Math.abs(longitude) > 180) throw new ShapeError(`has longitude ${longitude}, outside -180..180`)
  if (Math.abs(latitude) > 90) throw new ShapeError(`has latitude ${latitude}, outside -90..90`)
}
