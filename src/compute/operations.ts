/** The six operations as data: what differs between them is a row here, what they share is code elsewhere. */
import type { ElementType } from '../geometry/flat.ts'
import type { OperationName } from '../messages.ts'
import { CM_PER_METER, CM2_PER_SQUARE_METER } from '../units.ts'

/** Code of the refusal of a distance that would cost more exact solutions than it is allowed. */
export const TOO_MUCH_WORK = 'too-much-work'

export interface OperationRow {
  readonly name: OperationName
  /** Members of the request that hold the inputs, in the order of `inputRefs`. */
  readonly inputs: readonly string[]
  /** Deprecated spellings of the same members, each complete by itself (decision 1). */
  readonly inputAliases: readonly (readonly string[])[]
  readonly result:
    | {
        readonly kind: 'numeric'
        /** In the JSON answer. */
        readonly units: 'meters' | 'square_meters'
        /** Inside the attested data. */
        readonly onchainUnits: 'centimeters' | 'square_centimeters'
        /** On-chain units per JSON unit. */
        readonly scale: number
      }
    | { readonly kind: 'boolean' }
  /** Types of geometry it is defined for; undefined: all seven. */
  readonly accepts: readonly ElementType[] | undefined
  /** True when polygons count with their interior, so that they have to be valid (decision 32). */
  readonly takesInterior: boolean
  /** True when edges are shortest geodesics, so that the rings of polygons have to be valid as such (decision 125). */
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

const row = (
  name: OperationName,
  inputs: readonly string[],
  result: OperationRow['result'],
  rest: Partial<OperationRow> = {},
): OperationRow => ({
  name,
  inputs,
  inputAliases: [],
  result,
  accepts: undefined,
  takesInterior: true,
  isGeodesic: false,
  ...rest,
})

export const OPERATIONS: Readonly<Record<OperationName, OperationRow>> = {
  distance: row('distance', ['from', 'to'], LENGTH, { isGeodesic: true }),
  area: row('area', ['geometry'], AREA, { accepts: ['Polygon', 'MultiPolygon'], isGeodesic: true }),
  length: row('length', ['geometry'], LENGTH, {
    accepts: ['LineString', 'MultiLineString'],
    takesInterior: false,
    isGeodesic: true,
  }),
  contains: row('contains', ['container', 'containee'], TRUTH, {
    inputAliases: [
      ['geometryA', 'geometryB'],
      ['geometry1', 'geometry2'],
      ['container', 'geometry'],
    ],
  }),
  within: row('within', ['geometry', 'target'], TRUTH, { isGeodesic: true }),
  intersects: row('intersects', ['geometry1', 'geometry2'], TRUTH),
}
