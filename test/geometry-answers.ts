import { ProblemError } from '../src/base/problem.ts'
import { OPERATIONS } from '../src/compute/operations.ts'
import { type OperationParameters, runOperation } from '../src/compute/run.ts'
import { javascriptKeccak } from '../src/crypto/noble.ts'
import type { Geometry } from '../src/types/generated.ts'
import { loadKernel } from '../src/wasm/loader.ts'
import type { GeometryOperation } from '../src/wire/values.ts'

export const kernel = loadKernel()
export const engine = {
  kernel,
  keccak: javascriptKeccak(),
  limits: { maxVertices: 50_000, maxParts: 10_000, maxWork: 200_000 },
}

/** Runs an operation whose answer is a geometry. @returns its members, or the first fault of the request */
// biome-ignore lint/suspicious/noExplicitAny: each operation has its own members
export function answer(name: GeometryOperation, inputs: readonly Geometry[], parameters: OperationParameters): any {
  const operands = inputs.map((geometry, i) => ({ geometry, path: [OPERATIONS[name].inputs[i]!], ref: undefined }))
  try {
    const outcome = runOperation(OPERATIONS[name], operands, parameters, engine)
    if (outcome.kind !== 'geometry') throw new RangeError(`${name} has no geometry`)
    return JSON.parse(`{${outcome.members}}`)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    return { type: error.data.type, fault: error.data.invalidParts?.[0] }
  }
}
