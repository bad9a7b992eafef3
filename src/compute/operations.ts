/** The table of operations. Each row holds what is particular to one operation; the shared code is elsewhere. */

import { CM_PER_METER, CM2_PER_SQUARE_METER } from '../base/units.ts'
import type { ElementType } from '../geometry/flat.ts'
import type { OperationName } from '../wire/values.ts'

export interface OperationRow {
  readonly name: OperationName
  /** Names of the request members that hold the inputs, in the order of `inputRefs`. */
  readonly inputs: readonly string[]
  /** Deprecated names of the same members. Each entry replaces the whole of `inputs` (decision 1). */
  readonly inputAliases: readonly (readonly string[])[]
  readonly result:
    | {
        readonly kind: 'numeric'
        /** The unit in the JSON response. */
        readonly units: 'meters' | 'square_meters'
        /** The unit in the attested data. */
        readonly onchainUnits: 'centimeters' | 'square_centimeters'
        /** On-chain units per JSON unit. */
        readonly scale: number
      }
    | { readonly kind: 'boolean' }
    // Not signed.
    | { readonly kind: 'geometry' }
  /** Geometry types that the operation accepts; undefined if it accepts all seven. */
  readonly accepts: readonly ElementType[] | undefined
  /** What to send instead of a type that is not accepted. */
  readonly typeHint?: string
  /** True if the operation uses the interior of polygons, which must then be valid (decision 32). */
  readonly usesInterior: boolean
  /** True if inputs may be empty geometries. */
  readonly acceptsEmpty: boolean
  /** True if open rings of inputs are closed instead of rejected. */
  readonly closesRings: boolean
  /** True if a request may ask for geodesic edges instead of straight ones (decision 159). */
  readonly takesEdges: boolean
  /** Title of the schema of its requests. */
  readonly requestTitle: string
  /** True if edges are shortest geodesics, so that polygon rings must be valid as geodesics too (decision 125). */
  readonly isGeodesic: boolean
}

const LENGTH = { kind: 'numeric', units: 'meters', onchainUnits: 'centimeters', scale: CM_PER_METER } as const
const AREA = {
  kind: 'numeric',
  units: 'square_meters',
  onchainUnits: 'square_centimeters',
  scale: CM2_PER_SQUARE_METER,
} as const
const TRUTH = { kind: 'boolean' } as const
const GEOMETRY = { kind: 'geometry' } as const

const row = (
  name: OperationName,
  inputs: readonly string[],
  result: OperationRow['result'],
  overrides: Partial<OperationRow> = {},
): OperationRow => ({
  name,
  inputs,
  inputAliases: [],
  result,
  accepts: undefined,
  usesInterior: true,
  acceptsEmpty: false,
  closesRings: false,
  takesEdges: false,
  requestTitle: `${name[0]!.toUpperCase()}${name.slice(1)}Request`,
  isGeodesic: false,
  ...overrides,
})

const predicate = (name: OperationName, requestTitle: string): OperationRow =>
  row(name, ['geometry1', 'geometry2'], TRUTH, { acceptsEmpty: true, requestTitle })

export const OPERATIONS: Readonly<Record<OperationName, OperationRow>> = {
  distance: row('distance', ['from', 'to'], LENGTH, { isGeodesic: true }),
  area: row('area', ['geometry'], AREA, { accepts: ['Polygon', 'MultiPolygon'], isGeodesic: true }),
  length: row('length', ['geometry'], LENGTH, {
    accepts: ['LineString', 'MultiLineString'],
    usesInterior: false,
    isGeodesic: true,
  }),
  contains: row('contains', ['container', 'containee'], TRUTH, {
    inputAliases: [
      ['geometryA', 'geometryB'],
      ['geometry1', 'geometry2'],
      ['container', 'geometry'],
    ],
    takesEdges: true,
  }),
  within: row('within', ['geometry', 'target'], TRUTH, { isGeodesic: true }),
  intersects: row('intersects', ['geometry1', 'geometry2'], TRUTH, { takesEdges: true }),
  // Without a pattern the result is a matrix, which is not signed (decision 147).
  relate: predicate('relate', 'RelateRequest'),
  equals: predicate('equals', 'PredicateRequest'),
  disjoint: predicate('disjoint', 'PredicateRequest'),
  touches: predicate('touches', 'PredicateRequest'),
  crosses: predicate('crosses', 'PredicateRequest'),
  overlaps: predicate('overlaps', 'PredicateRequest'),
  covers: predicate('covers', 'PredicateRequest'),
  coveredBy: predicate('coveredBy', 'PredicateRequest'),
  buffer: row('buffer', ['geometry'], GEOMETRY, {
    accepts: ['Point'],
    typeHint:
      'send each Point by itself, e.g. as an item of a batch; for another geometry, within tells what is inside its buffer',
    usesInterior: false,
    isGeodesic: true,
  }),
  direct: row('direct', ['from'], GEOMETRY, { accepts: ['Point'], usesInterior: false, isGeodesic: true }),
  nearest: row('nearest', ['from', 'to'], GEOMETRY, { isGeodesic: true }),
  repair: row('repair', ['geometry'], GEOMETRY, { usesInterior: false, closesRings: true }),
  waypoints: row('waypoints', ['from', 'to'], GEOMETRY, { accepts: ['Point'], usesInterior: false, isGeodesic: true }),
}
