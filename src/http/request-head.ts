import type { ProblemData } from '../problem.ts'

/**
 * The header fields this service looks at. Both adapters feed every line in, so a repeated field looks the same on both:
 * uWebSockets.js would give the first one, node:http drops or joins depending on the name.
 */
export class RequestHead {
  lines = 0
  /** Of HTTP, as the request line says. */
  version = '1.1'
  contentLength: string | undefined = undefined
  contentLengthLines = 0
  transferEncoding: string | undefined = undefined
  transferEncodingLines = 0
  contentEncoding: string | undefined = undefined
  contentType: string | undefined = undefined
  host: string | undefined = undefined
  hostLines = 0
  /** The value of Host in a request whose target names the host. */
  overruledHost: string | undefined = undefined
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

  /** The host of an absolute target wins over Host (RFC 9112, section 3.2.2). */
  overruleHost(authority: string): void {
    this.overruledHost = this.host
    this.host = authority
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
  if (!isMethodName(method)) return refusal('the method is not a word of capital letters')
  if (head.version !== '1.1' && head.version !== '1.0') {
    return refusal(`HTTP/${head.version} is not spoken here; use HTTP/1.1`)
  }
  if (head.hostLines === 0) return refusal('Host is missing')
  if (contentLengthLines > 1) return refusal('Content-Length stands more than once')
  if (head.hostLines > 1) return refusal('Host stands more than once')
  if (!isHost(head.host!)) return refusal('Host is not a name or address with an optional port')
  if (head.overruledHost !== undefined && (head.host === '' || !isHost(head.overruledHost))) {
    return refusal('an absolute target needs http://, a host, and a Host of the same form')
  }
  if (transferEncodingLines > 0) {
    if (head.version === '1.0') return refusal('HTTP/1.0 has no Transfer-Encoding; send Content-Length')
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

/** Empty is allowed: an old client has no better value. */
const HOST = /^(?:[\w.~-]{0,255}|\[[\da-fA-F:.]{2,45}\])(?::\d{0,5})?$/
let knownHost = ''

/** Most requests name the same host: a comparison is cheaper than the pattern. */
function isHost(text: string): boolean {
  if (text === knownHost) return true
  if (!HOST.test(text)) return false
  knownHost = text
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
