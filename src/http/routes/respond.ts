/** Turns results and problems into HTTP responses; nothing else does. */
import { createHash } from 'node:crypto'
import { type InvalidPart, PROBLEMS, type ProblemData } from '../../base/problem.ts'
import { clip } from '../../base/text.ts'
import { errorPage, PAGE_STYLE } from '../../service/records/ogc-pages.ts'
import { type RateStatus, secondsUntil } from '../access/rate-limit.ts'
import type { HeaderBlock, ResponseData } from '../transport/port.ts'

/** What a response reports about its request. */
export interface ResponseContext {
  readonly requestId: string
  readonly rate: RateStatus
  /** Value of `RateLimit-Policy`: all limits of the client. */
  readonly policies: string
  /** Value of `RateLimit`: what remains of them. */
  readonly remaining: string
  readonly nowMs: number
  /** As sent, not decoded. */
  readonly path: string
  /** Prefix of problem type URIs; a slash and the name of the type follow. */
  readonly errorTypeBase: string
  /** Where a client learns how to get a token; absent if no tokens are accepted. */
  readonly tokenMetadataUrl?: string | undefined
}

/** Selects the constant headers. With `asset`, the response itself sets Content-Type and Cache-Control. */
export type ContentKind = keyof typeof CONTENT_TYPES | 'asset'

const CONTENT_TYPES = {
  json: 'application/json; charset=utf-8',
  problem: 'application/problem+json; charset=utf-8',
  html: 'text/html; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  metrics: 'text/plain; version=0.0.4; charset=utf-8',
  geojson: 'application/geo+json; charset=utf-8',
  geojsonseq: 'application/geo+json-seq',
  csv: 'text/csv; charset=utf-8; header=present',
  fgb: 'application/flatgeobuf',
  fgbz: 'application/flatgeobuf',
  parquet: 'application/vnd.apache.parquet',
  events: 'text/event-stream; charset=utf-8',
  graphql: 'application/graphql-response+json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  schema: 'application/schema+json; charset=utf-8',
  openapi: 'application/vnd.oai.openapi+json;version=3.0; charset=utf-8',
} as const

const SECURITY = [
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cache-Control', 'no-store'],
] as const

/** Pages that the service builds itself load nothing, and have only the style of `PAGE_STYLE`. */
const CONTENT_POLICY = [
  'Content-Security-Policy',
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
] as const

/** The API is public and has no cookies, so any page may read it. */
const CORS = [
  ['Access-Control-Allow-Origin', '*'],
  [
    'Access-Control-Expose-Headers',
    'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit-Limit, RateLimit-Remaining, ' +
      'RateLimit-Reset, RateLimit-Policy, RateLimit, Retry-After, X-Request-Id, X-Attester-Nonce-Source, Preference-Applied, Link, Location, ETag, ' +
      'Deprecation, Content-Crs, X-Count, X-Complete-Until',
  ],
] as const

const PREFLIGHT = [
  ['Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, DELETE, OPTIONS'],
  // Every header that `RequestHead` reads and that a page may set only with permission.
  [
    'Access-Control-Allow-Headers',
    'Content-Type, Authorization, X-API-Key, X-Request-Id, Prefer, Last-Event-ID, Idempotency-Key, If-None-Match',
  ],
  ['Access-Control-Max-Age', '86400'],
] as const

/** @param lines at least one */
export function headerBlock(lines: readonly (readonly [string, string])[]): HeaderBlock {
  const [[firstName, firstValue]] = lines as readonly [readonly [string, string]]
  const otherLines = lines.slice(1).map(([name, value]) => `\r\n${name}: ${value}`)
  return { pairs: lines.flat(), firstName, remainder: Buffer.from(firstValue + otherLines.join('')) }
}

function buildHeaderBlocks(
  cors: readonly (readonly [string, string])[],
): Readonly<Record<ContentKind | 'empty', HeaderBlock>> {
  const blocks = Object.entries(CONTENT_TYPES).map(([kind, type]) => {
    const policy = kind === 'html' ? [CONTENT_POLICY] : []
    return [kind, headerBlock([['Content-Type', type], ...SECURITY, ...policy, ...cors])] as const
  })
  return {
    ...(Object.fromEntries(blocks) as Record<keyof typeof CONTENT_TYPES, HeaderBlock>),
    asset: headerBlock([...SECURITY.filter(([name]) => name !== 'Cache-Control'), ...cors]),
    empty: headerBlock([...SECURITY, ...cors]),
  }
}

const PUBLIC_BLOCKS = buildHeaderBlocks(CORS)
const PRIVATE_BLOCKS = buildHeaderBlocks([])
const PREFLIGHT_BLOCK = headerBlock([...SECURITY, ...CORS, ...PREFLIGHT])

/** Returns true for paths that no page of another origin may read (decision 85). */
export function isPrivatePath(path: string): boolean {
  return path.startsWith('/api/sync') || path.startsWith('/metrics')
}

/**
 * Builds a response with a body.
 *
 * @param extra more header lines; values that a client can influence must have passed `isFieldValue`
 */
export function contentResponse<Body extends string | Uint8Array>(
  context: ResponseContext,
  status: number,
  kind: ContentKind,
  body: Body,
  extra: readonly string[] = [],
): ResponseData<Body> {
  const blocks = isPrivatePath(context.path) ? PRIVATE_BLOCKS : PUBLIC_BLOCKS
  const lines = isOlderPath(context.path) ? [...extra, ...DEPRECATION] : extra
  return { status, headers: blocks[kind], fields: requestFields(context, lines), body }
}

/** Builds the response to `OPTIONS`, which is also the preflight of browsers. */
export function preflightResponse(context: ResponseContext, allow: string): ResponseData {
  const headers = isPrivatePath(context.path) ? PRIVATE_BLOCKS.empty : PREFLIGHT_BLOCK
  return { status: 204, headers, fields: requestFields(context, ['Allow', allow]), body: '' }
}

/**
 * Builds the response for a problem, in the error format of its path.
 *
 * @param allow methods of the path, for 405
 * @param wantsPage whether the client shows pages to people: below `/ogc`, it gets a page
 */
export function problemResponse(
  context: ResponseContext,
  problem: ProblemData,
  allow?: string,
  wantsPage = false,
): ResponseData<string> {
  const extra: string[] = []
  const retryAfterSeconds =
    problem.retryAfterSeconds ??
    (problem.type === 'rate-limited' ? secondsUntil(context.rate.resetSeconds, context.nowMs) : undefined)
  if (retryAfterSeconds !== undefined) extra.push('Retry-After', String(Math.max(1, Math.ceil(retryAfterSeconds))))
  if (problem.type === 'unauthorized' || problem.challenge !== undefined)
    extra.push('WWW-Authenticate', challengeField(problem.challenge, context.tokenMetadataUrl))
  if (allow !== undefined) extra.push('Allow', allow)
  if (isOlderPath(context.path)) {
    const { status, json } = toOlderError(problem)
    return contentResponse(context, status, 'json', json, extra)
  }
  const { status } = PROBLEMS[problem.type]
  if (wantsPage && isOgcPath(context.path)) {
    const body = errorPage(recordMessage(problem), clip(problem.detail, MAX_DETAIL))
    return contentResponse(context, status, 'html', body, [...extra, 'Vary', 'Accept'])
  }
  return isRecordPath(context.path)
    ? contentResponse(context, status, 'json', recordErrorJson(context.path, problem), extra)
    : contentResponse(context, status, 'problem', problemJson(context, problem), extra)
}

/** @param metadataUrl tells a client of a token where it can get one (RFC 9728, section 5.1) */
function challengeField(parameters: string | undefined, metadataUrl: string | undefined): string {
  const all = [parameters, metadataUrl && `resource_metadata="${metadataUrl}"`].filter((part) => part !== undefined)
  return ['Bearer', all.join(', ')].join(' ').trim()
}

/** Builds the response to bytes that are not a valid request. */
export function unparsableResponse(status: 400 | 408 | 431, context: ResponseContext): ResponseData<string> {
  if (status === 431) {
    const title = 'Request Header Fields Too Large'
    const body = JSON.stringify({ type: 'about:blank', title, status, detail: 'the header is too large' })
    return contentResponse(context, status, 'problem', body)
  }
  return problemResponse(
    context,
    status === 408
      ? { type: 'request-timeout', detail: 'the request did not arrive in time' }
      : { type: 'bad-request', detail: 'this is not an HTTP/1.1 request' },
  )
}

function requestFields(context: ResponseContext, extra: readonly string[]): string[] {
  const { requestId, rate, nowMs } = context
  const limit = String(rate.limit)
  const remaining = String(rate.remaining)
  const fields = [
    'X-Request-Id',
    requestId,
    'X-RateLimit-Limit',
    limit,
    'X-RateLimit-Remaining',
    remaining,
    'X-RateLimit-Reset',
    String(rate.resetSeconds),
    'RateLimit-Limit',
    limit,
    'RateLimit-Remaining',
    remaining,
    'RateLimit-Reset',
    String(secondsUntil(rate.resetSeconds, nowMs)),
    'RateLimit-Policy',
    context.policies,
    'RateLimit',
    context.remaining,
  ]
  if (extra.length > 0) fields.push(...extra)
  return fields
}

/** Returns true for printable ASCII. Other values could end their line, because the transport writes them unchecked. */
export function isFieldValue(value: string): boolean {
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index)
    if (code < 0x20 || code > 0x7e) return false
  }
  return true
}

const MAX_PROBLEM_BYTES = 4095
const MAX_INVALID_PARTS = 10
/** Maximum UTF-16 units of each text in an invalid part. */
const MAX_PART_TEXT = 300
/** Maximum UTF-16 units of `instance`, the path of the request. */
const MAX_INSTANCE = 200

/** Serializes a problem (RFC 9457), in less than 4 KB whatever the client sent. */
export function problemJson(
  context: Pick<ResponseContext, 'errorTypeBase' | 'path' | 'requestId'>,
  problem: ProblemData,
): string {
  const { status, title } = PROBLEMS[problem.type]
  let detail = clip(problem.detail, MAX_DETAIL)
  let invalidParts = (problem.invalidParts ?? []).slice(0, MAX_INVALID_PARTS).map(clipPart)
  for (;;) {
    const text = JSON.stringify({
      type: `${context.errorTypeBase}/${problem.type}`,
      title,
      status,
      detail,
      instance: clip(context.path, MAX_INSTANCE),
      ...(invalidParts.length > 0 ? { errors: invalidParts } : {}),
      requestId: context.requestId,
    })
    if (Buffer.byteLength(text) <= MAX_PROBLEM_BYTES || detail.length <= 1) return text
    if (invalidParts.length > 0) invalidParts = invalidParts.slice(0, invalidParts.length >> 1)
    else detail = clip(detail, detail.length >> 1)
  }
}

function clipPart({ pointer, detail, code, hint }: InvalidPart): InvalidPart {
  return {
    pointer: clip(pointer, MAX_PART_TEXT),
    detail: clip(detail, MAX_PART_TEXT),
    ...(code === undefined ? {} : { code: clip(code, MAX_PART_TEXT) }),
    ...(hint === undefined ? {} : { hint: clip(hint, MAX_PART_TEXT) }),
  }
}

/** Maximum UTF-16 units of a problem's detail: it quotes the client's input, but does not echo all of it. */
export const MAX_DETAIL = 400

/** Returns true for paths whose errors have the shape of the record API (decisions 43 and 90). */
export function isRecordPath(path: string): boolean {
  return isBelow(path, '/api') || isBelow(path, '/proofs') || isOgcPath(path) || isGraphqlPath(path)
}

function isOgcPath(path: string): boolean {
  return isBelow(path, '/ogc')
}

function isGraphqlPath(path: string): boolean {
  return isBelow(path, '/graphql')
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/')
}

/**
 * Serializes a problem in the shape of the record API. Paths below `/ogc` add the two members of an exception (OGC API Features,
 * Part 1, 7.5.1), and GraphQL adds its `errors`.
 */
export function recordErrorJson(path: string, problem: ProblemData): string {
  const message = recordMessage(problem)
  const detail = clip(problem.detail, MAX_DETAIL)
  const text = `${message}: ${detail}`
  const more = isOgcPath(path)
    ? { code: problem.type, description: text }
    : isGraphqlPath(path)
      ? { errors: [{ message: text, extensions: { code: problem.type } }] }
      : {}
  return JSON.stringify({ status: 'error', message, detail, ...more })
}

function recordMessage({ message, type }: ProblemData): string {
  return message ?? RECORD_MESSAGES[type] ?? PROBLEMS[type].title
}

const RECORD_MESSAGES: Readonly<Record<string, string>> = {
  'not-found': 'Not found',
  'method-not-allowed': 'Method not allowed',
}

/** Returns true for paths of the older verify API, whose errors have a different shape (decision 74). */
export function isOlderPath(path: string): boolean {
  return path.startsWith('/v1/') || path === '/v1'
}

/** Header of RFC 9745. The older API was superseded before this service existed; the date is that of its first release. */
export const DEPRECATION = ['Deprecation', '@1767225600'] as const

/** Returns the status and the body `{error: {code, message}}` of a problem under an older path. */
export function toOlderError(problem: ProblemData): { readonly status: number; readonly json: string } {
  const [status, code] = errorCode(problem)
  return { status, json: JSON.stringify({ error: { code, message: clip(problem.detail, MAX_DETAIL) } }) }
}

function errorCode({ type, invalidParts }: ProblemData): [status: number, code: string] {
  const { code, pointer = '' } = invalidParts?.[0] ?? {}
  if (code === 'unknown-plugin') return [400, 'UNKNOWN_PLUGIN']
  if (code === 'signature-invalid') return [422, 'SIGNATURE_INVALID']
  const { status } = PROBLEMS[type]
  if (status === 400 && pointer.startsWith('#/proof/claim/radius')) return [400, 'MISSING_RADIUS']
  if (status === 400 && pointer.startsWith('#/proof/claim')) return [400, 'INVALID_CLAIM']
  if (status === 400 && /^#\/(?:stamp|proof\/stamps)\b/.test(pointer)) return [400, 'INVALID_STAMP']
  if (type === 'internal' || type === 'database') return [status, 'VERIFICATION_FAILED']
  return [status, type.toUpperCase().replaceAll('-', '_')]
}
