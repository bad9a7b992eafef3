import packageJson from '../../package.json' with { type: 'json' }
import examples from '../../schemas/examples.json' with { type: 'json' }
import { PROBLEMS } from '../problem.ts'
import { COMPUTE_OPERATIONS } from './openapi/compute-operations.ts'
import { contractSchemas } from './openapi/contract-schemas.ts'
import { OGC_OPERATIONS } from './openapi/ogc-operations.ts'
import {
  COMMON_HEADERS,
  type ErrorFamily,
  HEADERS,
  type HeaderName,
  type JsonObject,
  type Operation,
  type OperationTable,
  schemaRef,
  TAGS,
} from './openapi/operation.ts'
import { RECORD_OPERATIONS } from './openapi/record-operations.ts'
import { SERVICE_OPERATIONS } from './openapi/service-operations.ts'
import { SYNC_OPERATIONS } from './openapi/sync-operations.ts'
import { VERIFY_OPERATIONS } from './openapi/verify-operations.ts'

/** Every operation by `METHOD path`, in the order of the document. */
export const OPERATIONS: OperationTable = {
  ...COMPUTE_OPERATIONS,
  ...VERIFY_OPERATIONS,
  ...RECORD_OPERATIONS,
  ...OGC_OPERATIONS,
  ...SYNC_OPERATIONS,
  ...SERVICE_OPERATIONS,
}

/** What is kept of a request and its real answer, by operation. */
interface RecordedExample {
  readonly name: string
  readonly summary: string
  readonly request?: unknown
  readonly status: number
  readonly mediaType: string
  readonly answer: unknown
}

const EXAMPLES = examples as unknown as Readonly<Record<string, readonly RecordedExample[]>>

const FAMILIES: Readonly<Record<ErrorFamily, { readonly schema: string; readonly mediaType: string }>> = {
  problem: { schema: 'ProblemDetails', mediaType: 'application/problem+json' },
  record: { schema: 'RecordError', mediaType: 'application/json' },
  ogc: { schema: 'OgcException', mediaType: 'application/json' },
  graphql: { schema: 'GraphqlRefusal', mediaType: 'application/json' },
  older: { schema: 'OlderError', mediaType: 'application/json' },
}

/** Statuses of the older generation that no problem type has. */
const OTHER_STATUSES: Readonly<Record<number, string>> = { 422: 'a signature does not verify' }

let text: string | undefined

/** The document as `GET /openapi.json` sends it. */
export function openApiText(): string {
  text ??= JSON.stringify(openApiDocument())
  return text
}

/** `/errors/:type` as OpenAPI writes it: `/errors/{type}`. A path that goes on is `{file}`. */
export function openApiPath(path: string): string {
  return path.replace(/:(\w+)/, '{$1}').replace('*', '{file}')
}

/**
 * The whole service in OpenAPI 3.1: the schemas of `schemas/` as they stand there, every route with its parameters, headers
 * and answers, and examples that the service gave.
 *
 * @see https://spec.openapis.org/oas/v3.1.1.html
 */
export function openApiDocument(): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {}
  for (const [key, operation] of Object.entries(OPERATIONS)) {
    const [method, path] = key.split(' ') as [string, string]
    const name = openApiPath(path)
    paths[name] = { ...paths[name], [method.toLowerCase()]: operationObject(operation) }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Trigpoint',
      version: packageJson.version,
      summary: 'Answers spatial questions with signed facts',
      description:
        'Geodesic distance, area and length and exact predicates on WGS 84, each result with a delegated attestation of the ' +
        'Ethereum Attestation Service that a contract can check; location evidence judged; location records listed. Positions ' +
        'are [longitude, latitude] in degrees, lengths metres, times Unix seconds below `/compute` and `/verify`, ISO 8601 below `/api`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: TAGS,
    paths,
    components: {
      schemas: contractSchemas(),
      responses: refusalResponses(),
      headers: Object.fromEntries(
        Object.entries(HEADERS).map(([name, [description, type]]) => [name, { description, schema: { type } }]),
      ),
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Raises the hourly limit.' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same key as a bearer token.' },
        cronSecret: { type: 'http', scheme: 'bearer', description: 'CRON_SECRET of this deployment.' },
      },
    },
  }
}

function operationObject(operation: Operation): JsonObject {
  const { operationId, body, answers, refusals = [], family } = operation
  const recorded = EXAMPLES[operationId] ?? []
  const responses: Record<string, JsonObject> = {}
  for (const [status, { description, content, headers = [] }] of Object.entries(answers)) {
    responses[status] = {
      description,
      headers: headerRefs([...COMMON_HEADERS, ...headers]),
      ...(content === undefined
        ? {}
        : {
            content: Object.fromEntries(
              Object.entries(content).map(([mediaType, schema]) => {
                const own = recorded.filter(
                  (example) => example.mediaType === mediaType && String(example.status) === status,
                )
                return [mediaType, { schema, ...exampleMembers(own, 'answer') }]
              }),
            ),
          }),
    }
  }
  for (const status of refusals) responses[status] ??= { $ref: `#/components/responses/${family}-${status}` }
  responses['default'] = { $ref: `#/components/responses/${family}` }
  return {
    tags: [operation.tag],
    operationId,
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    ...(operation.deprecated === true ? { deprecated: true } : {}),
    ...(operation.counts === true ? { security: [{}, { apiKey: [] }, { bearer: [] }] } : {}),
    ...(operation.isInternal === true ? { security: [{}, { cronSecret: [] }] } : {}),
    ...(operation.parameters === undefined ? {} : { parameters: operation.parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: Object.fromEntries(
              Object.entries(body.content).map(([mediaType, schema]) => [
                mediaType,
                { schema, ...(mediaType === 'application/json' ? exampleMembers(recorded, 'request') : {}) },
              ]),
            ),
          },
        }),
    responses,
  }
}

function exampleMembers(recorded: readonly RecordedExample[], member: 'request' | 'answer'): JsonObject {
  const own = recorded.filter((example) => example[member] !== undefined)
  if (own.length === 0) return {}
  return {
    examples: Object.fromEntries(
      own.map((example) => [example.name, { summary: example.summary, value: example[member] }]),
    ),
  }
}

function headerRefs(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** One for each family and status that an operation names, and one for whatever else a family is refused with. */
function refusalResponses(): JsonObject {
  const responses: Record<string, JsonObject> = {}
  for (const { family, refusals = [] } of Object.values(OPERATIONS)) {
    responses[family] ??= refusal(family, 'Any other refusal, of the transport for example', [])
    for (const status of refusals) {
      const more: HeaderName[] = [
        ...([429, 500, 503].includes(status) ? (['Retry-After'] as const) : []),
        ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
      ]
      responses[`${family}-${status}`] ??= refusal(family, meaningOf(status), more)
    }
  }
  return responses
}

function refusal(family: ErrorFamily, description: string, more: readonly HeaderName[]): JsonObject {
  const { schema, mediaType } = FAMILIES[family]
  return {
    description,
    headers: headerRefs([...COMMON_HEADERS, ...more]),
    content: { [mediaType]: { schema: schemaRef(schema) } },
  }
}

/** `400` → the names of its problem types. */
function meaningOf(status: number): string {
  const types = Object.entries(PROBLEMS).filter(([, problem]) => problem.status === status)
  return types.length > 0 ? types.map(([name]) => name).join(', ') : OTHER_STATUSES[status]!
}
