/** Geometries as callers of the package have them. */
import type { Geometry } from '../types/generated.ts'

/** Longitude and latitude in degrees; more numbers are ignored. @types/geojson and most map libraries declare this type. */
type PositionLike = readonly number[]

interface GeometryOf<Type extends string, Coordinates> {
  readonly type: Type
  readonly coordinates: Coordinates
}

/** A GeoJSON geometry with the types of other libraries, such as @types/geojson, or `as const`. Its content is checked where it is used. */
export type GeometryLike =
  | Geometry
  | GeometryOf<'Point', PositionLike>
  | GeometryOf<'MultiPoint' | 'LineString', readonly PositionLike[]>
  | GeometryOf<'MultiLineString' | 'Polygon', readonly (readonly PositionLike[])[]>
  | GeometryOf<'MultiPolygon', readonly (readonly (readonly PositionLike[])[])[]>
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly GeometryLike[] }
