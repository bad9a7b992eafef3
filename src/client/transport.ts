import { ApiError, ConnectionError, problemOf, retryAfterSecondsOf } from './api-error.ts'

export interface TransportOptions {
  /** Address of the service, e.g. `http://127.0.0.1:3000`. */
  readonly baseUrl: string
  /** Raises the hourly limit. */
  readonly apiKey?: string | undefined
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
  /** How often a request is sent again at most; 3. */
  readonly maxRetries?: number | undefined
  /** The longest `Retry-After` that is waited for; 30,000. A spent hourly limit says more, and is an error at once. */
  readonly maxRetryWaitMs?: number | undefined
  /** For one answer; of a stream, for its next piece; 30,000. */
  readonly timeoutMs?: number | undefined
}

export interface CallOptions {
  /** Ends the call, waits between attempts included. */
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly maxRetries?: number | undefined
}

export interface Call {
  readonly method: 'GET' | 'POST'
  /** With its query. */
  readonly path: string
  readonly body?: string | undefined
  readonly contentType?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** False: sent a second time it would do a second thing. A refusal (429, 503) did nothing and may be sent again. */
  readonly mayRepeat?: boolean | undefined
}

/** An answer whose body is still to come. */
export interface OpenAnswer {
  readonly headers: Headers
  /** Pieces of the body; ends the connection when left early. */
  pieces(): AsyncGenerator<Uint8Array, void, undefined>
}

export interface Transport {
  /** @throws {ApiError} on a refusal, {ConnectionError} without an answer, the signal's reason when it ended the call */
  json<T>(call: Call, options?: CallOptions): Promise<T>
  open(call: Call, options?: CallOptions): Promise<OpenAnswer>
  /** How often a call is repeated at most. */
  retriesOf(options: CallOptions): number
  /** Waits before attempt number `attempt` + 2. */
  pause(attempt: number, options: CallOptions): Promise<void>
}

const DEFAULTS = { maxRetries: 3, maxRetryWaitMs: 30_000, timeoutMs: 30_000 }
/** The first wait without a `Retry-After`; each doubles. */
const FIRST_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 8_000

/** The one place that speaks HTTP: keys, waits, attempts, errors. */
export function createTransport(options: TransportOptions): Transport {
  const base = options.baseUrl.replace(/\/+$/, '')
  if (!/^https?:\/\//.test(base))
    throw new TypeError(`baseUrl ${JSON.stringify(options.baseUrl)} is no http(s) address`)
  const send = options.fetch ?? fetch
  const maxRetryWaitMs = options.maxRetryWaitMs ?? DEFAULTS.maxRetryWaitMs
  const retriesOf = (call: CallOptions) => call.maxRetries ?? options.maxRetries ?? DEFAULTS.maxRetries
  const pause = (attempt: number, { signal }: CallOptions) => sleep(backoffMs(attempt), signal)

  return {
    async json<T>(call: Call, callOptions: CallOptions = {}): Promise<T> {
      return attempts(call, callOptions, async (response, clock) => {
        const text = await guarded(response.text(), clock)
        try {
          return JSON.parse(text) as T
        } catch (cause) {
          throw new ConnectionError(`${call.method} ${call.path}: the answer is no JSON`, { cause })
        } finally {
          clock.stop()
        }
      })
    },
    open: (call, callOptions = {}) =>
      attempts(call, callOptions, async (response, clock) => ({
        headers: response.headers,
        pieces: () => piecesOf(response, clock),
      })),
    retriesOf,
    pause,
  }

  async function attempts<T>(
    call: Call,
    callOptions: CallOptions,
    read: (response: Response, clock: Clock) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt >= retriesOf(callOptions)
      const clock = startClock(
        callOptions.timeoutMs ?? options.timeoutMs ?? DEFAULTS.timeoutMs,
        callOptions.signal,
        base,
      )
      try {
        const response = await guarded(send(`${base}${call.path}`, requestOf(call, clock.signal)), clock)
        if (response.ok) return await read(response, clock)
        const body = await guarded(response.text(), clock)
        const retryAfter = retryAfterSecondsOf(response.headers.get('retry-after'), Date.now())
        const error = new ApiError(problemOf(response.status, response.statusText, body), retryAfter)
        const waitMs = retryAfter === undefined ? backoffMs(attempt) : retryAfter * 1000
        const isRefusal = response.status === 429 || response.status === 503
        clock.stop()
        if (!isRefusal || isLast || waitMs > maxRetryWaitMs) throw error
        await sleep(waitMs, callOptions.signal)
      } catch (error) {
        clock.stop()
        if (callOptions.signal?.aborted === true) throw callOptions.signal.reason
        if (!(error instanceof ConnectionError) || isLast || call.mayRepeat === false) throw error
        await pause(attempt, callOptions)
      }
    }
  }

  function requestOf({ method, body, contentType, headers }: Call, signal: AbortSignal): RequestInit {
    return {
      method,
      signal,
      headers: {
        accept: 'application/json, application/problem+json, */*;q=0.1',
        ...(body === undefined ? {} : { 'content-type': contentType ?? 'application/json' }),
        ...(options.apiKey === undefined ? {} : { 'x-api-key': options.apiKey }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    }
  }
}

/** What `fetch` throws for a connection says little and differs by platform. */
async function guarded<T>(promise: Promise<T>, { signal, outer, base }: Clock): Promise<T> {
  try {
    return await promise
  } catch (cause) {
    if (outer?.aborted === true) throw outer.reason
    const late = signal.aborted && signal.reason instanceof ConnectionError
    throw late ? signal.reason : new ConnectionError(`no answer from the service at ${base}`, { cause })
  }
}

async function* piecesOf(response: Response, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = response.body?.getReader()
  try {
    while (reader !== undefined) {
      clock.touch()
      const { done, value } = await guarded(reader.read(), clock)
      if (done) return
      clock.stop() // while the caller works on the piece nobody is late
      yield value
    }
  } finally {
    clock.stop()
    await reader?.cancel().catch(() => {})
  }
}

interface Clock {
  readonly signal: AbortSignal
  /** The caller's, whose reason goes through as it is. */
  readonly outer: AbortSignal | undefined
  /** Who is waited for. */
  readonly base: string
  /** The wait begins anew. */
  touch(): void
  stop(): void
}

function startClock(timeoutMs: number, outer: AbortSignal | undefined, base: string): Clock {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = () => controller.abort(new ConnectionError(`no answer within ${timeoutMs} ms from ${base}`))
  const touch = () => {
    clearTimeout(timer)
    timer = setTimeout(late, timeoutMs)
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

/** Half of it by chance, so that clients refused together do not come back together. */
function backoffMs(attempt: number): number {
  const full = Math.min(FIRST_BACKOFF_MS * 2 ** attempt, MAX_BACKOFF_MS)
  return full / 2 + Math.random() * (full / 2)
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done, refuse) => {
    if (signal?.aborted === true) {
      refuse(signal.reason)
      return
    }
    const onAbort = () => {
      clearTimeout(timer)
      refuse(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      done()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
