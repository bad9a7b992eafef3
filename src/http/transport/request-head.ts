/** The head of a request: the fields that the service reads, where the request ends, its target, and what the client prefers. */
import type { ProblemData } from '../../base/problem.ts'

/**
 * The header fields that this service reads. Both adapters add every line, so that a repeated field gives the same value on
 * both. By default, uWebSockets.js returns the first line, and node:http drops or joins lines depending on the name.
 */
export class RequestHead {
  lines = 0
  /** HTTP version of the request line. */
  version = '1.1'
  contentLength: string | undefined = undefined
  contentLengthLines = 0
  transferEncoding: string | undefined = undefined
  transferEncodingLines = 0
  contentEncoding: string | undefined = undefined
  contentType: string | undefined = undefined
  host: string | undefined = undefined
  hostLines = 0
  /** Value of Host if the request target is absolute and names the host itself. */
  overruledHost: string | undefined = undefined
  /** Repeated lines are joined with commas, which never gives a valid key. */
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
  /** `Sec-Fetch-Site`, which a page cannot set: how the origin of the page is related to that of the request. */
  fetchSite: string | undefined = undefined
  /** True if a proxy forwarded the request: it has `Forwarded`, `Via`, `X-Real-IP`, any `X-Forwarded…`, or a vendor's header. */
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
        this.contentEncoding = appendLine(this.contentEncoding, value)
        break
      case 'content-type':
        this.contentType = value
        break
      case 'host':
        this.host = value
        this.hostLines++
        break
      case 'x-api-key':
        this.apiKey = appendLine(this.apiKey, value)
        break
      case 'authorization':
        this.authorization = appendLine(this.authorization, value)
        break
      case 'x-request-id':
        this.requestId = appendLine(this.requestId, value)
        break
      case 'x-forwarded-for':
        this.forwardedFor = appendLine(this.forwardedFor, value)
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
        this.origin = appendLine(this.origin, value)
        break
      case 'sec-fetch-site':
        this.fetchSite = appendLine(this.fetchSite, value)
        break
      case 'accept':
        this.accept = appendLine(this.accept, value)
        break
      case 'accept-encoding':
        this.acceptEncoding = appendLine(this.acceptEncoding, value)
        break
      case 'if-none-match':
        this.ifNoneMatch = appendLine(this.ifNoneMatch, value)
        break
      case 'prefer':
        this.prefer = appendLine(this.prefer, value)
        break
      case 'last-event-id':
        this.lastEventId = appendLine(this.lastEventId, value)
        break
      case 'idempotency-key':
        this.idempotencyKey = appendLine(this.idempotencyKey, value)
        break
      default:
        // X-Forwarded-Host, X-Forwarded-Proto, X-Forwarded-Port …
        if (name.startsWith('x-forwarded')) this.isForwarded = true
    }
  }

  /** The host of an absolute target wins over Host (RFC 9112, section 3.2.2). */
  overruleHost(authority: string): void {
    this.overruledHost = this.host
    this.host = authority
  }

  /** Size of the body in bytes; undefined if it is chunked. Never NaN, because `framingProblem` rejects other values. */
  get bodyBytes(): number | undefined {
    if (this.transferEncodingLines > 0) return undefined
    return this.contentLength === undefined ? 0 : Number(this.contentLength)
  }
}

function appendLine(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`
}

/** Maximum header lines of one request; uWebSockets.js itself drops a connection at about the same number. */
const MAX_HEADER_LINES = 100

/**
 * Returns a problem if the end of a request is ambiguous: two servers in a row could then disagree about where the next
 * request begins (RFC 9112, section 11.2; decision 108). The connection must be closed with the response.
 */
export function framingProblem(method: string, head: RequestHead): ProblemData | undefined {
  const { contentLength, contentLengthLines, transferEncodingLines } = head
  if (!isMethodName(method)) return badRequest('the method must consist of capital letters')
  if (head.version !== '1.1' && head.version !== '1.0') {
    return badRequest(`HTTP/${head.version} is not supported; use HTTP/1.1`)
  }
  if (head.hostLines === 0) return badRequest('Host is missing')
  if (contentLengthLines > 1) return badRequest('Content-Length appears more than once')
  if (head.hostLines > 1) return badRequest('Host appears more than once')
  if (!isHost(head.host!)) return badRequest('Host is not a name or address with an optional port')
  if (head.overruledHost !== undefined && (head.host === '' || !isHost(head.overruledHost))) {
    return badRequest('an absolute target needs http://, a host, and a Host of the same form')
  }
  if (transferEncodingLines > 0) {
    if (head.version === '1.0') return badRequest('HTTP/1.0 has no Transfer-Encoding; send Content-Length')
    if (contentLength !== undefined) return badRequest('Content-Length and Transfer-Encoding exclude each other')
    if (transferEncodingLines > 1 || head.transferEncoding!.toLowerCase() !== 'chunked') {
      return badRequest('the only Transfer-Encoding accepted is exactly chunked')
    }
  }
  if (contentLength !== undefined && !isByteCount(contentLength))
    return badRequest('Content-Length is not a number of bytes')
  if (head.lines > MAX_HEADER_LINES) return badRequest(`more than ${MAX_HEADER_LINES} header lines`)
  return undefined
}

/** Returns true for capital letters only. Leftover bytes of a previous request end up here as well. */
function isMethodName(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x41 || code > 0x5a) return false
  }
  return true
}

/** Empty is allowed, because old clients send nothing better. */
const HOST = /^(?:[\w.~-]{0,255}|\[[\da-fA-F:.]{2,45}\])(?::\d{0,5})?$/
let knownHost = ''

/** Checks a Host value. Most requests name the same host, and a comparison is cheaper than the pattern. */
function isHost(text: string): boolean {
  if (text === knownHost) return true
  if (!HOST.test(text)) return false
  knownHost = text
  return true
}

/** Returns true for one to fifteen digits, which stay below 2⁵³. */
function isByteCount(text: string): boolean {
  if (text.length === 0 || text.length > 15) return false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x30 || code > 0x39) return false
  }
  return true
}

function badRequest(detail: string): ProblemData {
  return { type: 'bad-request', detail }
}

/** The parts of a request target. */
interface RequestTarget {
  readonly path: string
  /** Without the question mark; empty when there is none. */
  readonly query: string
  /** Host and port of an absolute target, empty if it has none or is not an http URL; undefined for a path. */
  readonly authority: string | undefined
}

/** Parses `/path?query`, or an absolute URL as clients send it to proxies. */
export function splitTarget(target: string): RequestTarget {
  if (target.startsWith('/') || target === '*') return splitPath(target, undefined)
  const [, authority = '', remaining = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target) ?? []
  return splitPath(remaining.startsWith('/') ? remaining : `/${remaining}`, authority)
}

function splitPath(text: string, authority: string | undefined): RequestTarget {
  const queryStart = text.indexOf('?')
  if (queryStart < 0) return { path: text, query: '', authority }
  return { path: text.slice(0, queryStart), query: text.slice(queryStart + 1), authority }
}

/**
 * Returns true if a `Prefer` header names a preference (RFC 7240). The header is a list of tokens, each with an optional value
 * and parameters. Only a token without a value counts; with a value it would be another preference, which is not defined.
 *
 * @param header lines joined with commas; undefined if there is none
 * @param name lower case
 */
export function prefers(header: string | undefined, name: string): boolean {
  return header !== undefined && splitElements(header).some((element) => bareName(element) === name)
}

/** Splits a list at the commas that are not within quotes. */
function splitElements(header: string): string[] {
  const parts: string[] = []
  let start = 0
  let isQuoted = false
  for (let index = 0; index < header.length; index++) {
    const character = header[index]
    if (isQuoted && character === '\\') index++
    else if (character === '"') isQuoted = !isQuoted
    else if (character === ',' && !isQuoted) {
      parts.push(header.slice(start, index))
      start = index + 1
    }
  }
  parts.push(header.slice(start))
  return parts
}

/** Returns the name of a preference; undefined if it has a value. An empty value counts as none (RFC 7240, section 2). */
function bareName(element: string): string | undefined {
  const [preference = ''] = element.split(';', 1)
  const equals = preference.indexOf('=')
  if (equals < 0) return preference.trim().toLowerCase()
  const value = preference.slice(equals + 1).trim()
  return value === '' || value === '""' ? preference.slice(0, equals).trim().toLowerCase() : undefined
}

/** The weight of a media type: 0 to 1, with at most three digits after the point (RFC 9110, section 12.4.2). */
const WEIGHT = /^q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** Returns the weight that `Accept` gives to a type by its full name; 0 if it does not name it or has no valid weight (RFC 9110, section 12.5.1). */
export function acceptQuality(accept: string | undefined, type: string): number {
  for (const range of (accept ?? '').toLowerCase().split(',')) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim())
    if (name !== type) continue
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    if (weight === undefined) return 1
    return WEIGHT.test(weight) ? Number(weight.slice(2)) : 0
  }
  return 0
}
