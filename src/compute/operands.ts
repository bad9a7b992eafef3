import { problemAt } from '../base/problem.ts'
import { canonicalGeometry } from '../crypto/canonical.ts'
import { utf8 } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { type GeometryLimits, readGeometry } from '../geometry/read.ts'
import type { Geometry } from '../types/generated.ts'
import type { Hex } from '../wire/values.ts'
import type { OperationRow } from './operations.ts'

/** One operand: a geometry that matches its schema, and its path in the request. */
export type Operand = { readonly path: readonly (string | number)[] } & (
  | {
      /** GeoJSON as parsed. */
      readonly geometry: Geometry
      /** Its reference, if that is not the hash of the geometry. */
      readonly ref: Hex | undefined
    }
  | {
      /** Vertices already read, within the limits. */
      readonly flat: FlatGeometry
      readonly ref: Hex
    }
)

/** An operand that the scanner has already read. */
export type ReadOperand = Extract<Operand, { readonly flat: FlatGeometry }>

export function isReadPoint(operand: Operand | undefined): operand is ReadOperand {
  return operand !== undefined && 'flat' in operand && operand.flat.type === 'Point'
}

/**
 * Returns true if the operand's reference is a hash that we computed. Only such a hash identifies the geometry; an attestation's
 * UID does not.
 */
export function hasOwnHash(operand: Operand): boolean {
  return 'flat' in operand || operand.ref === undefined
}

/**
 * Returns the reference given with the operand. For plain GeoJSON, computes it: keccak-256 of the canonical text (decision 19).
 */
export function operandRef(operand: Operand, keccak: Keccak): Hex {
  if ('flat' in operand) return operand.ref
  return operand.ref ?? keccak.hashHex(utf8(canonicalGeometry(operand.geometry)))
}

/**
 * Reads the operand into flat vertices.
 *
 * @throws {ProblemError} `invalid-input` if the operation does not accept its type, or the geometry is not well-formed
 */
export function readOperand(row: OperationRow, operand: Operand, limits: GeometryLimits): FlatGeometry {
  const { type } = 'flat' in operand ? operand.flat : operand.geometry
  if (row.accepts !== undefined && !row.accepts.some((accepted) => accepted === type)) {
    throw problemAt(
      'invalid-input',
      operand.path,
      `${row.name} takes a ${row.accepts.join(' or a ')}, found a ${type}`,
      {
        code: 'wrong-geometry-type',
      },
    )
  }
  return 'flat' in operand ? operand.flat : readGeometry(operand.geometry, operand.path, limits)
}

/**
 * Checks the limits for the request as a whole (decision 29). Reading has already checked each operand separately.
 *
 * @throws {ProblemError} `invalid-input` when all operands together exceed a limit
 */
export function checkTotals(
  geometries: readonly FlatGeometry[],
  operands: readonly Operand[],
  limits: GeometryLimits,
): void {
  const vertices = geometries.reduce((sum, geometry) => sum + geometry.vertices.length / 2, 0)
  const parts = geometries.reduce((sum, geometry) => sum + geometry.sequenceStarts.length - 1, 0)
  if (vertices <= limits.maxVertices && parts <= limits.maxParts) return
  const most =
    vertices > limits.maxVertices ? `${limits.maxVertices} vertices` : `${limits.maxParts} rings, lines and points`
  throw problemAt('invalid-input', operands.at(-1)!.path, `brings the whole request to more than ${most}`, {
    code: vertices > limits.maxVertices ? 'too-many-vertices' : 'too-many-parts',
    hint: 'simplify the geometries or split them over several requests',
  })
}
