/** What the document says of one operation, and the parts that many of them share. */

export type JsonObject = Readonly<Record<string, unknown>>

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path' | 'header'
  readonly required?: boolean
  readonly description: string
  readonly schema: JsonObject
  readonly example?: unknown
}

/** Media type → schema of the body, or none for what is no JSON. */
export type Content = Readonly<Record<string, JsonObject>>

export interface OperationAnswer {
  readonly description: string
  readonly content?: Content
  /** Names of `HEADERS` beside those that every answer carries. */
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
  /** Answers by status; refusals that only say which status are named in `refusals`. */
  readonly answers: Readonly<Record<string, OperationAnswer>>
  /** Statuses of refusals in the shape of the operation's family. */
  readonly refusals?: readonly number[]
  readonly family: ErrorFamily
  /** True when it counts towards the hourly limit: a key raises that, and a wrong one is refused. */
  readonly counts?: boolean
  /** Only for the deployment itself. */
  readonly isInternal?: boolean
  readonly deprecated?: boolean
}

/** Operations by `METHOD path`, the path as the router knows it. */
export type OperationTable = Readonly<Record<string, Operation>>

export type Tag =
  | 'Compute'
  | 'Verify'
  | 'Records'
  | 'Features'
  | 'GraphQL'
  | 'Sync'
  | 'Service'
  | 'Older verify'
  | 'Pages'

/** Which shape refusals have. */
export type ErrorFamily = 'problem' | 'record' | 'ogc' | 'graphql' | 'older'

export const TAGS: readonly { readonly name: Tag; readonly description: string }[] = [
  { name: 'Compute', description: 'Geodesic measures and exact predicates, each result with a signed attestation.' },
  { name: 'Verify', description: 'Location evidence: stamps and proofs, judged and signed.' },
  { name: 'Records', description: 'Location attestations read from their chains.' },
  { name: 'Features', description: 'The same records for GIS: OGC API Features, Part 1.' },
  { name: 'GraphQL', description: 'The same records as one question.' },
  { name: 'Sync', description: 'How the chains are read. For the deployment itself.' },
  { name: 'Service', description: 'What the service says of itself.' },
  { name: 'Older verify', description: 'The generation before /verify/v0, for clients that are deployed.' },
  { name: 'Pages', description: 'What people read in a browser.' },
]

export const HEADERS = {
  'X-Request-Id': [
    'Names the request in the log of the service; yours is kept when it is 1 to 64 of A–Z a–z 0–9 . _ -',
    'string',
  ],
  'X-RateLimit-Limit': ['Requests an hour of this address or key.', 'integer'],
  'X-RateLimit-Remaining': ['What is left of them.', 'integer'],
  'X-RateLimit-Reset': ['When the hour ends, Unix seconds.', 'integer'],
  'RateLimit-Limit': ['The same as X-RateLimit-Limit, as the draft names it.', 'integer'],
  'RateLimit-Remaining': ['The same as X-RateLimit-Remaining.', 'integer'],
  'RateLimit-Reset': ['Seconds until the hour ends.', 'integer'],
  'Retry-After': ['Seconds after which the same request may succeed.', 'integer'],
  'WWW-Authenticate': ['Bearer: a key can be sent that way.', 'string'],
  'X-Attester-Nonce-Source': [
    'Only when the nonce was not read from the chain just now: cache (the last one known) or default (0).',
    'string',
  ],
  'Preference-Applied': ['result-signature, when it was preferred.', 'string'],
  Link: ['Address of the next page, rel="next"; absent on the last one.', 'string'],
  'X-Count': ['estimated, when count is not exact.', 'string'],
  Deprecation: ['Since when the operation is superseded (RFC 9745).', 'string'],
  ETag: ['Names these bytes; send it as If-None-Match.', 'string'],
} as const

export type HeaderName = keyof typeof HEADERS

/** Of every answer, whatever its status. */
export const COMMON_HEADERS: readonly HeaderName[] = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
]

export const schemaRef = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })
export const json = (schema: JsonObject): Content => ({ 'application/json': schema })

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
