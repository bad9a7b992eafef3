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
import type { JsonSchema } from './tool.ts'

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
/** What is there for other tools, and names that a model does not need. */
const LEFT_OUT = ['$schema', '$id', '$defs', 'tsType', 'title']

/** In place of what is long and comes from an answer of the service, not from a model's head. */
const SHORTENED: Readonly<Record<string, JsonSchema>> = {
  'verified-proof.schema.json': { type: 'object', description: 'An answer of verify_proof, whole and unchanged.' },
  'input.schema.json#/$defs/OffchainInput': { not: {} },
}

/**
 * A schema of `schemas/` in one piece: what it refers to stands in its own `$defs`, as tools of MCP need it.
 *
 * @param reference e.g. `compute-request.schema.json#/$defs/AreaRequest`
 * @throws {RangeError} on a reference that leads nowhere: a mistake in `schemas/`
 */
export function standaloneSchema(reference: string): JsonSchema {
  const definitions: Record<string, unknown> = {}
  const root = collect(reference)
  return Object.keys(definitions).length === 0 ? root : { ...root, $defs: definitions }

  function collect(from: string): JsonSchema {
    const [id = '', name] = from.split('#/$defs/')
    const file = FILES.find(({ $id }) => $id === id)
    const schema = name === undefined ? file : file?.$defs?.[name]
    if (schema === undefined) throw new RangeError(`${from} is no schema`)
    return rewrite(SHORTENED[from] ?? schema, id, false) as JsonSchema
  }

  /** @param isNames of a `properties`: its keys are names, not words of a schema */
  function rewrite(value: unknown, file: string, isNames: boolean): unknown {
    if (Array.isArray(value)) return value.map((member) => rewrite(member, file, false))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => isNames || !LEFT_OUT.includes(key))
        .map(([key, member]) =>
          key === '$ref' && !isNames
            ? [key, definitionOf(String(member), file)]
            : [key, rewrite(member, file, key === 'properties' && !isNames)],
        ),
    )
  }

  function definitionOf(target: string, file: string): string {
    const whole = target.startsWith('#') ? file + target : target
    const name = whole.split('/').at(-1)!.replace('.schema.json', '')
    if (!(name in definitions)) {
      definitions[name] = {} // before what it holds is looked at, which may refer to it
      definitions[name] = collect(whole)
    }
    return `#/$defs/${name}`
  }
}
