import type { ProblemData } from '../problem.ts'

/**
 * The header fields this service looks at. Both adapters feed every line in, so a repeated field looks the same on both:
 * uWebSockets.js would give the first one, node:http drops or joins depending on the name.
 */
export class RequestHead {
  lines = 0
  contentLength: string | undefined = undefined
  contentLengthLines = 0
  transferEncoding: string | undefined = undefined
  transferEncodingLines = 0
  contentEncoding: string | undefined = undefined
  contentType: string | undefined = undefined
  host: string | undefined = undefined
  hostLines = 0
  /** Repeated lines are joined with commas, which makes a key that no table holds. */
  apiKey: string | undefined = undefined
  authorization: string | undefined = undefined
  requestId: string | undefined = undefined
  forwardedFor: string | undefined = undefined
  accept: string | undefined = undefined
  acceptEncoding: string | undefined = undefined
  ifNoneMatch: string | undefined = undefined
  prefer: string | undefined = undefined
  lastEventId: string | undefined = undefined
  origin: string | undefined = undefined
  /** Somebody passed the request on: `Forwarded`, `Via`, `X-Real-IP`, any `X-Forwarded…`, or what a hosted proxy writes instead. */
  isForwarded = false
  idempotencyKey: string | undefined = undefined

  /** @param name lower case */
  add(name: string, value: string): void {
    this.lines++
    switch (name) {
      case 'content-length':
        this.contentLength = value
        this.contentLengthLines++
        break
      case 'transfer-encoding':
        this.transferEncoding = value
        this.transferEncodingLines++
        break
      case 'content-encoding':
        this.contentEncoding = joined(this.contentEncoding, value)
        break
      case 'content-type':
        this.contentType = value
        break
      case 'host':
        this.host = value
        this.hostLines++
        break
      case 'x-api-key':
        this.apiKey = joined(this.apiKey, value)
        break
      case 'authorization':
        this.authorization = joined(this.authorization, value)
        break
      case 'x-request-id':
        this.requestId = joined(this.requestId, value)
        break
      case 'x-forwarded-for':
        this.forwardedFor = joined(this.forwardedFor, value)
        this.isForwarded = true
        break
      case 'forwarded':
      case 'via':
      case 'x-real-ip':
      case 'x-client-ip':
      case 'x-cluster-client-ip':
      case 'x-original-forwarded-for':
      case 'x-envoy-external-address':
      case 'true-client-ip':
      case 'cf-connecting-ip':
      case 'fastly-client-ip':
      case 'fly-client-ip':
        this.isForwarded = true
        break
      case 'origin':
        this.origin = joined(this.origin, value)
        break
      case 'accept':
        this.accept = joined(this.accept, value)
        break
      case 'accept-encoding':
        this.acceptEncoding = joined(this.acceptEncoding, value)
        break
      case 'if-none-match':
        this.ifNoneMatch = joined(this.ifNoneMatch, value)
        break
      case 'prefer':
        this.prefer = joined(this.prefer, value)
        break
      case 'last-event-id':
        this.lastEventId = joined(this.lastEventId, value)
        break
      case 'idempotency-key':
        this.idempotencyKey = joined(this.idempotencyKey, value)
        break
      default:
        // -Host, -Proto, -Port, -Server, -Prefix …
        if (name.startsWith('x-forwarded')) this.isForwarded = true
    }
  }

  /** Bytes of the body; undefined when it is chunked; NaN never: `framingProblem` refuses what is no number. */
  get bodyBytes(): number | undefined {
    if (this.transferEncodingLines > 0) return undefined
    return this.contentLength === undefined ? 0 : Number(this.contentLength)
  }
}

function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`
}

/** Header lines of one request; uWebSockets.js drops a connection at about the same number by itself. */
export const MAX_HEADER_LINES = 100

/**
 * What makes the end of a request ambiguous, so that two servers in a row could disagree where the next one begins
 * (RFC 9112, section 11.2; decision 108). The connection has to be closed with the answer.
 */
export function framingProblem(method: string, head: RequestHead): ProblemData | undefined {
  const { contentLength, contentLengthLines, transferEncodingLines } = head
  if (!isMethodName(method)) return refusal('the method is no word')
  if (head.hostLines === 0) return refusal('Host is missing')
  if (contentLengthLines > 1) return refusal('Content-Length stands more than once')
  if (head.hostLines > 1) return refusal('Host stands more than once')
  if (transferEncodingLines > 0) {
    if (contentLength !== undefined) return refusal('Content-Length and Transfer-Encoding exclude each other')
    if (transferEncodingLines > 1 || head.transferEncoding!.toLowerCase() !== 'chunked') {
      return refusal('the only Transfer-Encoding accepted is exactly chunked')
    }
  }
  if (contentLength !== undefined && !isByteCount(contentLength))
    return refusal('Content-Length is not a number of bytes')
  if (head.lines > MAX_HEADER_LINES) return refusal(`more than ${MAX_HEADER_LINES} header lines`)
  return undefined
}

/** Capital letters only: leftovers of a request before end up here as well. */
function isMethodName(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x41 || code > 0x5a) return false
  }
  return true
}

/** One to fifteen digits: below 2⁵³. */
function isByteCount(text: string): boolean {
  if (text.length === 0 || text.length > 15) return false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x30 || code > 0x39) return false
  }
  return true
}

function refusal(detail: string): ProblemData {
  return { type: 'bad-request', detail }
}
