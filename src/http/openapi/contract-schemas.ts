import account from '../../../schemas/account.schema.json' with { type: 'json' }
import batchRequest from '../../../schemas/batch-request.schema.json' with { type: 'json' }
import batchResponse from '../../../schemas/batch-response.schema.json' with { type: 'json' }
import computeRequest from '../../../schemas/compute-request.schema.json' with { type: 'json' }
import computeResponse from '../../../schemas/compute-response.schema.json' with { type: 'json' }
import geometry from '../../../schemas/geometry.schema.json' with { type: 'json' }
import graphql from '../../../schemas/graphql.schema.json' with { type: 'json' }
import input from '../../../schemas/input.schema.json' with { type: 'json' }
import job from '../../../schemas/job.schema.json' with { type: 'json' }
import key from '../../../schemas/key.schema.json' with { type: 'json' }
import locationRecord from '../../../schemas/location-record.schema.json' with { type: 'json' }
import locationRecordList from '../../../schemas/location-record-list.schema.json' with { type: 'json' }
import ogc from '../../../schemas/ogc.schema.json' with { type: 'json' }
import olderVerify from '../../../schemas/older-verify.schema.json' with { type: 'json' }
import problem from '../../../schemas/problem.schema.json' with { type: 'json' }
import recordConfig from '../../../schemas/record-config.schema.json' with { type: 'json' }
import recordError from '../../../schemas/record-error.schema.json' with { type: 'json' }
import recordStats from '../../../schemas/record-stats.schema.json' with { type: 'json' }
import resignRequest from '../../../schemas/resign-request.schema.json' with { type: 'json' }
import resignResponse from '../../../schemas/resign-response.schema.json' with { type: 'json' }
import service from '../../../schemas/service.schema.json' with { type: 'json' }
import stored from '../../../schemas/stored.schema.json' with { type: 'json' }
import sync from '../../../schemas/sync.schema.json' with { type: 'json' }
import verifiedProof from '../../../schemas/verified-proof.schema.json' with { type: 'json' }
import verifyRequest from '../../../schemas/verify-request.schema.json' with { type: 'json' }
import verifyResponse from '../../../schemas/verify-response.schema.json' with { type: 'json' }

type JsonObject = Readonly<Record<string, unknown>>

interface SchemaFile extends JsonObject {
  readonly $id: string
  readonly title: string
  readonly $defs?: Readonly<Record<string, JsonObject>>
}

const FILES: readonly SchemaFile[] = [
  geometry,
  input,
  computeRequest,
  computeResponse,
  resignRequest,
  resignResponse,
  batchRequest,
  batchResponse,
  job,
  stored,
  verifyRequest,
  verifyResponse,
  verifiedProof,
  olderVerify,
  locationRecord,
  locationRecordList,
  recordConfig,
  recordStats,
  ogc,
  graphql,
  sync,
  key,
  account,
  service,
  problem,
  recordError,
]

/**
 * Turns the schemas of `schemas/` into components: each file under its title, each of its definitions under its name. Only the
 * references change, to point to the components, and members for other tools (`$id`, `$schema`, `tsType`) are removed.
 *
 * @throws {RangeError} if two definitions have the same name or a reference has no target: a mistake in `schemas/`
 */
export function contractSchemas(): Record<string, JsonObject> {
  const components: Record<string, JsonObject> = {}
  const names = new Map<string, string>()
  const add = (name: string, reference: string) => {
    if ([...names.values()].includes(name)) throw new RangeError(`two schemas are called ${name}`)
    names.set(reference, name)
  }
  for (const { $id, title, $defs = {} } of FILES) {
    add(title, $id)
    for (const name of Object.keys($defs)) add(name, `${$id}#/$defs/${name}`)
  }
  for (const file of FILES) {
    const { $id, $schema: _, $defs = {}, ...schema } = file
    components[file.title] = rewriteReferences(schema, $id, names)
    for (const [name, definition] of Object.entries($defs)) components[name] = rewriteReferences(definition, $id, names)
  }
  return components
}

/** @param names component names by reference, `file.schema.json#/$defs/Name` */
function rewriteReferences(schema: JsonObject, file: string, names: ReadonlyMap<string, string>): JsonObject {
  return rewrite(schema) as JsonObject

  function rewrite(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(rewrite)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => key !== 'tsType')
        .map(([key, member]) => [key, key === '$ref' ? resolveReference(String(member)) : rewrite(member)]),
    )
  }

  function resolveReference(reference: string): string {
    const name = names.get(reference.startsWith('#') ? file + reference : reference)
    if (name === undefined) throw new RangeError(`${file} refers to ${reference}, which is not a schema or definition`)
    return `#/components/schemas/${name}`
  }
}
