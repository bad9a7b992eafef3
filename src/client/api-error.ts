import type { ProblemDetails } from '../types/generated.ts'

/** Thrown when the service answers with an error status. */
export class ApiError extends Error {
  readonly status: number
  /** The problem (RFC 9457). Errors of the record API and of proxies are converted to the same form. */
  readonly problem: ProblemDetails
  /** From the header `Retry-After`: how long to wait before the next request. */
  readonly retryAfterSeconds: number | undefined

  constructor(problem: ProblemDetails, retryAfterSeconds?: number) {
    super(`${problem.title}: ${problem.detail}`)
    this.name = 'ApiError'
    this.status = problem.status
    this.problem = problem
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Thrown without a complete response: the connection failed or broke, a time limit passed, or the body is not JSON. */
export class ConnectionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ConnectionError'
  }
}

/** A body that is not a problem is shown up to this length. */
const MAX_DETAIL_CHARACTERS = 300

/** Converts the body of an error response, from the service or from a proxy, to a problem. */
export function parseProblem(status: number, statusText: string, body: string): ProblemDetails {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    value = undefined
  }
  const members = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  const text = (name: string) => (typeof members[name] === 'string' ? members[name] : undefined)
  if (text('title') !== undefined && text('detail') !== undefined) {
    return { ...members, type: text('type') ?? 'about:blank', title: text('title')!, status, detail: text('detail')! }
  }
  const title = text('message') ?? (statusText === '' ? `HTTP ${status}` : statusText)
  const detail = text('detail') ?? text('error') ?? (body === '' ? 'the response has no details' : body)
  return { type: 'about:blank', title, status, detail: detail.slice(0, MAX_DETAIL_CHARACTERS) }
}

/**
 * Parses the header `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3).
 *
 * @returns seconds from now; undefined without a valid header
 */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return Number(header)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - nowMs) / 1000))
}
