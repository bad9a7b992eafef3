import { utf8 } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/keccak.ts'
import { canonicalGeometry } from '../geometry/canonical.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { type GeometryLimits, readGeometry } from '../geometry/read.ts'
import type { Hex } from '../messages.ts'
import { problemAt } from '../problem.ts'
import type { Geometry } from '../types/generated.ts'
import type { OperationRow } from './operations.ts'

/** One operand: a geometry whose shape was checked, and where it stands in the request. */
export type Operand = { readonly path: readonly (string | number)[] } & (
  | {
      /** As parsed. */
      readonly geometry: Geometry
      /** Its reference, when that is not its own hash. */
      readonly ref: Hex | undefined
    }
  | {
      /** Read within `Engine.limits` already. */
      readonly flat: FlatGeometry
      readonly ref: Hex
    }
)

/** One that the scanner has read. */
export type ReadOperand = Extract<Operand, { readonly flat: FlatGeometry }>

export function isReadPoint(operand: Operand | undefined): operand is ReadOperand {
  return operand !== undefined && 'flat' in operand && operand.flat.type === 'Point'
}

/** The UID of an attestation does not tell its geometry apart for us: only a hash that we made here does. */
export function isOwnHash(operand: Operand): boolean {
  return 'flat' in operand || operand.ref === undefined
}

/** A reference given with the operand, or that of a geometry sent as GeoJSON: keccak-256 of its canonical text (decision 19). */
export function refOf(operand: Operand, keccak: Keccak): Hex {
  if ('flat' in operand) return operand.ref
  return operand.ref ?? keccak.hashHex(utf8(canonicalGeometry(operand.geometry)))
}

/** The operand in the form in which everything computes. */
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

/** The limits hold for a request as a whole (decision 29); each operand alone was checked while it was read. */
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
  throw problemAt('invalid-input', operands.at(-1)!.path, `brings the request to more than ${most} in all`, {
    code: vertices > limits.maxVertices ? 'too-many-vertices' : 'too-many-parts',
    hint: 'simplify the geometries or split them over several requests',
  })
}
