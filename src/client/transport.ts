import type { ProblemDetails } from '../types/generated.ts'

export interface TransportOptions {
  /** Address of the service, e.g. `http://127.0.0.1:3000`. */
  readonly baseUrl: string
  /** API key, which raises the hourly limit. */
  readonly apiKey?: string | undefined
  /** Bearer token in place of an API key. A function is called for each attempt, and may return a newer one. */
  readonly token?: string | (() => string) | undefined
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
  /** Maximum number of retries of a request; default 3. */
  readonly maxRetries?: number | undefined
  /**
   * The longest `Retry-After` to wait for, in milliseconds; default 30,000. If a response asks for a longer wait, as it usually
   * does when the hourly limit is reached, the call fails at once.
   */
  readonly maxRetryWaitMs?: number | undefined
  /** Time limit for a response, or for the next piece of a stream, in milliseconds; default 30,000. */
  readonly timeoutMs?: number | undefined
}

export interface CallOptions {
  /** Aborts the call, also while it waits for the next attempt. */
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly maxRetries?: number | undefined
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path with query. */
  readonly path: string
  readonly body?: string | undefined
  readonly contentType?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * False when a repeated request would take effect twice. It is then retried only after 429, which says that it had no effect:
   * after 503, as without a response, the service may still have executed it.
   */
  readonly mayRepeat?: boolean | undefined
}

/** Supplies the session of calls. Its token takes the place of `apiKey` and `token`. */
export interface SessionSource {
  /**
   * Returns the session that is open now, which all attempts of a call use; undefined without one.
   *
   * @throws {ApiError} with status 401 if the session has ended
   */
  current(): CallSession | undefined
}

/** The session of one call. */
export interface CallSession {
  /** False once another session has replaced it, or it was forgotten. */
  isCurrent(): boolean
  /**
   * Returns the token for the next attempt.
   *
   * @param rejected the token that the service rejected at the last attempt
   * @throws {ApiError} with status 401 if the session has ended
   * @throws the reason of the signal once it aborts
   */
  token(wait: TokenWait, rejected: string | undefined): Promise<string>
}

/** How long an attempt may wait for a token. */
export interface TokenWait {
  /** Aborts when the time limit of the attempt has passed, or the caller aborts the call. */
  readonly signal: AbortSignal
  /** Time limit of the attempt: for the token and the response together. */
  readonly timeoutMs: number
}

/** A response whose body has not been read yet. */
export interface OpenResponse {
  readonly headers: Headers
  /** Yields the pieces of the body; closes the connection when the reader stops early. */
  pieces(): AsyncGenerator<Uint8Array, void, undefined>
}

export interface Transport {
  /**
   * Sends a request and parses the response. A response without content (204) is undefined.
   *
   * @throws {ApiError} on an error status
   * @throws {ConnectionError} without a complete response
   * @throws the signal's reason when the signal aborted the call
   */
  json<T>(call: Call, options?: CallOptions): Promise<T>
  /** Sends a request and returns the body of the response. @throws as `json` */
  text(call: Call, options?: CallOptions): Promise<string>
  /** Sends a request and returns once the response's headers have arrived. @throws as `json` */
  open(call: Call, options?: CallOptions): Promise<OpenResponse>
  /** Returns the maximum number of retries of a call. */
  maxRetries(options: CallOptions): number
  /** Waits before a retry. @param attempt 0 before the second attempt, 1 before the third, … */
  pause(attempt: number, options: CallOptions): Promise<void>
}

const DEFAULTS = { maxRetries: 3, maxRetryWaitMs: 30_000, timeoutMs: 30_000 }
/** 24.8 days. A timer with a longer time fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1
/** The first wait without a `Retry-After`; each further wait is twice as long. */
const FIRST_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 8_000

/**
 * Creates the transport, the only part of the client that sends HTTP requests: API key, retries, time limits, errors.
 *
 * @param session whose token the calls carry while it is open
 * @throws {TypeError} when `baseUrl` is not an http(s) address
 */
export function createTransport(options: TransportOptions, session?: SessionSource): Transport {
  return new HttpTransport(options, session)
}

class HttpTransport implements Transport {
  readonly #options: TransportOptions
  readonly #session: SessionSource | undefined
  readonly #base: string
  readonly #maxRetryWaitMs: number

  constructor(options: TransportOptions, session: SessionSource | undefined) {
    this.#options = options
    this.#session = session
    this.#base = options.baseUrl.replace(/\/+$/, '')
    this.#maxRetryWaitMs = options.maxRetryWaitMs ?? DEFAULTS.maxRetryWaitMs
    if (!/^https?:\/\//.test(this.#base))
      throw new TypeError(`baseUrl ${JSON.stringify(options.baseUrl)} is not an http(s) address`)
  }

  json<T>(call: Call, callOptions: CallOptions = {}): Promise<T> {
    return this.#sendWithRetries(call, callOptions, async (response, clock) => {
      const text = await readText(response, clock)
      try {
        return (response.status === 204 ? undefined : JSON.parse(text)) as T
      } catch (cause) {
        throw new ConnectionError(`${call.method} ${call.path}: the response is not JSON`, { cause })
      }
    })
  }

  text(call: Call, callOptions: CallOptions = {}): Promise<string> {
    return this.#sendWithRetries(call, callOptions, readText)
  }

  open(call: Call, callOptions: CallOptions = {}): Promise<OpenResponse> {
    return this.#sendWithRetries(call, callOptions, async (response, clock) => ({
      headers: response.headers,
      pieces: () => readPieces(response, clock),
    }))
  }

  maxRetries(call: CallOptions): number {
    return call.maxRetries ?? this.#options.maxRetries ?? DEFAULTS.maxRetries
  }

  pause(attempt: number, { signal }: CallOptions): Promise<void> {
    return sleep(backoffMs(attempt), signal)
  }

  async #sendWithRetries<T>(
    call: Call,
    callOptions: CallOptions,
    read: (response: Response, clock: Clock) => Promise<T>,
  ): Promise<T> {
    const timeoutMs = Math.min(callOptions.timeoutMs ?? this.#options.timeoutMs ?? DEFAULTS.timeoutMs, MAX_TIMER_MS)
    const send = this.#options.fetch ?? fetch
    const session = this.#session?.current()
    let rejected: string | undefined
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt >= this.maxRetries(callOptions)
      const clock = startClock(timeoutMs, callOptions.signal, this.#base)
      const token = await session?.token({ signal: clock.signal, timeoutMs }, rejected).catch((error) => {
        clock.stop()
        throw error // not retried: a refresh token must not be sent again after a broken connection
      })
      try {
        const response = await guarded(
          send(`${this.#base}${call.path}`, this.#buildRequest(call, token, clock.signal)),
          clock,
        )
        if (response.ok) return await read(response, clock)
        const body = await guarded(response.text(), clock)
        const retryAfter = parseRetryAfter(response.headers.get('retry-after'), Date.now())
        const error = new ApiError(parseProblem(response.status, response.statusText, body), retryAfter)
        const waitMs = retryAfter === undefined ? backoffMs(attempt) : retryAfter * 1000
        const isRetryable = response.status === 429 || (response.status === 503 && call.mayRepeat !== false)
        clock.stop()
        // With the token of another session, the call would count for somebody else.
        if (response.status === 401 && session?.isCurrent() === true && rejected === undefined) {
          rejected = token // it may have been replaced meanwhile, or can be
          continue
        }
        if (!isRetryable || isLast || waitMs > this.#maxRetryWaitMs) throw error
        await sleep(waitMs, callOptions.signal)
      } catch (error) {
        clock.stop()
        if (callOptions.signal?.aborted === true) throw callOptions.signal.reason
        if (!(error instanceof ConnectionError) || isLast || call.mayRepeat === false) throw error
        await this.pause(attempt, callOptions)
      }
    }
  }

  #buildRequest(call: Call, sessionToken: string | undefined, signal: AbortSignal): RequestInit {
    const { method, body, contentType, headers } = call
    const { apiKey, token } = sessionToken === undefined ? this.#options : { token: sessionToken }
    return {
      method,
      signal,
      headers: {
        accept: 'application/json, application/problem+json, */*;q=0.1',
        ...(body === undefined ? {} : { 'content-type': contentType ?? 'application/json' }),
        ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
        ...(token === undefined ? {} : { authorization: `Bearer ${typeof token === 'string' ? token : token()}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    }
  }
}

/** Replaces the errors of `fetch`, which say little and differ between platforms. */
async function guarded<T>(promise: Promise<T>, { signal, outer, base }: Clock): Promise<T> {
  try {
    return await promise
  } catch (cause) {
    if (outer?.aborted === true) throw outer.reason
    const isTimeout = signal.aborted && signal.reason instanceof ConnectionError
    throw isTimeout ? signal.reason : new ConnectionError(`no response from the service at ${base}`, { cause })
  }
}

async function readText(response: Response, clock: Clock): Promise<string> {
  try {
    return await guarded(response.text(), clock)
  } finally {
    clock.stop()
  }
}

async function* readPieces(response: Response, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = response.body?.getReader()
  try {
    while (reader !== undefined) {
      clock.touch()
      const { done, value } = await guarded(reader.read(), clock)
      if (done) return
      clock.stop() // the time that the caller takes for the piece does not count
      yield value
    }
  } finally {
    clock.stop()
    await reader?.cancel().catch(() => {})
  }
}

interface Clock {
  readonly signal: AbortSignal
  /** The caller's signal, whose reason is thrown unchanged. */
  readonly outer: AbortSignal | undefined
  /** The service's address, for messages. */
  readonly base: string
  /** Restarts the time limit. */
  touch(): void
  stop(): void
}

function startClock(timeoutMs: number, outer: AbortSignal | undefined, base: string): Clock {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const onTimeout = () => controller.abort(new ConnectionError(`no response within ${timeoutMs} ms from ${base}`))
  const touch = () => {
    clearTimeout(timer)
    timer = setTimeout(onTimeout, timeoutMs)
  }
  touch()
  return {
    outer,
    base,
    signal: outer === undefined ? controller.signal : AbortSignal.any([outer, controller.signal]),
    touch,
    stop: () => clearTimeout(timer),
  }
}

/** Computes the backoff. Half of it is random, so that clients rejected together do not all retry at the same time. */
function backoffMs(attempt: number): number {
  const full = Math.min(FIRST_BACKOFF_MS * 2 ** attempt, MAX_BACKOFF_MS)
  return full / 2 + Math.random() * (full / 2)
}

/** Waits for `ms`. Rejects with the signal's reason as soon as the signal aborts. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason)
      return
    }
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      },
      Math.min(ms, MAX_TIMER_MS),
    )
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

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
