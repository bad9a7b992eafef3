import { encodeBoolean, encodeNumeric } from '../src/attest/encode.ts'
import { OPERATIONS, type OperationRow } from '../src/compute/operations.ts'
import { type Engine, type Operand, runOperation } from '../src/compute/run.ts'
import type {
  ComputeResult,
  ComputeTask,
  ComputeWorkerData,
  Hex,
  Input,
  ResolvedInput,
  UnresolvedInput,
} from '../src/messages.ts'
import { ProblemError, problemAt } from '../src/problem.ts'
import { fromScaledInteger } from '../src/units.ts'
import { type ComputeRequest, readComputeRequest } from '../src/validation/compute-request.ts'
import { checkGeometry } from '../src/validation/input.ts'
import { parseJsonObject } from '../src/validation/json-body.ts'
import { type ReadRequest, readRequest } from './read-request.ts'

type Limits = ComputeWorkerData['limits']

/**
 * One request from bytes to unsigned result: read, validate, compute, encode.
 *
 * @param canScan see `readRequest`
 * @returns a problem as data instead of throwing it: an Error would lose its class on the way to main
 * @throws whatever is a bug of ours
 */
export function runComputeTask(task: ComputeTask, engine: Engine, limits: Limits, canScan = true): ComputeResult {
  try {
    return compute(task, engine, limits, canScan)
  } catch (error) {
    if (error instanceof ProblemError) return { ok: false, problem: error.data }
    throw error
  }
}

function compute(task: ComputeTask, engine: Engine, limits: Limits, canScan: boolean): ComputeResult {
  const row = OPERATIONS[task.operation]
  const read = readRequest(
    task.body,
    (body, check) => readComputeRequest(row, body, limits.maxCollectionDepth, check),
    engine,
    limits,
    canScan,
  )
  return answerRequest(row, read, task, engine, limits)
}

/** From a checked request to its unsigned result; or to what main has to resolve first. */
export function answerRequest(
  row: OperationRow,
  { request, operandOf }: ReadRequest,
  { resolved, timestampSeconds }: Pick<ComputeTask, 'resolved' | 'timestampSeconds'>,
  engine: Engine,
  limits: Limits,
): ComputeResult {
  // Main knows the chains: it refuses this one before anything is computed for it.
  if (!limits.chainIds.includes(request.chainId)) return { ok: 'unresolved', chainId: request.chainId, inputs: [] }
  const unresolved = unresolvedInputs(request, resolved)
  if (unresolved.length > 0) return { ok: 'unresolved', chainId: request.chainId, inputs: unresolved }

  const operands = request.inputs.map((input) =>
    input.form === 'geometry' ? operandOf(input) : resolvedOperand(input, resolved, limits),
  )
  const outcome = runOperation(row, operands, request.radiusMeters, engine)
  const { operation, inputRefs } = outcome
  const answer =
    outcome.kind === 'numeric' && row.result.kind === 'numeric'
      ? {
          kind: outcome.kind,
          result: fromScaledInteger(outcome.integer, row.result.scale),
          data: encodeNumeric(outcome.integer, row.result.onchainUnits, inputRefs, timestampSeconds, operation),
        }
      : outcome.kind === 'boolean'
        ? {
            kind: outcome.kind,
            result: outcome.value,
            data: encodeBoolean(outcome.value, inputRefs, timestampSeconds, operation),
          }
        : undefined
  if (answer === undefined) throw new RangeError(`${row.name} gave a result of another kind`)
  return {
    ok: true,
    ...answer,
    operation,
    inputRefs,
    chainId: request.chainId,
    schema: request.schema as Hex | undefined,
    recipient: request.recipient as Hex,
  }
}

function unresolvedInputs(request: ComputeRequest, resolved: readonly ResolvedInput[]): UnresolvedInput[] {
  return request.inputs
    .filter((input) => input.form !== 'geometry' && !resolved.some(({ field }) => field === input.path[0]))
    .map((input) => ({ field: String(input.path[0]), input }))
}

function resolvedOperand(input: Input, resolved: readonly ResolvedInput[], limits: Limits): Operand {
  const found = resolved.find(({ field }) => field === input.path[0])!
  const path = input.form === 'proof' ? [...input.path, 'verifiedProof', 'proof', 'claim', 'location'] : input.path
  const geometry = parseLocation(found.geometry, path, limits)
  checkGeometry(geometry, path, limits.maxCollectionDepth)
  return { geometry, path, ref: found.ref }
}

/** The text of an attestation is as foreign as a body, but not the body: what is wrong with it is an invalid input. */
function parseLocation(text: string, path: Input['path'], limits: Limits) {
  try {
    return parseJsonObject(Buffer.from(text), limits.maxJsonDepth)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    throw problemAt('invalid-input', path, `its location is not GeoJSON: ${error.data.detail}`, {
      code: 'uid-not-geojson',
    })
  }
}
