import { runOperation } from '../compute/run.ts'
import { javascriptKeccak } from '../crypto/keccak-javascript.ts'
import { ProblemError } from '../problem.ts'
import { CM_PER_METER, fromScaledInteger } from '../units.ts'
import type { Kernel } from '../wasm/loader.ts'
import { operationOf } from './signed-data.ts'
import type { Recompute } from './verify-options.ts'

/** What a service may be configured to take at most; one geometry more is no reason to distrust an answer. */
const LIMITS = { maxVertices: 1_000_000, maxParts: 1_000_000, maxDistanceSolves: 50_000_000 }

/** The service's computation with a kernel that was loaded elsewhere, as a page does that fetches it. */
export function recomputeWith(kernel: Kernel): Recompute {
  const engine = { kernel, keccak: javascriptKeccak(), limits: LIMITS }
  return (operation, inputs) => {
    const found = operationOf(operation)
    if (found === undefined) return { ok: false, reason: `${JSON.stringify(operation)} is no operation` }
    const { row, radiusCm } = found
    if (inputs.length !== row.inputs.length) return { ok: false, reason: `${row.name} has ${row.inputs.length} inputs` }
    const operands = inputs.map((geometry, index) => ({ path: [row.inputs[index]!], geometry, ref: undefined }))
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
