import { booleanData, numericData, type ResultData } from '../src/attest/result-data.ts'
import type { Operand } from '../src/compute/operands.ts'
import { OPERATIONS, type OperationRow } from '../src/compute/operations.ts'
import { resultMembers } from '../src/compute/result-text.ts'
import { type Engine, type Outcome, runOperation } from '../src/compute/run.ts'
import { bytesToHex } from '../src/crypto/hex.ts'
import { readAttestedLocation } from '../src/geometry/attested-location.ts'
import { readLocationText } from '../src/geometry/location-text.ts'
import { notationOf } from '../src/geometry/notation.ts'
import type {
  ComputeResult,
  ComputeTask,
  ComputeWorkerData,
  Hex,
  Input,
  OperationName,
  ResolvedInput,
  UnresolvedInput,
} from '../src/messages.ts'
import { ProblemError, problemAt } from '../src/problem.ts'
import { fromScaledInteger } from '../src/units.ts'
import { type ComputeRequest, readComputeRequest } from '../src/validation/compute-request.ts'
import { checkGeometry, type GeometryCheck } from '../src/validation/input.ts'
import { type JsonObject, parseJsonObject } from '../src/validation/json-body.ts'
import { type ReadRequest, readRequest } from './read-request.ts'
import { SkeletonMemo } from './skeleton-memo.ts'

type Limits = ComputeWorkerData['limits']

/** How a request is read. */
export interface Reading {
  /** See `readRequest`. */
  readonly canScan?: boolean
  /** What was read of requests before this one. */
  readonly memos?: RequestMemos
}

/** By operation, for one thread. */
export class RequestMemos {
  readonly #memos = new Map<OperationName, SkeletonMemo<ComputeRequest>>()

  of(operation: OperationName): SkeletonMemo<ComputeRequest> {
    const known = this.#memos.get(operation)
    if (known !== undefined) return known
    const memo = new SkeletonMemo<ComputeRequest>()
    this.#memos.set(operation, memo)
    return memo
  }
}

/**
 * One request from bytes to unsigned result: read, validate, compute, encode.
 *
 * @returns a problem as data instead of throwing it: an Error would lose its class on the way to main
 * @throws whatever is a bug of ours
 */
export function runComputeTask(
  task: ComputeTask,
  engine: Engine,
  limits: Limits,
  reading: Reading = {},
): ComputeResult {
  try {
    return compute(task, engine, limits, reading)
  } catch (error) {
    if (error instanceof ProblemError) return { ok: false, problem: error.data }
    throw error
  }
}

/** From a checked request to its unsigned result; or to what main has to resolve first. */
function compute(task: ComputeTask, engine: Engine, limits: Limits, reading: Reading): ComputeResult {
  const row = OPERATIONS[task.operation]
  const memo = reading.memos?.of(task.operation)
  const readBody = (body: JsonObject, check: GeometryCheck): ComputeRequest => {
    const known = memo?.find(body)
    if (known !== undefined) return known
    const request = readComputeRequest(row, body, limits.maxCollectionDepth, check)
    memo?.keep(body, request)
    return request
  }
  const parse = memo && ((skeleton: string) => memo.parse(skeleton))
  const read = readRequest(task.body, readBody, engine, limits, reading.canScan ?? true, parse)
  const outcome = runRequest(row, read, task.resolved, engine, limits)
  read.release()
  return 'ok' in outcome ? outcome : resultOf(row, read.request, outcome, task.timestampSeconds)
}

/** What main needs of an outcome to have it attested. */
export function resultOf(
  row: OperationRow,
  { chainId, schema, recipient }: ComputeRequest,
  outcome: Outcome,
  timestampSeconds: number,
): Extract<ComputeResult, { ok: true }> {
  return {
    ok: true,
    kind: outcome.kind,
    members: membersOf(row, outcome, timestampSeconds),
    data: `0x${bytesToHex(dataOf(row, outcome, timestampSeconds).bytes)}`,
    chainId,
    schema: schema as Hex | undefined,
    recipient: recipient as Hex,
  }
}

/** The same without what an attestation needs. */
export function runRequest(
  row: OperationRow,
  read: ReadRequest,
  resolved: readonly ResolvedInput[],
  engine: Engine,
  limits: Limits,
): Outcome | Extract<ComputeResult, { ok: 'unresolved' }> {
  const { request } = read
  // Main knows the chains: it refuses this one before anything is computed for it.
  if (!limits.chainIds.includes(request.chainId)) return { ok: 'unresolved', chainId: request.chainId, inputs: [] }
  if (!request.inputs.every(isGeometry)) {
    const unresolved = unresolvedInputs(request, resolved)
    if (unresolved.length > 0) return { ok: 'unresolved', chainId: request.chainId, inputs: unresolved }
  }
  const operands = request.inputs.map((input, index) =>
    input.form === 'geometry' ? read.operandOf(input, index) : resolvedOperand(input, resolved, limits),
  )
  return runOperation(row, operands, request.radiusMeters, engine)
}

/** What its answer says of a result, JSON text. */
export function membersOf(row: OperationRow, outcome: Outcome, timestampSeconds: number): string {
  const { operation, inputRefs, notes } = outcome
  if (outcome.kind === 'boolean') {
    return resultMembers({ result: outcome.value, units: undefined, operation, timestampSeconds, inputRefs, notes })
  }
  const { units, scale } = scaleOf(row)
  return resultMembers({
    result: fromScaledInteger(outcome.integer, scale),
    units,
    operation,
    timestampSeconds,
    inputRefs,
    notes,
  })
}

/** The data to be attested, which holds until the next one is made. */
export function dataOf(row: OperationRow, outcome: Outcome, timestampSeconds: number): ResultData {
  const { operation, inputRefs } = outcome
  return outcome.kind === 'boolean'
    ? booleanData(outcome.value, inputRefs, timestampSeconds, operation)
    : numericData(outcome.integer, scaleOf(row).onchainUnits, inputRefs, timestampSeconds, operation)
}

function scaleOf({ name, result }: OperationRow) {
  if (result.kind !== 'numeric') throw new RangeError(`${name} gave a result of another kind`)
  return result
}

function isGeometry({ form }: Input): boolean {
  return form === 'geometry'
}

function unresolvedInputs(request: ComputeRequest, resolved: readonly ResolvedInput[]): UnresolvedInput[] {
  return request.inputs
    .filter((input) => input.form !== 'geometry' && !resolved.some(({ field }) => field === input.path[0]))
    .map((input) => ({ field: String(input.path[0]), input }))
}

function resolvedOperand(input: Input, resolved: readonly ResolvedInput[], limits: Limits): Operand {
  const found = resolved.find(({ field }) => field === input.path[0])!
  const path = input.form === 'proof' ? [...input.path, 'verifiedProof', 'proof', 'claim', 'location'] : input.path
  const geometry = parseLocation(found, input, path, limits)
  checkGeometry(geometry, path, limits.maxCollectionDepth)
  return { geometry, path, ref: found.ref }
}

function parseLocation({ geometry, locationType }: ResolvedInput, input: Input, path: Input['path'], limits: Limits) {
  const parse = (text: string) => parseJsonObject(Buffer.from(text), limits.maxJsonDepth)
  // The text of a proof stands in the body, and is named where it stands.
  if (input.form === 'proof')
    return locationType === undefined ? parse(geometry) : readLocationText(locationType, geometry, path, limits)
  try {
    return readAttestedLocation(locationType ?? 'geojson', geometry, [], limits, parse)
  } catch (error) {
    // The text of an attestation is as foreign as a body, but not the body: what is wrong with it is an invalid input.
    if (!(error instanceof ProblemError)) throw error
    const shown = notationOf(locationType ?? '') ?? 'GeoJSON'
    throw problemAt('invalid-input', path, `its location is no ${shown}: ${error.data.detail}`, {
      code: 'uid-unreadable',
    })
  }
}
