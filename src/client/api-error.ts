import type { ProblemDetails } from '../types/generated.ts'

/** The service answered, and not with a result. */
export class ApiError extends Error {
  readonly status: number
  /** What the service said (RFC 9457). Errors of the record API and of proxies are put into the same form. */
  readonly problem: ProblemDetails
  /** From `Retry-After`: how long the service wants to be left alone. */
  readonly retryAfterSeconds: number | undefined

  constructor(problem: ProblemDetails, retryAfterSeconds?: number) {
    super(`${problem.title}: ${problem.detail}`)
    this.name = 'ApiError'
    this.status = problem.status
    this.problem = problem
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** There was no answer, or not all of one: no connection, a wait that was over, text that is no JSON. */
export class ConnectionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ConnectionError'
  }
}

/** What stands in a body that is no problem is shown up to here. */
const MAX_SHOWN = 300

/** Reads the body of a refusal, whoever wrote it. */
export function problemOf(status: number, statusText: string, body: string): ProblemDetails {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    value = undefined
  }
  const told = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  const text = (name: string) => (typeof told[name] === 'string' ? told[name] : undefined)
  if (text('title') !== undefined && text('detail') !== undefined) {
    return { ...told, type: text('type') ?? 'about:blank', title: text('title')!, status, detail: text('detail')! }
  }
  const title = text('message') ?? (statusText === '' ? `HTTP ${status}` : statusText)
  const detail = text('detail') ?? text('error') ?? (body === '' ? 'the answer says nothing more' : body)
  return { type: 'about:blank', title, status, detail: detail.slice(0, MAX_SHOWN) }
}

/** @param header `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3) */
export function retryAfterSecondsOf(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return Number(header)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - nowMs) / 1000))
}
