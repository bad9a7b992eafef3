/** `trigpoint/client/recompute`: the service's own computation, apart from the client because it brings the kernel with it. */
import { runOperation } from '../compute/run.ts'
import { javascriptKeccak } from '../crypto/keccak-javascript.ts'
import { ProblemError } from '../problem.ts'
import { CM_PER_METER, fromScaledInteger } from '../units.ts'
import { loadKernel } from '../wasm/loader.ts'
import { selfTestKernel } from '../wasm/self-test.ts'
import { operationOf } from './signed-data.ts'
import type { Recompute } from './verify-options.ts'

/** What a service may be configured to take at most; one geometry more is no reason to distrust an answer. */
const LIMITS = { maxVertices: 1_000_000, maxParts: 1_000_000, maxDistanceSolves: 50_000_000 }

/**
 * The same WebAssembly and the same code as the service, so the same bits: a result that differs is not its.
 *
 * @throws {Error} when the kernel does not compute here what it should
 */
export function createRecompute(): Recompute {
  const kernel = loadKernel()
  selfTestKernel(kernel)
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
