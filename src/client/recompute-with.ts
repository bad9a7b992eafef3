import { ProblemError } from '../base/problem.ts'
import { CM_PER_METER, fromScaledInteger } from '../base/units.ts'
import { runOperation } from '../compute/run.ts'
import { javascriptKeccak } from '../crypto/noble.ts'
import type { Geometry } from '../types/generated.ts'
import type { Kernel } from '../wasm/loader.ts'
import { parseOperation } from './verify/signed-data.ts'
import type { Recompute } from './verify/verdict.ts'

/** Generous limits: a geometry above a default limit may come from a service that is configured for more. */
const LIMITS = { maxVertices: 1_000_000, maxParts: 1_000_000, maxWork: 50_000_000 }

/** Creates the service's computation with a given kernel, e.g. one that a web page fetched. */
export function recomputeWith(kernel: Kernel): Recompute {
  const engine = { kernel, keccak: javascriptKeccak(), limits: LIMITS }
  return (operation, inputs) => {
    const parsed = parseOperation(operation)
    if (parsed === undefined) return { ok: false, reason: `${JSON.stringify(operation)} is not an operation` }
    const { row, radiusCm } = parsed
    if (inputs.length !== row.inputs.length)
      return { ok: false, reason: `${row.name} needs ${row.inputs.length} inputs` }
    const operands = inputs.map((geometry, index) => {
      return { path: [row.inputs[index]!], geometry: geometry as Geometry, ref: undefined }
    })
    const radiusMeters = radiusCm === undefined ? undefined : fromScaledInteger(radiusCm, CM_PER_METER)
    try {
      const outcome = runOperation(row, operands, radiusMeters, engine)
      return { ok: true, result: outcome.kind === 'numeric' ? outcome.integer : outcome.value }
    } catch (error) {
      if (error instanceof ProblemError) return { ok: false, reason: error.message }
      throw error
    }
  }
}
