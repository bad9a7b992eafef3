import computeRequest from '../../schemas/compute-request.schema.json' with { type: 'json' }
import computeResponse from '../../schemas/compute-response.schema.json' with { type: 'json' }
import geometry from '../../schemas/geometry.schema.json' with { type: 'json' }
import input from '../../schemas/input.schema.json' with { type: 'json' }
import locationRecord from '../../schemas/location-record.schema.json' with { type: 'json' }
import locationRecordList from '../../schemas/location-record-list.schema.json' with { type: 'json' }
import recordStats from '../../schemas/record-stats.schema.json' with { type: 'json' }
import verifiedProof from '../../schemas/verified-proof.schema.json' with { type: 'json' }
import verifyRequest from '../../schemas/verify-request.schema.json' with { type: 'json' }
import verifyResponse from '../../schemas/verify-response.schema.json' with { type: 'json' }
import type { AttestationData, DelegatedAttestationData } from '../types/generated.ts'

const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 4 })

/** Formats a result: `4238.77` and `meters` → `4,238.77 m`; a boolean → `true`. */
export function valueText(result: number | boolean, units: string | undefined): string {
  if (typeof result === 'boolean') return String(result)
  return `${NUMBER.format(result)} ${units === 'square_meters' ? 'm²' : 'm'}`
}

/** Formats a fraction: 0.5 → `50 %`. */
export function shareText(share: number): string {
  return `${NUMBER.format(100 * share)} %`
}

export function metersText(meters: number): string {
  return `${NUMBER.format(meters)} m`
}

/** Formats Unix seconds as ISO 8601. */
function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** Describes a signature: who signed, for which chain and recipient, with which nonce, until when. */
export function signedText(
  { recipient }: Pick<AttestationData, 'recipient'>,
  { attester, deadline, nonce }: DelegatedAttestationData,
  chainId: number,
): string {
  const recipientText = /^0x0{40}$/.test(recipient) ? 'any' : recipient
  return `Signed by ${attester} for chain ${chainId}, recipient: ${recipientText}; EAS accepts it with nonce ${nonce} until ${timeText(deadline)}.`
}

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The arguments that a model sends: an object with unknown content. */
// biome-ignore lint/suspicious/noExplicitAny: the client and the service check the content
export type Arguments = Readonly<Record<string, any>>

interface ToolResult {
  /** A few lines for people. */
  readonly text: string
  /** The whole response, as in the output schema. */
  readonly structured: object
}

/** A tool that a model can call. All tools are read-only. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  /** @throws the errors of the client, which `describeError` describes to the model */
  call(given: Arguments, signal: AbortSignal): Promise<ToolResult>
}

interface SchemaFile extends JsonSchema {
  readonly $id: string
  readonly title: string
  readonly $defs?: Readonly<Record<string, JsonSchema>>
}

const FILES: readonly SchemaFile[] = [
  computeRequest,
  computeResponse,
  geometry,
  input,
  locationRecord,
  locationRecordList,
  recordStats,
  verifiedProof,
  verifyRequest,
  verifyResponse,
]
/** Keywords to remove: those for other programs, and titles, which a model does not need. */
const REMOVED_KEYWORDS = ['$schema', '$id', '$defs', 'tsType', 'title']

/**
 * Short replacements for schemas that many tools would repeat, because a client gives the list of tools to the model with each
 * conversation. The service checks inputs fully and its errors point to the member.
 */
const REPLACEMENTS: Readonly<Record<string, JsonSchema>> = {
  'geometry.schema.json': {
    type: 'object',
    required: ['type'],
    description: 'GeoJSON geometry, positions [longitude, latitude] in degrees.',
  },
  'input.schema.json': {
    type: 'object',
    description:
      'GeoJSON geometry or Feature, [longitude, latitude] in degrees; {"uid": "0x…"}, an attestation; {"attestation": {…}}, one off chain; {"verifiedProof": {…}}, from verify_proof; {"input": …, "salt": "random"}, hidden.',
  },
  'input.schema.json#/$defs/InputOrEmpty': {
    type: 'object',
    description: 'As in compute_intersects; may be empty.',
  },
  'compute-request.schema.json#/$defs/ChainId': {
    type: 'integer',
    description: 'EIP-155 id of the chain to sign for.',
  },
  'compute-request.schema.json#/$defs/SchemaUid': {
    type: 'string',
    description: "Default: the service's own.",
  },
  'compute-request.schema.json#/$defs/Recipient': {
    type: 'string',
    description: 'Default: the zero address.',
  },
}

/**
 * Returns a schema of `schemas/` without references to other files, as MCP tools need it: what it refers to is in its `$defs`.
 *
 * @param reference e.g. `compute-request.schema.json#/$defs/AreaRequest`
 * @throws {RangeError} on a reference to a schema that does not exist, which is a mistake in `schemas/`
 */
export function standaloneSchema(reference: string): JsonSchema {
  const definitions: Record<string, unknown> = {}
  const root = collect(reference)
  return Object.keys(definitions).length === 0 ? root : { ...root, $defs: definitions }

  function collect(from: string): JsonSchema {
    return rewrite(REPLACEMENTS[from] ?? resolve(from), from.split('#')[0]!, false) as JsonSchema
  }

  /** @param isNames true for the value of `properties`, whose keys are member names and not keywords */
  function rewrite(value: unknown, file: string, isNames: boolean): unknown {
    if (Array.isArray(value)) return value.map((member) => rewrite(member, file, false))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => isNames || !REMOVED_KEYWORDS.includes(key))
        .map(([key, member]) =>
          key === '$ref' && !isNames
            ? [key, addDefinition(String(member), file)]
            : [key, rewrite(member, file, key === 'properties' && !isNames)],
        ),
    )
  }

  function addDefinition(target: string, file: string): string {
    const fullReference = absoluteReference(target, file)
    const name = fullReference.split('/').at(-1)!.replace('.schema.json', '')
    if (!(name in definitions)) {
      definitions[name] = {} // set first, because its content may refer to it
      definitions[name] = collect(fullReference)
    }
    return `#/$defs/${name}`
  }
}

/**
 * Returns the members of a response schema with their JSON types, without their content: enough to find a value in a response.
 *
 * @param reference e.g. `compute-response.schema.json#/$defs/NumericComputeResponse`
 * @throws {RangeError} on a reference to a schema that does not exist, which is a mistake in `schemas/`
 */
export function outlineSchema(reference: string): JsonSchema {
  const properties = resolve(reference)['properties'] as Readonly<Record<string, JsonSchema>>
  const file = reference.split('#')[0]!
  const types = Object.entries(properties).map(([name, member]) => {
    const { $ref } = member
    const { type, enum: values } = $ref === undefined ? member : resolve(absoluteReference(String($ref), file))
    if (type !== undefined) return [name, { type }]
    return [name, values === undefined ? {} : { enum: values }]
  })
  return { type: 'object', properties: Object.fromEntries(types) }
}

/** Returns the schema that an absolute reference names. */
function resolve(reference: string): JsonSchema {
  const [id = '', name] = reference.split('#/$defs/')
  const file = FILES.find(({ $id }) => $id === id)
  const schema = name === undefined ? file : file?.$defs?.[name]
  if (schema === undefined) throw new RangeError(`there is no schema ${reference}`)
  return schema
}

function absoluteReference(reference: string, file: string): string {
  return reference.startsWith('#') ? file + reference : reference
}
