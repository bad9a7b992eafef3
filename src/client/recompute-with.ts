import { ProblemError } from '../base/problem.ts'
import { CM_PER_METER, fromScaledInteger } from '../base/units.ts'
import { OPERATIONS, type OperationRow } from '../compute/operations.ts'
import { type OperationParameters, type Outcome, runOperation } from '../compute/run.ts'
import { javascriptKeccak } from '../crypto/noble.ts'
import type { Geometry } from '../types/generated.ts'
import type { Kernel } from '../wasm/loader.ts'
import type { GeometryOperation } from '../wire/values.ts'
import { parseOperation } from './verify/signed-data.ts'
import type { Recompute } from './verify/verdict.ts'

/** Generous limits: a geometry above a default limit may come from a service that is configured for more. */
const LIMITS = { maxVertices: 1_000_000, maxParts: 1_000_000, maxWork: 50_000_000 }

type Inputs = Parameters<Recompute>[1]
type Rejected = Extract<ReturnType<Recompute>, { readonly ok: false }>

/**
 * Creates the service's computation with a given kernel, e.g. one that a web page fetched.
 *
 * @param maxWork units of work after which it gives up; a unit is about 0.8 µs
 */
export function recomputeWith(kernel: Kernel, maxWork = LIMITS.maxWork): Recompute {
  const run = runnerWith(kernel, maxWork)
  return (operation, inputs) => {
    const parsed = parseOperation(operation)
    if (parsed === undefined) return { ok: false, reason: `${JSON.stringify(operation)} is not an operation` }
    const { row, radiusCm, pattern, edges } = parsed
    const radiusMeters = radiusCm === undefined ? undefined : fromScaledInteger(radiusCm, CM_PER_METER)
    const computed = run(row, inputs, { radiusMeters, pattern, edges })
    if (!computed.ok) return computed
    const { outcome } = computed
    switch (outcome.kind) {
      case 'numeric':
        return { ok: true, result: outcome.integer }
      case 'boolean':
        return { ok: true, result: outcome.value }
      default:
        throw new RangeError(`a ${outcome.kind} is not a signed result`)
    }
  }
}

/** Computes the DE-9IM matrix of two geometries, e.g. `212101212`, or returns the reason why an input is rejected. */
export type ComputeMatrix = (inputs: Inputs) => { readonly ok: true; readonly matrix: string } | Rejected

/** Creates the computation of matrices, which no service signs, with a given kernel. */
export function matrixWith(kernel: Kernel): ComputeMatrix {
  const run = runnerWith(kernel)
  return (inputs) => {
    const computed = run(OPERATIONS.relate, inputs, {})
    if (!computed.ok) return computed
    if (computed.outcome.kind !== 'matrix') throw new RangeError('relate without a pattern has no matrix')
    return { ok: true, matrix: computed.outcome.matrix }
  }
}

/** Computes an answer that is a geometry: the members of the response that only its operation has, or why it is rejected. */
export type ComputeGeometry = (
  operation: GeometryOperation,
  inputs: Inputs,
  parameters: OperationParameters,
) => { readonly ok: true; readonly members: object } | Rejected

/** Creates the computation of answers that are geometries, which no service signs, with a given kernel. */
export function geometryWith(kernel: Kernel): ComputeGeometry {
  const run = runnerWith(kernel)
  return (operation, inputs, parameters) => {
    const computed = run(OPERATIONS[operation], inputs, parameters)
    if (!computed.ok) return computed
    if (computed.outcome.kind !== 'geometry') throw new RangeError(`${operation} has no geometry`)
    return { ok: true, members: JSON.parse(`{${computed.outcome.members}}`) }
  }
}

function runnerWith(kernel: Kernel, maxWork = LIMITS.maxWork) {
  const engine = { kernel, keccak: javascriptKeccak(), limits: { ...LIMITS, maxWork } }
  return (
    row: OperationRow,
    inputs: Inputs,
    parameters: OperationParameters,
  ): { readonly ok: true; readonly outcome: Outcome } | Rejected => {
    if (inputs.length !== row.inputs.length)
      return { ok: false, reason: `${row.name} needs ${row.inputs.length} inputs` }
    const operands = inputs.map((geometry, index) => {
      return { path: [row.inputs[index]!], geometry: geometry as Geometry, ref: undefined }
    })
    try {
      return { ok: true, outcome: runOperation(row, operands, parameters, engine) }
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      const isTooComplex = error.data.type === 'too-complex'
      return { ok: false, reason: error.message, ...(isTooComplex && { isTooComplex }) }
    }
  }
}
