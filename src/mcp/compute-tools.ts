import type { Client } from '../client/client.ts'
import type { ComputeOptions } from '../client/compute.ts'
import { OPERATIONS } from '../compute/operations.ts'
import { noteText } from '../compute/response-text.ts'
import type { BooleanComputeResponse, NumericComputeResponse } from '../types/generated.ts'
import type { OperationName } from '../wire/values.ts'
import { type Arguments, type JsonSchema, signedText, standaloneSchema, type Tool, valueText } from './tool.ts'

/** What each operation computes, for a model that has to choose one. */
export const MEANINGS: Readonly<Record<OperationName, string>> = {
  distance: 'Geodesic distance in metres between the nearest points of two geometries on WGS 84; 0 if they intersect.',
  area: 'Geodesic area in square metres of a Polygon or MultiPolygon on WGS 84.',
  length: 'Geodesic length in metres of a LineString or MultiLineString on WGS 84.',
  contains:
    'Whether no part of the containee is outside the container and their interiors intersect (OGC contains). A geometry that is only on the boundary is not contained.',
  within: 'Whether the distance between two geometries is at most a radius in metres.',
  intersects: 'Whether two geometries share at least one point, boundaries included.',
}
export const POSITIONS = 'Geometries are GeoJSON with positions [longitude, latitude] in degrees.'
const REFERENCES = 'An input may also be {"uid": "0x…"}, the UID of a location attestation on the chain.'

type ComputeResponse = NumericComputeResponse | BooleanComputeResponse

const CALLS: Readonly<
  Record<
    OperationName,
    (compute: Client['compute'], given: Arguments, options: ComputeOptions) => Promise<ComputeResponse>
  >
> = {
  distance: (compute, { from, to }, options) => compute.distance(from, to, options),
  area: (compute, { geometry }, options) => compute.area(geometry, options),
  length: (compute, { geometry }, options) => compute.length(geometry, options),
  contains: (compute, { container, containee }, options) => compute.contains(container, containee, options),
  within: (compute, { geometry, target, radius }, options) => compute.within(geometry, target, radius, options),
  intersects: (compute, { geometry1, geometry2 }, options) => compute.intersects(geometry1, geometry2, options),
}

/** Creates one tool for each operation; the service signs the results. @param chainId default for calls without one */
export function createComputeTools(client: Client, chainId: number | undefined): Tool[] {
  return Object.values(OPERATIONS).map(({ name, result }) => ({
    name: `compute_${name}`,
    title: `Compute: ${name}`,
    description: `${MEANINGS[name]} ${POSITIONS} ${REFERENCES} The result is signed as an attestation; nothing is written to a chain.`,
    inputSchema: withDefaultChain(standaloneSchema(requestSchemaReference(name)), chainId),
    outputSchema: standaloneSchema(
      `compute-response.schema.json#/$defs/${result.kind === 'numeric' ? 'Numeric' : 'Boolean'}ComputeResponse`,
    ),
    async call(given, signal) {
      const { schema, recipient } = given
      const chain: number | undefined = given['chainId'] ?? chainId
      const response = await CALLS[name](client.compute, given, { chainId: chain, schema, recipient, signal })
      return { text: `${resultText(response)}\n${signatureText(response, chain!)}`, structured: response }
    },
  }))
}

/** Returns the reference of an operation's request schema. */
export function requestSchemaReference(name: OperationName): string {
  return `compute-request.schema.json#/$defs/${name[0]!.toUpperCase()}${name.slice(1)}Request`
}

function withDefaultChain(schema: JsonSchema, chainId: number | undefined): JsonSchema {
  if (chainId === undefined) return schema
  const properties = schema['properties'] as Readonly<Record<string, JsonSchema>>
  const required = (schema['required'] as string[]).filter((name) => name !== 'chainId')
  return { ...schema, required, properties: { ...properties, chainId: { ...properties['chainId'], default: chainId } } }
}

function resultText(response: ComputeResponse): string {
  const notes = (response.notes ?? []).map((note) => `\nNote: ${noteText(note)}`).join('')
  return `${response.operation}: ${valueText(response.result, 'units' in response ? response.units : undefined)}${notes}`
}

function signatureText({ attestation, delegatedAttestation, inputRefs }: ComputeResponse, chainId: number): string {
  return `${signedText(attestation, delegatedAttestation, chainId)}\nInputs: ${inputRefs.join(', ')}`
}
