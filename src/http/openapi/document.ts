import packageJson from '../../../package.json' with { type: 'json' }
import examples from '../../../schemas/examples.json' with { type: 'json' }
import { PROBLEMS } from '../../base/problem.ts'
import { ACCOUNT_OPERATIONS } from './account-operations.ts'
import { COMPUTE_OPERATIONS } from './compute-operations.ts'
import { contractSchemas } from './contract-schemas.ts'
import { JOB_OPERATIONS } from './job-operations.ts'
import { KEY_OPERATIONS } from './key-operations.ts'
import { OGC_OPERATIONS } from './ogc-operations.ts'
import {
  COMMON_HEADERS,
  type ErrorFamily,
  FAMILY_BY_TAG,
  HEADERS,
  type HeaderName,
  type JsonObject,
  type Operation,
  type OperationTable,
  schemaRef,
  TAGS,
  type Tag,
} from './operation.ts'
import { RECORD_OPERATIONS } from './record-operations.ts'
import { SERVICE_OPERATIONS, SYNC_OPERATIONS } from './service-operations.ts'
import { STORED_OPERATIONS } from './stored-operations.ts'
import { VERIFY_OPERATIONS } from './verify-operations.ts'

/** Every operation by `METHOD path`, in the order of the document. */
export const OPERATIONS: OperationTable = {
  ...COMPUTE_OPERATIONS,
  ...STORED_OPERATIONS,
  ...JOB_OPERATIONS,
  ...VERIFY_OPERATIONS,
  ...RECORD_OPERATIONS,
  ...OGC_OPERATIONS,
  ...SYNC_OPERATIONS,
  ...KEY_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...SERVICE_OPERATIONS,
}

/** A recorded request with the response that the service sent. */
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

/** Statuses of the older generation that belong to no problem type. */
const OTHER_STATUSES: Readonly<Record<number, string>> = { 422: 'a signature does not verify' }

/** Converts a route's path to OpenAPI: `/errors/:type` becomes `/errors/{type}`, and `*` becomes `{file}`. */
export function openApiPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}').replace('*', '{file}')
}

/**
 * Describes the whole service in OpenAPI 3.1: the schemas of `schemas/`, every route with its parameters, headers and
 * responses, and recorded examples.
 *
 * @param isServed false for the routes to leave out, such as `POST /auth/siwe` if the sign-in is off
 * @see https://spec.openapis.org/oas/v3.1.1.html
 */
export function openApiDocument(isServed: (route: string) => boolean = () => true): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {}
  for (const [key, operation] of Object.entries(OPERATIONS)) {
    if (!isServed(key)) continue
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
        'Ethereum Attestation Service that a contract can check. Also verifies location evidence and lists location records. ' +
        'Positions are [longitude, latitude] in degrees, lengths are in metres. Times are Unix seconds below `/compute` and `/verify`, and ISO 8601 below `/api`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: TAGS,
    paths,
    components: {
      schemas: contractSchemas(),
      responses: errorResponses(),
      headers: Object.fromEntries(
        Object.entries(HEADERS).map(([name, [description, type]]) => [name, { description, schema: { type } }]),
      ),
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key raises the hourly limit.' },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The same API key as a bearer token, or a token of the issuer that the operator has configured.',
        },
        cronSecret: { type: 'http', scheme: 'bearer', description: 'CRON_SECRET of this deployment.' },
      },
    },
  }
}

function operationObject(operation: Operation): JsonObject {
  const { tag, operationId, body, responses } = operation
  const family = FAMILY_BY_TAG[tag]
  const recorded = EXAMPLES[operationId] ?? []
  const responseObjects: Record<string, JsonObject> = {}
  for (const [status, { description, content, headers = [] }] of Object.entries(responses)) {
    responseObjects[status] = {
      description,
      headers: headerRefs([...COMMON_HEADERS, ...headers]),
      ...(content === undefined
        ? {}
        : {
            content: Object.fromEntries(
              Object.entries(content).map(([mediaType, schema]) => {
                const matching = recorded.filter(
                  (example) => example.mediaType === mediaType && String(example.status) === status,
                )
                return [mediaType, { schema, ...exampleMembers(matching, 'answer') }]
              }),
            ),
          }),
    }
  }
  for (const status of errorStatusesOf(operation))
    responseObjects[status] ??= { $ref: `#/components/responses/${family}-${status}` }
  responseObjects['default'] = { $ref: `#/components/responses/${family}` }
  return {
    tags: [tag],
    operationId,
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    ...(operation.deprecated === true ? { deprecated: true } : {}),
    ...(operation.needsKey === true ? { security: [{ apiKey: [] }, { bearer: [] }] } : {}),
    ...(operation.counts === true && operation.needsKey !== true
      ? { security: [{}, { apiKey: [] }, { bearer: [] }] }
      : {}),
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
    responses: responseObjects,
  }
}

/** Tags of the operations for which a key or token needs a scope. Without it they answer 403, to a token that is not valid 401. */
const SCOPED: ReadonlySet<Tag> = new Set(['Compute', 'Verify', 'Records', 'Features', 'GraphQL', 'Older verify'])

function errorStatusesOf({ tag, errorStatuses = [] }: Operation): readonly number[] {
  return SCOPED.has(tag) ? [...new Set([...errorStatuses, 401, 403, 429, 503])] : errorStatuses
}

function exampleMembers(recorded: readonly RecordedExample[], member: 'request' | 'answer'): JsonObject {
  const matching = recorded.filter((example) => example[member] !== undefined)
  if (matching.length === 0) return {}
  return {
    examples: Object.fromEntries(
      matching.map((example) => [example.name, { summary: example.summary, value: example[member] }]),
    ),
  }
}

function headerRefs(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** Builds one error response for each family and status that an operation names, and a default one for each family. */
function errorResponses(): JsonObject {
  const responses: Record<string, JsonObject> = {}
  for (const operation of Object.values(OPERATIONS)) {
    const family = FAMILY_BY_TAG[operation.tag]
    responses[family] ??= errorResponse(family, 'Any other error, for example of the HTTP transport', [])
    for (const status of errorStatusesOf(operation)) {
      const extraHeaders: HeaderName[] = [
        ...([429, 500, 503].includes(status) ? (['Retry-After'] as const) : []),
        ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
      ]
      responses[`${family}-${status}`] ??= errorResponse(family, describeStatus(status), extraHeaders)
    }
  }
  return responses
}

function errorResponse(family: ErrorFamily, description: string, extraHeaders: readonly HeaderName[]): JsonObject {
  const { schema, mediaType } = FAMILIES[family]
  return {
    description,
    headers: headerRefs([...COMMON_HEADERS, ...extraHeaders]),
    content: {
      [mediaType]: { schema: schemaRef(schema) },
      ...(family === 'ogc' ? { 'text/html': { schema: { type: 'string' } } } : {}),
    },
  }
}

/** Describes a status by the names of its problem types. */
function describeStatus(status: number): string {
  const types = Object.entries(PROBLEMS).filter(([, problem]) => problem.status === status)
  return types.length > 0 ? types.map(([name]) => name).join(', ') : OTHER_STATUSES[status]!
}
