import { CM_PER_METER, fromScaledInteger, toScaledInteger } from '../base/units.ts'
import type { Client } from '../client/client.ts'
import { callOperation } from '../client/compute.ts'
import { classifyInput, splitSalt } from '../client/forms.ts'
import { createGeometry, createMatrix, createRecompute } from '../client/recompute.ts'
import type { ComputeGeometry } from '../client/recompute-with.ts'
import type { Recompute } from '../client/verify/verdict.ts'
import { OPERATIONS, type OperationRow } from '../compute/operations.ts'
import { noteText } from '../compute/response-text.ts'
import { checkShape } from '../geometry/check-shape.ts'
import type { ComputeResponse, Geometry, MatrixResponse } from '../types/generated.ts'
import type { GeometryOperation, OperationName } from '../wire/values.ts'
import {
  type Arguments,
  type JsonSchema,
  outlineSchema,
  signedText,
  standaloneSchema,
  type Tool,
  valueText,
} from './tool.ts'

/** Operations with a tool of their own. The others are predicates of `compute_relate`. */
type ToolOperation = 'distance' | 'area' | 'length' | 'contains' | 'within' | 'intersects'

/** What each operation computes, for a model that has to choose one. */
export const MEANINGS: Readonly<Record<ToolOperation, string>> = {
  distance: 'Geodesic distance in metres between the nearest points of two geometries on WGS 84; 0 if they intersect.',
  area: 'Geodesic area in square metres of a Polygon or MultiPolygon on WGS 84.',
  length: 'Geodesic length in metres of a LineString or MultiLineString on WGS 84.',
  contains: 'Whether no part of the containee is outside the container and their interiors meet (OGC contains).',
  within: 'Whether the distance between two geometries is at most a radius in metres.',
  intersects: 'Whether two geometries share at least one point, boundaries included.',
}

/** Creates one tool for each operation; the service signs the results. @param chainId default for calls without one */
export function createComputeTools(client: Client, chainId: number | undefined): Tool[] {
  const tools = TOOL_OPERATIONS.map(
    (name): Tool => ({
      name: `compute_${name}`,
      title: `Compute: ${name}`,
      description: `${MEANINGS[name]} Signed; nothing is written to a chain.`,
      inputSchema: requestSchema(name, chainId),
      outputSchema: responseSchema(OPERATIONS[name].result.kind === 'numeric' ? 'Numeric' : 'Boolean'),
      call: (given, signal) => callSigned(client, chainId, name, given, signal),
    }),
  )
  const relate: Tool = {
    name: 'compute_relate',
    title: 'Compute: relate',
    description: `${RELATE_MEANING} A matrix is not signed, the others are.`,
    inputSchema: withRelateMembers(requestSchema('relate', chainId)),
    outputSchema: withMatrix(responseSchema('Boolean')),
    call: (given, signal) => callSigned(client, chainId, relateOperation(given), given, signal),
  }
  const geometry: Tool = {
    ...GEOMETRY_TOOL,
    description: `${GEOMETRY_MEANING} Not signed.`,
    inputSchema: geometryRequest('input.schema.json', chainId),
    outputSchema: GEOMETRY_OUTPUT,
    async call(given, signal) {
      const chain: number | undefined = given['chainId'] ?? chainId
      const name = geometryOperation(given)
      const response = await callOperation(client.compute, name, given, { chainId: chain, signal })
      return { text: geometryText(name, response), structured: response }
    },
  }
  return [...tools, relate, geometry]
}

/** Operations of `compute_geometry`, with what each needs and gives. */
const GEOMETRY_OPERATIONS = [
  'direct',
  'waypoints',
  'nearest',
  'buffer',
  'repair',
] as const satisfies readonly GeometryOperation[]
const GEOMETRY_TOOL = { name: 'compute_geometry', title: 'Compute: a geometry' }
const GEOMETRY_MEANING =
  'A geometry on WGS 84. direct: where the geodesic from a Point ends (from, azimuthDegrees, distanceMeters). waypoints: the geodesic between two Points, with a place every so many metres (from, to, everyMeters). nearest: the two places between which distance measures (from, to). buffer: the polygon within a radius of a Point (geometry, radius; toleranceMeters). repair: a valid geometry from an invalid one (geometry).'
const GEOMETRY_OUTPUT: JsonSchema = {
  type: 'object',
  properties: {
    geometry: { type: 'object' },
    ref: { type: 'string' },
    azimuthDegrees: { type: 'number' },
    lengthMeters: { type: 'number' },
    from: { type: 'object' },
    to: { type: 'object' },
    distanceMeters: { type: 'number' },
    errorMeters: { type: 'number' },
    changes: { type: 'array' },
    areaMovedSquareMeters: { type: 'number' },
  },
}

/** @param input the schema of inputs @param chainId undefined: the caller must send one; null: there is no chain */
function geometryRequest(input: string, chainId: number | undefined | null): JsonSchema {
  const number = { type: 'number' }
  const chain = { type: 'integer', ...(typeof chainId === 'number' ? { default: chainId } : {}) }
  return {
    type: 'object',
    required: ['operation', ...(chainId === undefined ? ['chainId'] : [])],
    properties: {
      operation: { type: 'string', enum: GEOMETRY_OPERATIONS },
      ...(chainId === null ? {} : { chainId: chain }),
      from: { ...standaloneSchema(input), description: 'As in compute_distance.' },
      to: { type: 'object' },
      azimuthDegrees: { ...number, description: 'Clockwise from north.' },
      distanceMeters: number,
      everyMeters: number,
      geometry: { type: 'object' },
      radius: number,
      toleranceMeters: number,
    },
  }
}

/** Returns the operation that a call of `compute_geometry` names. @throws {TypeError} on an unknown one */
function geometryOperation({ operation }: Arguments): (typeof GEOMETRY_OPERATIONS)[number] {
  const name = GEOMETRY_OPERATIONS.find((known) => known === operation)
  if (name === undefined) throw new TypeError(`operation must be one of ${GEOMETRY_OPERATIONS.join(', ')}`)
  return name
}

/** Describes an answer without its geometry, which is in the structured content and may be large. */
function geometryText(name: string, answer: object): string {
  const { geometry, from, to, ...facts } = answer as {
    readonly geometry?: Geometry
    readonly from?: { readonly geometry: Geometry }
    readonly to?: { readonly geometry: Geometry }
  }
  const lines = Object.entries(facts)
    .filter(([, value]) => typeof value === 'number' || typeof value === 'string')
    .map(([member, value]) => `${member}: ${value}`)
  const describe = (shape?: Geometry) => (shape?.type === 'Point' ? shape.coordinates.join(', ') : shape?.type)
  const place = describe(geometry) ?? `${describe(from?.geometry)} and ${describe(to?.geometry)}`
  return [`${name}: ${place}`, ...lines, 'Not signed.'].join('\n')
}

const TOOL_OPERATIONS = Object.keys(MEANINGS) as ToolOperation[]

const RELATE_MEANING =
  'How two geometries relate (DE-9IM): a predicate, whether the matrix matches a pattern, or the matrix itself.'
const PREDICATES = ['equals', 'disjoint', 'touches', 'crosses', 'overlaps', 'covers', 'coveredBy'] as const

function withRelateMembers(schema: JsonSchema): JsonSchema {
  const properties = schema['properties'] as Readonly<Record<string, JsonSchema>>
  const pattern = { type: 'string', description: 'Nine of T, F, *, 0, 1 and 2.' }
  return { ...schema, properties: { ...properties, predicate: { type: 'string', enum: PREDICATES }, pattern } }
}

/** Outlines a signed response. No tool submits a result. */
function responseSchema(kind: 'Numeric' | 'Boolean'): JsonSchema {
  const schema = outlineSchema(`compute-response.schema.json#/$defs/${kind}ComputeResponse`)
  const { submission, ...properties } = schema['properties'] as Readonly<Record<string, JsonSchema>>
  return { ...schema, properties }
}

function withMatrix(schema: JsonSchema): JsonSchema {
  return { ...schema, properties: { matrix: { type: 'string' }, ...(schema['properties'] as object) } }
}

/** Returns the operation that a call of `compute_relate` names. @throws {TypeError} when it names two, or an unknown one */
function relateOperation({ predicate, pattern }: Arguments): 'relate' | (typeof PREDICATES)[number] {
  if (predicate === undefined) return 'relate'
  if (pattern !== undefined) throw new TypeError('send a predicate or a pattern, not both')
  const name = PREDICATES.find((known) => known === predicate)
  if (name === undefined) throw new TypeError(`predicate must be one of ${PREDICATES.join(', ')}`)
  return name
}

async function callSigned(
  client: Client,
  chainId: number | undefined,
  name: OperationName,
  given: Arguments,
  signal: AbortSignal,
) {
  const { schema, recipient } = given
  const chain: number | undefined = given['chainId'] ?? chainId
  const response = await callOperation(client.compute, name, given, { chainId: chain, schema, recipient, signal })
  if ('ref' in response || 'from' in response) throw new RangeError(`${name} is an operation of compute_geometry`)
  if ('matrix' in response) return { text: matrixText(response), structured: response }
  return { text: `${resultText(response)}\n${signatureText(response, chain!)}`, structured: response }
}

function matrixText({ matrix, ...response }: MatrixResponse): string {
  return `relate: ${matrix}\nA matrix is not signed.\n${inputsText(response)}`
}

/** Names the salts too: the service does not keep them, and a model may read only the text. */
function inputsText({ inputRefs, inputSalts }: Pick<ComputeResponse, 'inputRefs' | 'inputSalts'>): string {
  const inputs = `Inputs: ${inputRefs.join(', ')}`
  return inputSalts === undefined ? inputs : `${inputs}\nSalts: ${inputSalts.map((salt) => salt ?? 'none').join(', ')}`
}

/** Returns the reference of an operation's request schema. */
export function requestSchemaReference(name: OperationName): string {
  return `compute-request.schema.json#/$defs/${OPERATIONS[name].requestTitle}`
}

function requestSchema(name: OperationName, chainId: number | undefined): JsonSchema {
  // The description mentions older names of members, which a model does not need.
  const { description, ...all } = standaloneSchema(requestSchemaReference(name))
  // submitOnchain is left out: a model must not spend the operator's money.
  const { options, ...properties } = all['properties'] as Readonly<Record<string, JsonSchema>>
  const { ComputeOptions, ...$defs } = all['$defs'] as Readonly<Record<string, JsonSchema>>
  const schema: JsonSchema = { ...all, properties, $defs }
  if (chainId === undefined) return schema
  const required = (schema['required'] as string[]).filter((member) => member !== 'chainId')
  return { ...schema, required, properties: { ...properties, chainId: { ...properties['chainId'], default: chainId } } }
}

function resultText(response: ComputeResponse): string {
  const notes = (response.notes ?? []).map((note) => `\nNote: ${noteText(note)}`).join('')
  return `${response.operation}: ${valueText(response.result, 'units' in response ? response.units : undefined)}${notes}`
}

function signatureText({ attestation, delegatedAttestation, ...response }: ComputeResponse, chainId: number): string {
  return `${signedText(attestation, delegatedAttestation, chainId)}\n${inputsText(response)}`
}

/** Half of the Earth's circumference. Every point is within a larger radius (decision 8). */
const MAX_RADIUS_METERS = 20_037_508

/** Creates one tool for each operation. Results are computed in this process, by the service's code, and are not signed. */
export function createLocalComputeTools(): Tool[] {
  let recompute: Recompute | undefined
  let computeGeometry: ComputeGeometry | undefined
  const tools = TOOL_OPERATIONS.map((name) => [OPERATIONS[name], MEANINGS[name]] as const).map(
    ([row, meaning]): Tool => ({
      name: `compute_${row.name}`,
      title: `Compute: ${row.name}`,
      description: `${meaning} Computed on this machine, without a service; the result is not signed.`,
      inputSchema: unsignedRequest(row),
      async call(given) {
        recompute ??= createRecompute()
        const operation = signedOperation(row, given)
        const outcome = recompute(
          operation,
          row.inputs.map((name) => readGeometry(given, name)),
        )
        if (!outcome.ok) throw new TypeError(outcome.reason)
        if (row.result.kind !== 'numeric') return toToolAnswer(operation, outcome.result as boolean)
        return toToolAnswer(operation, fromScaledInteger(outcome.result as bigint, row.result.scale), row.result.units)
      },
    }),
  )
  const relate: Tool = {
    name: 'compute_relate',
    title: 'Compute: relate',
    description: `${RELATE_MEANING} Computed on this machine, without a service; the result is not signed.`,
    inputSchema: withRelateMembers(unsignedRequest(OPERATIONS.relate)),
    async call(given) {
      const name = relateOperation(given)
      const inputs = OPERATIONS.relate.inputs.map((input) => readGeometry(given, input, true))
      const pattern: string | undefined = given['pattern']
      if (name === 'relate' && pattern === undefined) {
        const outcome = createMatrix()(inputs)
        if (!outcome.ok) throw new TypeError(outcome.reason)
        const { matrix } = outcome
        const text = `relate: ${matrix}\nComputed on this machine, not signed.`
        return { text, structured: { operation: name, matrix, signed: false } }
      }
      recompute ??= createRecompute()
      const operation = pattern === undefined ? name : `relate:${pattern}`
      const outcome = recompute(operation, inputs)
      if (!outcome.ok) throw new TypeError(outcome.reason)
      return toToolAnswer(operation, outcome.result as boolean)
    },
  }
  const geometry: Tool = {
    ...GEOMETRY_TOOL,
    description: `${GEOMETRY_MEANING} Computed on this machine, without a service.`,
    inputSchema: geometryRequest('geometry.schema.json', null),
    outputSchema: GEOMETRY_OUTPUT,
    async call(given) {
      const name = geometryOperation(given)
      const inputs = OPERATIONS[name].inputs.map((input) => readGeometry(given, input))
      computeGeometry ??= createGeometry()
      const outcome = computeGeometry(name, inputs, { ...given, radiusMeters: given['radius'] })
      if (!outcome.ok) throw new TypeError(outcome.reason)
      return { text: geometryText(name, outcome.members), structured: outcome.members }
    },
  }
  return [...tools, relate, geometry]
}

/** Returns the operation as the service would sign it. @throws {TypeError} on a member out of range */
function signedOperation({ name, takesEdges }: OperationRow, { radius, edges }: Arguments): string {
  if (name === 'within') return `within:${radiusCm(radius)}`
  if (!takesEdges || edges === undefined) return name
  if (edges !== 'geodesic') throw new TypeError('edges must be geodesic, or absent')
  return `${name}:geodesic`
}

function toToolAnswer(operation: string, result: number | boolean, units?: string) {
  const text = `${operation}: ${valueText(result, units)}\nComputed on this machine, not signed.`
  return { text, structured: { operation, result, ...(units === undefined ? {} : { units }), signed: false } }
}

/** Builds the input schema of an operation: its inputs, which must be geometries here, and its radius or edges. */
function unsignedRequest({ name, inputs, takesEdges }: OperationRow): JsonSchema {
  const { properties } = standaloneSchema(requestSchemaReference(name)) as {
    properties: Readonly<Record<string, JsonSchema>>
  }
  const geometry = standaloneSchema('geometry.schema.json')
  const radius = properties['radius']
  return {
    type: 'object',
    required: [...inputs, ...(radius === undefined ? [] : ['radius'])],
    properties: {
      ...Object.fromEntries(inputs.map((input) => [input, geometry])),
      ...(radius === undefined ? {} : { radius }),
      ...(takesEdges ? { edges: properties['edges'] } : {}),
    },
  }
}

function readGeometry(given: Arguments, name: string, acceptsEmpty = false): Geometry {
  const input = given[name]
  const classified = classifyInput(input)
  if (splitSalt(input).salt !== undefined)
    throw new TypeError(`${name} has a salt, and an answer without a service has no references that it would hide`)
  if (classified.form !== 'geometry')
    throw new TypeError(`${name} has to be a geometry, because no service is used here`)
  const shaped = checkShape(classified.geometry, acceptsEmpty)
  if (!shaped.ok) throw new TypeError(`${name} ${shaped.reason}`)
  return shaped.geometry
}

function radiusCm(radius: unknown): bigint {
  const isInRange = typeof radius === 'number' && radius > 0 && radius <= MAX_RADIUS_METERS
  const centimeters = isInRange ? toScaledInteger(radius, CM_PER_METER) : 0n
  if (centimeters > 0n) return centimeters
  throw new TypeError(`radius must be a number of metres, from 0.01 to ${MAX_RADIUS_METERS}`)
}
