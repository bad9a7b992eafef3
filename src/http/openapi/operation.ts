/** The description of one operation, and the parts that many operations share. */

export type JsonObject = Readonly<Record<string, unknown>>

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path' | 'header'
  readonly required?: boolean
  readonly description: string
  readonly schema: JsonObject
  readonly example?: unknown
}

/** Media type → schema of the body; an empty schema for binary files. */
export type Content = Readonly<Record<string, JsonObject>>

export interface OperationResponse {
  readonly description: string
  readonly content?: Content
  /** Names from `HEADERS`, in addition to `COMMON_HEADERS`. */
  readonly headers?: readonly HeaderName[]
}

export interface Operation {
  readonly tag: Tag
  readonly operationId: string
  readonly summary: string
  /** Markdown. */
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly body?: { readonly description?: string; readonly required?: boolean; readonly content: Content }
  /** Responses by status, without the common error responses, which `errorStatuses` lists. */
  readonly responses: Readonly<Record<string, OperationResponse>>
  /** Statuses of error responses, in the format of the tag's family. */
  readonly errorStatuses?: readonly number[]
  /** True if requests count towards the hourly limit; a valid key raises it, an invalid one is rejected. */
  readonly counts?: boolean
  /** True if it needs a key. */
  readonly needsKey?: boolean
  /** True if only the deployment itself may call it. */
  readonly isInternal?: boolean
  readonly deprecated?: boolean
}

/** Operations by `METHOD path`, with the path as in the router. */
export type OperationTable = Readonly<Record<string, Operation>>

export type Tag =
  | 'Compute'
  | 'Verify'
  | 'Records'
  | 'Features'
  | 'GraphQL'
  | 'Sync'
  | 'Keys'
  | 'Accounts'
  | 'Service'
  | 'Older verify'
  | 'Pages'

/** The format of error responses. */
export type ErrorFamily = 'problem' | 'record' | 'ogc' | 'graphql' | 'older'

export const FAMILY_BY_TAG: Readonly<Record<Tag, ErrorFamily>> = {
  Compute: 'problem',
  Verify: 'problem',
  Records: 'record',
  Features: 'ogc',
  GraphQL: 'graphql',
  Sync: 'record',
  Keys: 'problem',
  Accounts: 'problem',
  Service: 'problem',
  'Older verify': 'older',
  Pages: 'problem',
}

export const TAGS: readonly { readonly name: Tag; readonly description: string }[] = [
  { name: 'Compute', description: 'Geodesic measures and exact predicates, each result with a signed attestation.' },
  { name: 'Verify', description: 'Location evidence: stamps and proofs, verified and signed.' },
  { name: 'Records', description: 'Location attestations read from their chains.' },
  { name: 'Features', description: 'The same records for GIS: OGC API Features, Parts 1 to 3.' },
  { name: 'GraphQL', description: 'The same records through GraphQL.' },
  { name: 'Sync', description: 'Controls how the chains are read. Internal to the deployment.' },
  { name: 'Keys', description: 'API keys of the service. All routes below /admin need a key with the scope admin.' },
  { name: 'Accounts', description: 'Sign-in with a wallet, and the API keys of its account.' },
  { name: 'Service', description: 'Status and description of the service.' },
  { name: 'Older verify', description: 'The generation before /verify/v0, for clients already deployed.' },
  { name: 'Pages', description: 'Pages for browsers.' },
]

export const HEADERS = {
  'X-Request-Id': [
    'Identifies the request in the log of the service. Your own value is used if it is 1 to 64 of A–Z a–z 0–9 -',
    'string',
  ],
  'X-RateLimit-Limit': ['Requests per hour for this address or key.', 'integer'],
  'X-RateLimit-Remaining': ['Requests that remain in this hour.', 'integer'],
  'X-RateLimit-Reset': ['End of the hour, in Unix seconds.', 'integer'],
  'RateLimit-Limit': ['The same as X-RateLimit-Limit, under the name of the IETF draft.', 'integer'],
  'RateLimit-Remaining': ['The same as X-RateLimit-Remaining.', 'integer'],
  'RateLimit-Reset': ['Seconds until the hour ends.', 'integer'],
  'RateLimit-Policy': [
    'The limits of this address or key: q units of qu (by default requests) in w seconds, as a structured field.',
    'string',
  ],
  RateLimit: [
    'The requests that remain, and the budget of which the smallest share remains: r for t seconds.',
    'string',
  ],
  'Retry-After': ['Seconds after which the same request may succeed.', 'integer'],
  'WWW-Authenticate': [
    'Bearer: send the key as a bearer token. For a token, error and error_description say why it is rejected (RFC 6750).',
    'string',
  ],
  'X-Attester-Nonce-Source': [
    'Present only if the nonce was not read from the chain for this request: cache (the last known nonce) or default (0).',
    'string',
  ],
  'Preference-Applied': ['result-signature, if it was requested.', 'string'],
  Location: ['Path of the job.', 'string'],
  'X-Complete-Until': [
    'Everything before this time is included, ISO 8601; absent if no process has stored anything yet.',
    'string',
  ],
  'X-Count': [
    'estimated: `count` is an estimate, because counting would take too long. Absent if it is exact.',
    'string',
  ],
  Link: ['URL of the next page, rel="next"; absent on the last page.', 'string'],
  'Content-Crs': ['Reference system of the coordinates, as a URI in angle brackets.', 'string'],
  Deprecation: ['Date since which the operation is deprecated (RFC 9745).', 'string'],
  ETag: ['Identifies this version of the file; send it as If-None-Match.', 'string'],
} as const

export type HeaderName = keyof typeof HEADERS

/** Headers of every response, whatever its status. */
export const COMMON_HEADERS: readonly HeaderName[] = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
]

/** Adds the response for clients that have used up a budget, in operations that are limited by what they cost. */
export function metered(table: OperationTable): OperationTable {
  return Object.fromEntries(
    Object.entries(table).map(([key, operation]) => [
      key,
      { ...operation, errorStatuses: [...(operation.errorStatuses ?? []), 429] },
    ]),
  )
}

export const schemaRef = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })
export const json = (schema: JsonObject): Content => ({ 'application/json': schema })

/** The responses of an operation that has one kind of success. */
export function ok(description: string, content: Content, headers: readonly HeaderName[] = []): Operation['responses'] {
  return { 200: { description, content, headers } }
}

/** The index of one folder of routes. */
export function folderIndex(tag: Tag, operationId: string, summary: string): Operation {
  return { tag, operationId, summary, responses: ok('The routes.', json(schemaRef('FolderIndex'))) }
}

export const hexParameter = (digits: number): JsonObject => ({ type: 'string', pattern: `^0x[0-9a-fA-F]{${digits}}$` })

export const query = (name: string, description: string, schema: JsonObject, example?: unknown): Parameter => ({
  name,
  in: 'query',
  description,
  schema,
  ...(example === undefined ? {} : { example }),
})

export const header = (name: string, description: string, schema: JsonObject = { type: 'string' }): Parameter => ({
  name,
  in: 'header',
  description,
  schema,
})

export const pathParameter = (name: string, description: string, schema: JsonObject, example?: unknown): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema,
  ...(example === undefined ? {} : { example }),
})
