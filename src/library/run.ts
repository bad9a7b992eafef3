/** Runs the service's operations on the geometries of a caller. */
import { OPERATIONS } from '../compute/operations.ts'
import { type ComputeContext, type OperationParameters, type Outcome, runOperation } from '../compute/run.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { OperationName } from '../wire/values.ts'
import { explained, type GeometryInput, LIMITS, Prepared, readInputs } from './geometry.ts'
import { kernel } from './kernel.ts'

const notHashed = (): never => {
  throw new RangeError('the library gives every geometry a reference, so none is hashed')
}
const keccak: Keccak = { hash: notHashed, hashInto: notHashed, hashHex: notHashed, backend: 'javascript' }

/**
 * Runs an operation exactly as the service does.
 *
 * @throws {GeometryError} if a geometry is not valid, or the operation is not defined for it
 */
export function run(
  name: OperationName,
  inputs: readonly GeometryInput[],
  parameters: OperationParameters = {},
): Outcome {
  const row = OPERATIONS[name]
  const operands = readInputs(inputs, row.inputs)
  const prepared: ComputeContext['prepared'] = {
    find: (ref) => Prepared.find(inputs, ref),
    holds: () => false,
    trim: () => {},
  }
  return explained(() => runOperation(row, operands, parameters, { kernel, keccak, limits: LIMITS, prepared }))
}

/** @returns metres or square metres, not rounded */
export function measure(name: OperationName, inputs: readonly GeometryInput[]): number {
  const outcome = run(name, inputs)
  if (outcome.kind !== 'numeric') throw new RangeError(`${name} is not a measure`)
  return outcome.measure
}

export function decide(name: OperationName, inputs: readonly GeometryInput[], pattern?: string): boolean {
  const outcome = run(name, inputs, { pattern })
  if (outcome.kind !== 'boolean') throw new RangeError(`${name} is not a predicate`)
  return outcome.value
}
