import { booleanData, numericData, type ResultData } from '../attest/data.ts'
import { freeBuffer, isLarge } from '../base/bytes.ts'
import { ProblemError, problemAt } from '../base/problem.ts'
import { fromScaledInteger } from '../base/units.ts'
import { canonicalBytes, canonicalGeometry } from '../crypto/canonical.ts'
import { bytesToHex, putDigits, utf8 } from '../crypto/hex.ts'
import { readAttestedLocation } from '../geometry/attested-location.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { readLocationText } from '../geometry/location-text.ts'
import { findNotation } from '../geometry/notation.ts'
import { type ScannedText, scanText } from '../geometry/scan.ts'
import {
  hashScannedGeometry,
  readScannedGeometry,
  restoreGeometry,
  scannedCanonicalText,
} from '../geometry/scanned-geometry.ts'
import { type ComputeRequest, readComputeRequest } from '../validation/compute-request.ts'
import { checkGeometry, type GeometryCheck, rejectPublic } from '../validation/input.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../validation/json-body.ts'
import type {
  ComputeResult,
  ComputeTask,
  ComputeWorkerData,
  Input,
  ResolvedInput,
  UnresolvedInput,
} from '../wire/compute-messages.ts'
import type { StoredShape } from '../wire/stored-messages.ts'
import type { Hex } from '../wire/values.ts'
import type { NamedTable } from './named-table.ts'
import { OPERATIONS, type OperationRow } from './operations.ts'
import { leadingMembers, type Note, resultMembers } from './response-text.ts'
import { type ComputeContext, isSignable, type Operand, type Outcome, runOperation, type SignedOutcome } from './run.ts'
import type { RequestMemos, SkeletonMemo } from './skeleton-memo.ts'

type Limits = ComputeWorkerData['limits']

/** Options for reading a request. */
interface ReadOptions {
  /** See `readRequest`. */
  readonly canScan?: boolean
  /** Requests that this thread has read before; equal skeletons are then validated once. */
  readonly memos?: RequestMemos
}

/**
 * Turns one request from bytes into an unsigned result: reads, validates, computes and encodes it.
 *
 * @returns problems as data, because an Error would lose its class on the way to the main thread
 * @throws {Error} on a bug in this program
 */
export function runComputeTask(
  task: ComputeTask,
  engine: ComputeContext,
  limits: Limits,
  reading: ReadOptions = {},
): ComputeResult {
  try {
    return compute(task, engine, limits, reading)
  } catch (error) {
    if (error instanceof ProblemError) return { type: 'problem', problem: error.data }
    throw error
  }
}

/**
 * Reads and computes a request. Returns its unsigned result, or the inputs that the main thread has to resolve first.
 */
function compute(task: ComputeTask, engine: ComputeContext, limits: Limits, reading: ReadOptions): ComputeResult {
  const row = OPERATIONS[task.operation]
  const memo = reading.memos?.forOperation(task.operation)
  const readBody = (body: JsonObject, check: GeometryCheck): ComputeRequest => {
    const cached = memo?.find(body)
    if (cached !== undefined) return cached
    const request = readComputeRequest(row, body, limits.maxCollectionDepth, check)
    memo?.remember(body, request)
    return request
  }
  const read = readRequest(task.body, readBody, engine, limits, reading.canScan ?? true, memo)
  const outcome = runRequest(row, read, task, engine, limits)
  read.release()
  if ('type' in outcome) return outcome
  engine.sampler?.offer(row, read.request.inputs, task.body, task.resolved, outcome)
  return encodeResult(row, read.request, outcome, task.timestampSeconds)
}

/** Builds the result from which the main thread requests an attestation, or one that gets none. */
export function encodeResult(
  row: OperationRow,
  {
    chainId,
    schema,
    recipient,
    submitOnchain,
  }: Pick<ComputeRequest, 'chainId' | 'schema' | 'recipient' | 'submitOnchain'>,
  outcome: Outcome,
  timestampSeconds: number,
): Extract<ComputeResult, { type: 'computed' | 'unsigned' }> {
  const members = encodeMembers(row, outcome, timestampSeconds)
  if (!isSignable(outcome)) return { type: 'unsigned', members, chainId }
  return {
    type: 'computed',
    kind: outcome.kind,
    members,
    data: encodeData(row, outcome, timestampSeconds).bytes.slice(),
    chainId,
    schema: schema as Hex | undefined,
    recipient: recipient as Hex,
    ...(submitOnchain ? { submitOnchain } : {}),
  }
}

/** What a request refers to. */
interface Referenced extends Pick<ComputeTask, 'resolved' | 'stored'> {
  /** Only for an item of a batch that can have names. */
  readonly named?: NamedTable | undefined
}

/** Computes a request that was read, without encoding the result. Returns the inputs to resolve, if there are any. */
export function runRequest(
  row: OperationRow,
  read: ReadRequest,
  { resolved, stored = NO_STORED, named }: Referenced,
  engine: ComputeContext,
  limits: Limits,
): Outcome | Extract<ComputeResult, { type: 'unresolved' }> {
  const { request } = read
  // The main thread knows the chains and rejects this one; nothing is computed for it.
  if (!limits.chainIds.includes(request.chainId)) return { type: 'unresolved', chainId: request.chainId, inputs: [] }
  let { inputs } = request
  if (!inputs.every(isGeometry)) {
    inputs = expandNames(row, inputs, named)
    const unresolved = unresolvedInputs(row, inputs, resolved, stored)
    if (unresolved.length > 0) return { type: 'unresolved', chainId: request.chainId, inputs: unresolved }
  }
  const hasRefs = engine.omitsPointRefs !== true || row.name !== 'distance' || !read.hasOnlyPoints
  // A loop: `map` gives another kind of array once it is compiled, and then what was compiled before it has to be compiled again.
  const operands: Operand[] = []
  let isSalted = false
  for (const input of inputs) {
    isSalted ||= input.salt !== undefined
    const index = operands.length
    if (input.form === 'named') operands.push(shapeOperand(input, named!.shape(input.name, input.path)!))
    else if (input.form !== 'geometry')
      operands.push(storedOperand(row, input, stored) ?? resolvedOperand(input, resolved, limits))
    else if (input === request.inputs[index]) operands.push(read.toOperand(input, index, hasRefs, row.closesRings))
    else operands.push({ geometry: input.geometry, path: input.path, ref: undefined })
  }
  const outcome = noteUnchecked(runOperation(row, operands, request, engine), resolved)
  if (!isSalted) return outcome
  const textOf = (input: Input, index: number) =>
    input.form === 'named' ? named!.canonicalText(input.name, input.path) : canonicalInput(input, operands[index]!)
  return { ...outcome, ...saltReferences(inputs, textOf, outcome, engine) }
}

/** Notes each off-chain attestation of which the service could not ask whether it is revoked. */
function noteUnchecked(outcome: Outcome, resolved: readonly ResolvedInput[]): Outcome {
  const notes = resolved.flatMap(({ ref, uncheckedChainId: chainId }): Note[] =>
    chainId === undefined ? [] : [{ code: 'revocation-unchecked', chainId, ref }],
  )
  return notes.length === 0 ? outcome : { ...outcome, notes: [...(outcome.notes ?? []), ...notes] }
}

/** Hashes inputs that have a salt with it. @param textOf returns the bytes of which the reference of an input is the hash */
function saltReferences(
  inputs: readonly Input[],
  textOf: (input: Input, index: number) => Uint8Array,
  outcome: Outcome,
  { keccak }: ComputeContext,
): Pick<Outcome, 'inputRefs' | 'inputSalts'> {
  const inputSalts = inputs.map(({ salt }) => (salt === 'random' ? drawSalt() : (salt ?? null)))
  const inputRefs = inputs.map((input, index) => {
    const salt = inputSalts[index]!
    if (salt === null) return outcome.inputRefs[index]!
    const text = textOf(input, index)
    const salted = new Uint8Array(text.length + 32)
    salted.set(text)
    putDigits(salted, text.length, salt)
    return keccak.hashHex(salted)
  })
  return { inputRefs, inputSalts }
}

function drawSalt(): Hex {
  return `0x${bytesToHex(crypto.getRandomValues(new Uint8Array(32)))}`
}

/** Returns the bytes of which the reference of an input is the hash. */
function canonicalInput(input: Input, operand: Operand): Uint8Array {
  if (input.form === 'proof') return canonicalBytes(input.verifiedProof.proof)
  if (input.form === 'onchain' || input.form === 'attested' || 'flat' in operand)
    throw new RangeError('an input without its text has no salt')
  return utf8(canonicalGeometry(operand.geometry))
}

/** Writes the members of the response that describe a result, as JSON without braces. */
export function encodeMembers(row: OperationRow, outcome: Outcome, timestampSeconds: number): string {
  const { operation, inputRefs, inputSalts, notes } = outcome
  if (outcome.kind === 'geometry')
    return leadingMembers(outcome.members, { operation, timestampSeconds, inputRefs, inputSalts, notes })
  if (outcome.kind !== 'numeric') {
    const result = outcome.kind === 'matrix' ? outcome.matrix : outcome.value
    return resultMembers({ result, units: undefined, operation, timestampSeconds, inputRefs, inputSalts, notes })
  }
  const { units, scale } = requireNumeric(row)
  return resultMembers({
    result: fromScaledInteger(outcome.integer, scale),
    units,
    operation,
    timestampSeconds,
    inputRefs,
    inputSalts,
    notes,
  })
}

/** Encodes the data to attest. The bytes are valid only until the next call. */
export function encodeData(row: OperationRow, outcome: SignedOutcome, timestampSeconds: number): ResultData {
  const { operation, inputRefs } = outcome
  return outcome.kind === 'boolean'
    ? booleanData(outcome.value, inputRefs, timestampSeconds, operation)
    : numericData(outcome.integer, requireNumeric(row).onchainUnits, inputRefs, timestampSeconds, operation)
}

function requireNumeric({ name, result }: OperationRow) {
  if (result.kind !== 'numeric') throw new RangeError(`${name} has no numeric result`)
  return result
}

function isGeometry({ form }: Input): boolean {
  return form === 'geometry'
}

const NO_STORED: readonly StoredShape[] = []

function unresolvedInputs(
  row: OperationRow,
  inputs: readonly Input[],
  resolved: readonly ResolvedInput[],
  stored: readonly StoredShape[],
): UnresolvedInput[] {
  return inputs
    .filter((input) => input.form !== 'geometry' && input.form !== 'named')
    .filter((input) => !resolved.some(({ field }) => field === input.path[0]))
    .filter((input) => storedOperand(row, input, stored) === undefined)
    .map((input) => ({
      field: String(input.path[0]),
      input: input.form === 'stored' && needsText(row, input) ? { ...input, isWhole: true } : input,
    }))
}

/**
 * Replaces names by the inputs that they stand for. A name stays where its geometry is used as it was read for the whole batch.
 *
 * @throws {ProblemError} `invalid-input` for a name that the request cannot use
 */
function expandNames(row: OperationRow, inputs: readonly Input[], named: NamedTable | undefined): readonly Input[] {
  return inputs.map((input) => {
    if (input.form !== 'named') return input
    const { name, path, salt } = input
    if (named === undefined) {
      const detail = `is the name ${JSON.stringify(name)}, and only a batch in one JSON document has names`
      throw problemAt('invalid-input', [...path, 'named'], detail, {
        code: 'name-outside-batch',
        hint: 'send the geometry itself, or store it with PUT /compute/v0/geometries and send {"ref": "0x…"}',
      })
    }
    if (named.shape(name, path) !== undefined && !row.closesRings) return input
    const expanded = named.input(name, path)
    if (salt === undefined) return expanded
    rejectPublic(expanded, [...path.slice(0, -1), 'salt'])
    return { ...expanded, salt }
  })
}

/** Whether a geometry that was read before is needed as it was received: to repair it, or to hash it with a salt. */
function needsText({ closesRings }: OperationRow, { salt }: Input): boolean {
  return closesRings || salt !== undefined
}

/** Returns the operand for a stored geometry. An operation that needs it as it was received gets its text instead. */
function storedOperand(row: OperationRow, input: Input, stored: readonly StoredShape[]): Operand | undefined {
  if (input.form !== 'stored' || needsText(row, input)) return undefined
  const shape = stored.find(({ ref }) => ref === input.ref)
  return shape && shapeOperand(input, shape)
}

function shapeOperand({ path }: Input, shape: StoredShape): Operand {
  return { flat: shape.geometry, path, ref: shape.ref, stored: shape }
}

function resolvedOperand(input: Input, resolved: readonly ResolvedInput[], limits: Limits): Operand {
  const resolution = resolved.find(({ field }) => field === input.path[0])!
  const path = locationPath(input)
  const geometry = parseLocation(resolution, input, path, limits)
  checkGeometry(geometry, path, limits.maxCollectionDepth)
  return { geometry, path, ref: resolution.ref }
}

/** Returns the path of the member that has the location of a resolved input, or names it. */
function locationPath(input: Input): Input['path'] {
  if (input.form === 'proof') return [...input.path, 'verifiedProof', 'proof', 'claim', 'location']
  return input.form === 'attested' ? [...input.attestationPath, 'message', 'data'] : input.path
}

function parseLocation({ geometry, locationType }: ResolvedInput, input: Input, path: Input['path'], limits: Limits) {
  const parse = (text: string) => parseJsonObject(Buffer.from(text), limits.maxJsonDepth)
  // The location of a proof is part of the body, so the problem points at it there.
  if (input.form === 'proof')
    return locationType === undefined ? parse(geometry) : readLocationText(locationType, geometry, path, limits)
  try {
    return readAttestedLocation(locationType ?? 'geojson', geometry, [], limits, parse)
  } catch (error) {
    // The attested text is untrusted too, but it is not in the body. Its problems are reported at the input that names
    // it.
    if (!(error instanceof ProblemError)) throw error
    const notation = findNotation(locationType ?? '') ?? 'GeoJSON'
    throw problemAt('invalid-input', path, `its location is not valid ${notation}: ${error.data.detail}`, {
      code: input.form === 'attested' ? 'attestation-unreadable' : 'uid-unreadable',
    })
  }
}

type GeometryInput = Extract<Input, { form: 'geometry' }>

/** A validated request, with its geometries as operands. */
export interface ReadRequest {
  readonly request: ComputeRequest
  /** True if the scanner read the inputs, and each of them is a point. */
  readonly hasOnlyPoints: boolean
  /**
   * Returns the operand for an input. Call it before the kernel computes anything: the bytes to hash are in the
   * kernel's arena.
   *
   * @param index of `input` among the inputs
   * @param hasRef false leaves out the reference, if all inputs are points
   * @param isWhole true gives the geometry as received, e.g. with altitudes
   */
  toOperand(input: GeometryInput, index: number, hasRef?: boolean, isWhole?: boolean): Operand
  /**
   * Frees memory after everything is computed. Left to the garbage collector, large geometries made it scan the whole
   * heap.
   */
  release(): void
}

/** Turns a body into a request; calls `check` for each geometry in it. */
type Reader = (body: JsonObject, check: GeometryCheck) => ComputeRequest

/**
 * Reads a body with the scanner, or with the parser where the scanner declines. Both give the same result. The parser
 * takes several times longer for many coordinates; it also produces every error text.
 *
 * @param memo parses the skeleton; without it, each is parsed anew
 * @param canScan false uses only the parser, for tests that compare the two
 * @throws {ProblemError} at the first thing that is wrong
 */
export function readRequest(
  bytes: Uint8Array,
  read: Reader,
  engine: ComputeContext,
  limits: Limits,
  canScan: boolean,
  memo?: SkeletonMemo<object>,
): ReadRequest {
  return (canScan ? scanRequest(bytes, read, engine, limits, memo) : undefined) ?? parseRequest(bytes, read, limits)
}

function parseRequest(bytes: Uint8Array, read: Reader, limits: Limits): ReadRequest {
  return {
    request: read(parseJsonObject(bytes, limits.maxJsonDepth), checkGeometry),
    hasOnlyPoints: false,
    toOperand: ({ geometry, path }) => ({ geometry, path, ref: undefined }),
    release: () => {},
  }
}

/** @returns undefined when anything in the body is unusual or wrong */
function scanRequest(
  bytes: Uint8Array,
  read: Reader,
  engine: ComputeContext,
  limits: Limits,
  memo: SkeletonMemo<object> | undefined,
): ReadRequest | undefined {
  engine.kernel.release()
  const text = scanText(engine.kernel, bytes, limits, memo && ((skeleton) => memo.parse(skeleton)))
  if (text === undefined || !isJsonObject(text.skeleton)) return undefined
  const request = readSkeleton(text.skeleton, read)
  if (request === undefined) return undefined
  const flats: (FlatGeometry | undefined)[] = []
  for (const input of request.inputs) {
    if (input.salt !== undefined) return undefined // its hash covers more than the scanner hashes
    if (input.form === 'proof') return undefined // its hashes cover the coordinates, which the skeleton lacks
    const flat = input.form === 'geometry' ? readScannedGeometry(text, input.geometry, limits) : undefined
    if (flat === undefined && input.form === 'geometry') return undefined
    flats.push(flat)
  }
  return new ScannedRequest(request, text, flats, engine)
}

class ScannedRequest implements ReadRequest {
  readonly request: ComputeRequest
  readonly #text: ScannedText
  readonly #flats: readonly (FlatGeometry | undefined)[]
  readonly #engine: ComputeContext
  /** References of the operands that were requested so far, by input index. */
  readonly #refs: Hex[] = []

  constructor(
    request: ComputeRequest,
    text: ScannedText,
    flats: readonly (FlatGeometry | undefined)[],
    engine: ComputeContext,
  ) {
    this.request = request
    this.#text = text
    this.#flats = flats
    this.#engine = engine
  }

  get hasOnlyPoints(): boolean {
    return this.#flats.every((flat) => flat?.type === 'Point')
  }

  toOperand({ geometry, path }: GeometryInput, index: number, hasRef = true, isWhole = false): Operand {
    if (isWhole) return { geometry: restoreGeometry(this.#engine.kernel, this.#text, geometry), path, ref: undefined }
    if (!hasRef) return { flat: this.#flats[index]!, path, ref: undefined }
    const ref = scannedRef(this.#text, geometry, this.#engine)
    this.#refs[index] = ref
    return { flat: this.#flats[index]!, path, ref }
  }

  release(): void {
    this.#refs.forEach((ref, index) => {
      const flat = this.#flats[index]!
      const { vertices } = flat
      if (isLarge(vertices) && !this.#engine.prepared?.holds(ref, flat)) freeBuffer(vertices.buffer)
    })
  }
}

function readSkeleton(skeleton: JsonObject, read: Reader): ComputeRequest | undefined {
  try {
    return read(skeleton, () => {}) // `readScannedGeometry` checks the geometries
  } catch (error) {
    if (error instanceof ProblemError) return undefined
    throw error
  }
}

/** Returns keccak-256 of the canonical text, equal to what `runOperation` computes for a parsed geometry. */
function scannedRef(text: ScannedText, value: unknown, { kernel, keccak }: ComputeContext): Hex {
  const hash = hashScannedGeometry(kernel, text, value)
  if (hash !== undefined) return `0x${hash}`
  return keccak.hashHex(Buffer.from(scannedCanonicalText(kernel, text, value), 'latin1'))
}
