import { problemAt } from '../base/problem.ts'
import type { Input } from '../wire/compute-messages.ts'
import { checkGeometry, type GeometryCheck, readInput } from './input.ts'
import { describeValue, isJsonObject, type JsonObject } from './json-body.ts'
import { rejectMisplaced } from './misplaced-members.ts'
import { getValidator } from './schemas.ts'
import { check } from './sentences.ts'

/** The part of an operation's description that this file needs. Every row of `compute/operations.ts` has it. */
export interface RequestShape {
  readonly name: string
  readonly inputs: readonly string[]
  readonly inputAliases: readonly (readonly string[])[]
  readonly acceptsEmpty: boolean
  readonly takesEdges: boolean
  readonly isGeodesic: boolean
  readonly requestTitle: string
  readonly result: { readonly kind: 'numeric' | 'boolean' | 'geometry' }
}

export interface ComputeRequest {
  readonly chainId: number
  /** Schema UID in lower case. undefined: the default schema of the operation's kind. */
  readonly schema: string | undefined
  /** Address in lower case. The zero address if the request has none. */
  readonly recipient: string
  /** Only set for `within` and `buffer`. */
  readonly radiusMeters: number | undefined
  /** Only set for `relate`: nine characters. */
  readonly pattern: string | undefined
  /** Only set for `contains` and `intersects`. */
  readonly edges: 'geodesic' | undefined
  /** Only set for `direct`: degrees clockwise from north. */
  readonly azimuthDegrees: number | undefined
  /** Only set for `direct`. */
  readonly distanceMeters: number | undefined
  /** Only set for `waypoints`. */
  readonly everyMeters: number | undefined
  /** Only set for `buffer`. */
  readonly toleranceMeters: number | undefined
  /** True if the service is to submit the result to its chain itself. */
  readonly submitOnchain: boolean
  /** In the order of the operation's `inputs`. */
  readonly inputs: readonly Input[]
}

const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'

/**
 * Validates the body of one compute request.
 *
 * @param body parsed JSON
 * @param geometryCheck replaces `checkGeometry` for a body whose coordinates were read separately
 * @throws {ProblemError} `invalid-input` or `not-implemented`, for the first error
 */
export function readComputeRequest(
  shape: RequestShape,
  body: JsonObject,
  maxCollectionDepth: number,
  geometryCheck: GeometryCheck = checkGeometry,
): ComputeRequest {
  const fields = inputFields(shape, body)
  const canonical =
    fields === shape.inputs
      ? body
      : { ...body, ...Object.fromEntries(shape.inputs.map((name, index) => [name, body[fields[index]!]])) }
  check(getValidator(`compute-request.schema.json#/$defs/${shape.requestTitle}`), canonical, [])
  // Other unknown members are ignored, but an answer about straight edges must not pass for one about geodesics.
  if (body['edges'] !== undefined && !shape.takesEdges && !shape.isGeodesic) {
    throw problemAt('invalid-input', ['edges'], `${shape.name} takes no other edges than straight ones`, {
      code: 'edges-not-supported',
      hint: 'contains and intersects take edges; measures follow geodesics anyway',
    })
  }
  rejectMisplaced(body)
  const submitOnchain = readSubmitOnchain(body)
  if (submitOnchain) requireSignable(shape, body)
  const checkInput: GeometryCheck = (value, path, depth) => geometryCheck(value, path, depth, shape.acceptsEmpty)
  const inputs = fields.map((field) => readInput(body[field], [field], maxCollectionDepth, checkInput))
  if (submitOnchain) requireKnownSalts(inputs)
  return { ...commonMembers(body), submitOnchain, inputs }
}

const SUBMIT_ONCHAIN = ['options', 'submitOnchain']

/** Reads `options.submitOnchain` of any operation; the schemas of operations that are never signed do not list it. */
function readSubmitOnchain({ options }: JsonObject): boolean {
  if (!isJsonObject(options) || options['submitOnchain'] === undefined) return false
  const { submitOnchain } = options
  if (typeof submitOnchain === 'boolean') return submitOnchain
  throw problemAt('invalid-input', SUBMIT_ONCHAIN, `must be a boolean, found ${describeValue(submitOnchain)}`, {
    code: 'wrong-type',
  })
}

/** @throws {ProblemError} if the result would not be signed, and so cannot be attested */
function requireSignable({ name, result }: RequestShape, { pattern }: JsonObject): void {
  if (result.kind !== 'geometry' && (name !== 'relate' || pattern !== undefined)) return
  const [found, hint] =
    name === 'relate'
      ? ['a matrix is not signed, so it cannot be submitted', 'send a pattern: whether the matrix matches it is signed']
      : [`the result of ${name} is not signed, so it cannot be submitted`, 'leave submitOnchain out']
  throw problemAt('invalid-input', SUBMIT_ONCHAIN, found, { code: 'not-signed', hint })
}

/**
 * Rejects salts that the service would draw. They would be lost with the response: nobody could then show which input the
 * attestation on the chain is about, and a repeated request would be about another salt.
 */
function requireKnownSalts(inputs: readonly Input[]): void {
  for (const { path, salt } of inputs) {
    if (salt !== 'random') continue
    throw problemAt('invalid-input', [path[0]!, 'salt'], 'cannot be "random" with submitOnchain', {
      code: 'unrepeatable-salt',
      hint: 'draw 32 random bytes yourself and send them in hex, so that you have the salt even if the response is lost',
    })
  }
}

function commonMembers(body: JsonObject): Omit<ComputeRequest, 'inputs' | 'submitOnchain'> {
  return {
    chainId: body['chainId'] as number,
    schema: (body['schema'] as string | undefined)?.toLowerCase(),
    recipient: (body['recipient'] as string | undefined)?.toLowerCase() ?? ZERO_ADDRESS,
    radiusMeters: body['radius'] as number | undefined,
    pattern: body['pattern'] as string | undefined,
    edges: body['edges'] as 'geodesic' | undefined,
    azimuthDegrees: body['azimuthDegrees'] as number | undefined,
    distanceMeters: body['distanceMeters'] as number | undefined,
    everyMeters: body['everyMeters'] as number | undefined,
    toleranceMeters: body['toleranceMeters'] as number | undefined,
  }
}

/**
 * Returns the names of the members that hold the inputs: the canonical names, or one complete set of deprecated names
 * (decision 1).
 *
 * @throws {ProblemError} if two sets are mixed, because guessing could swap the operands of a signed result
 */
function inputFields(shape: RequestShape, body: JsonObject): readonly string[] {
  if (shape.inputAliases.length === 0) return shape.inputs
  const spellings = [shape.inputs, ...shape.inputAliases]
  const known = [...new Set(spellings.flat())]
  const present = known.filter((name) => Object.hasOwn(body, name))
  const match = spellings.find(
    (names) => names.length === present.length && names.every((name) => present.includes(name)),
  )
  if (match !== undefined) return match
  if (
    present.length > shape.inputs.length ||
    !spellings.some((names) => present.every((name) => names.includes(name)))
  ) {
    throw problemAt('invalid-input', [], `mixes spellings of its inputs: ${present.join(', ')}`, {
      code: 'mixed-aliases',
      hint: `send exactly ${shape.inputs.join(' and ')}`,
    })
  }
  return shape.inputs // a member is missing; the schema check reports it
}
