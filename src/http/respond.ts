/** The one place where an answer or a problem becomes a reply. */
import { PROBLEMS, type ProblemData, type ProblemPlace } from '../problem.ts'
import { clip, MAX_DETAIL } from './clip.ts'
import { DEPRECATION, isOlderPath, olderError } from './older-error.ts'
import type { HeaderBlock, Reply } from './port.ts'
import { type RateStatus, secondsUntil } from './rate-limit.ts'
import { isRecordPath, recordErrorJson } from './record-error.ts'

/** What an answer says about the request it belongs to. */
export interface AnswerContext {
  readonly requestId: string
  readonly rate: RateStatus
  readonly nowMs: number
  /** Decoded by nobody, as sent. */
  readonly path: string
  /** Names of problem types are appended to it. */
  readonly errorTypeBase: string
}

/** `asset`: the answer itself says its type and how long it may be kept. */
export type ContentKind = keyof typeof CONTENT_TYPES | 'asset'

const CONTENT_TYPES = {
  json: 'application/json; charset=utf-8',
  problem: 'application/problem+json; charset=utf-8',
  html: 'text/html; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  metrics: 'text/plain; version=0.0.4; charset=utf-8',
  geojson: 'application/geo+json; charset=utf-8',
  geojsonseq: 'application/geo+json-seq',
  events: 'text/event-stream; charset=utf-8',
  graphql: 'application/graphql-response+json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  openapi: 'application/vnd.oai.openapi+json;version=3.0; charset=utf-8',
} as const

const SECURITY = [
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cache-Control', 'no-store'],
] as const

/** A public API without cookies: any page may read it. */
const CORS = [
  ['Access-Control-Allow-Origin', '*'],
  [
    'Access-Control-Expose-Headers',
    'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit-Limit, RateLimit-Remaining, ' +
      'RateLimit-Reset, Retry-After, X-Request-Id, X-Attester-Nonce-Source, Preference-Applied, Link, X-Count, Deprecation',
  ],
] as const

const PREFLIGHT = [
  ['Access-Control-Allow-Methods', 'GET, HEAD, POST, OPTIONS'],
  ['Access-Control-Allow-Headers', 'Content-Type, Authorization, X-API-Key, X-Request-Id, Prefer, Last-Event-ID'],
  ['Access-Control-Max-Age', '86400'],
] as const

function headerBlock(lines: readonly (readonly [string, string])[]): HeaderBlock {
  const [[firstName, firstValue]] = lines as readonly [readonly [string, string]]
  const rest = lines.slice(1).map(([name, value]) => `\r\n${name}: ${value}`)
  return { pairs: lines.flat(), firstName, rest: firstValue + rest.join('') }
}

function blocksOf(cors: readonly (readonly [string, string])[]): Readonly<Record<ContentKind | 'empty', HeaderBlock>> {
  const block = (kind: keyof typeof CONTENT_TYPES) =>
    headerBlock([['Content-Type', CONTENT_TYPES[kind]], ...SECURITY, ...cors])
  return {
    json: block('json'),
    problem: block('problem'),
    ndjson: block('ndjson'),
    metrics: block('metrics'),
    geojson: block('geojson'),
    openapi: block('openapi'),
    geojsonseq: block('geojsonseq'),
    events: block('events'),
    graphql: block('graphql'),
    text: block('text'),
    html: headerBlock([
      ['Content-Type', CONTENT_TYPES.html],
      ...SECURITY,
      ['Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'"],
      ...cors,
    ]),
    asset: headerBlock([...SECURITY.filter(([name]) => name !== 'Cache-Control'), ...cors]),
    empty: headerBlock([...SECURITY, ...cors]),
  }
}

const PUBLIC_BLOCKS = blocksOf(CORS)
const PRIVATE_BLOCKS = blocksOf([])
const PREFLIGHT_BLOCK = headerBlock([...SECURITY, ...CORS, ...PREFLIGHT])

/** Paths no page of another origin may read (decision 85). */
export function isPrivatePath(path: string): boolean {
  return path.startsWith('/api/sync') || path.startsWith('/metrics')
}

/** @param extra more lines of this answer; values a client had a hand in must have gone through `isFieldValue` */
export function contentReply<Body extends string | Uint8Array>(
  context: AnswerContext,
  status: number,
  kind: ContentKind,
  body: Body,
  extra: readonly string[] = [],
): Reply<Body> {
  const blocks = isPrivatePath(context.path) ? PRIVATE_BLOCKS : PUBLIC_BLOCKS
  const lines = isOlderPath(context.path) ? [...extra, ...DEPRECATION] : extra
  return { status, headers: blocks[kind], fields: requestFields(context, lines), body }
}

/** The answer to `OPTIONS`, also as a preflight of a browser. */
export function preflightReply(context: AnswerContext, allow: string): Reply {
  const headers = isPrivatePath(context.path) ? PRIVATE_BLOCKS.empty : PREFLIGHT_BLOCK
  return { status: 204, headers, fields: requestFields(context, ['Allow', allow]), body: '' }
}

/** @param allow methods of the path, for 405 */
export function problemReply(context: AnswerContext, problem: ProblemData, allow?: string): Reply<string> {
  const extra: string[] = []
  const retryAfterSeconds =
    problem.retryAfterSeconds ??
    (problem.type === 'rate-limited' ? secondsUntil(context.rate.resetSeconds, context.nowMs) : undefined)
  if (retryAfterSeconds !== undefined) extra.push('Retry-After', String(Math.max(1, Math.ceil(retryAfterSeconds))))
  if (problem.type === 'unauthorized') extra.push('WWW-Authenticate', 'Bearer')
  if (allow !== undefined) extra.push('Allow', allow)
  if (isOlderPath(context.path)) {
    const { status, json } = olderError(problem)
    return contentReply(context, status, 'json', json, extra)
  }
  const { status } = PROBLEMS[problem.type]
  return isRecordPath(context.path)
    ? contentReply(context, status, 'json', recordErrorJson(context.path, problem), extra)
    : contentReply(context, status, 'problem', problemJson(context, problem), extra)
}

/** Bytes that never became a request have no id and no path. */
export function unparsableReply(status: 400 | 408 | 431, context: AnswerContext): Reply<string> {
  if (status === 431) {
    const title = 'Request Header Fields Too Large'
    const body = JSON.stringify({ type: 'about:blank', title, status, detail: 'the header lines are too large' })
    return contentReply(context, status, 'problem', body)
  }
  return problemReply(
    context,
    status === 408
      ? { type: 'request-timeout', detail: 'the request did not arrive in time' }
      : { type: 'bad-request', detail: 'this is not an HTTP/1.1 request' },
  )
}

function requestFields({ requestId, rate, nowMs }: AnswerContext, extra: readonly string[]): string[] {
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
  ]
  if (extra.length > 0) fields.push(...extra)
  return fields
}

/** False for a value that would end its line or is no header text: the transport writes it as it is. */
export function isFieldValue(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at)
    if (code < 0x20 || code > 0x7e) return false
  }
  return true
}

const MAX_PROBLEM_BYTES = 4095
const MAX_PLACES = 10
/** UTF-16 units of other texts in a problem. */
const MAX_PLACE_TEXT = 300
const MAX_INSTANCE = 200

/** RFC 9457; below 4 KB whatever the client sent. */
export function problemJson(
  context: Pick<AnswerContext, 'errorTypeBase' | 'path' | 'requestId'>,
  problem: ProblemData,
): string {
  const { status, title } = PROBLEMS[problem.type]
  let detail = clip(problem.detail, MAX_DETAIL)
  let places = (problem.places ?? []).slice(0, MAX_PLACES).map(clipPlace)
  for (;;) {
    const text = JSON.stringify({
      type: `${context.errorTypeBase}/${problem.type}`,
      title,
      status,
      detail,
      instance: clip(context.path, MAX_INSTANCE),
      ...(places.length > 0 ? { errors: places } : {}),
      requestId: context.requestId,
    })
    if (Buffer.byteLength(text) <= MAX_PROBLEM_BYTES || detail.length <= 1) return text
    if (places.length > 0) places = places.slice(0, places.length >> 1)
    else detail = clip(detail, detail.length >> 1)
  }
}

function clipPlace({ pointer, detail, code, hint }: ProblemPlace): ProblemPlace {
  return {
    pointer: clip(pointer, MAX_PLACE_TEXT),
    detail: clip(detail, MAX_PLACE_TEXT),
    ...(code === undefined ? {} : { code: clip(code, MAX_PLACE_TEXT) }),
    ...(hint === undefined ? {} : { hint: clip(hint, MAX_PLACE_TEXT) }),
  }
}
