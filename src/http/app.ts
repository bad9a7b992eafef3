import { inspect } from 'node:util'
import type { Log } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import { type ProblemData, ProblemError } from '../base/problem.ts'
import type { ApiKey, Config } from '../config/config.ts'
import type { Services } from '../service/services.ts'
import { createAccessLog, createRequestIds, isRequestId } from './access/access-log.ts'
import { ApiKeys } from './access/api-keys.ts'
import { addressKey, clientAddress, parseRanges } from './access/client-address.ts'
import type { StoredKey } from './access/key-file.ts'
import { RateLimiter, rateLimitProblem, rateStatus, takeQuota } from './access/rate-limit.ts'
import { createItemMetrics, createRequestMetrics } from './access/request-metrics.ts'
import { RequestState, resolveBaseUrl } from './access/request-state.ts'
import { createNotFoundPage } from './pages/not-found-page.ts'
import {
  contentResponse,
  isFieldValue,
  preflightResponse,
  problemResponse,
  unparsableResponse,
} from './routes/respond.ts'
import type { Route, RouteResult } from './routes/route.ts'
import { createRouter, pathParameter } from './routes/router.ts'
import { createRoutes } from './routes/routes.ts'
import { streamRequest } from './routes/stream-request.ts'
import type { Exchange, HttpHandler, ResponseData } from './transport/port.ts'
import { framingProblem } from './transport/request-head.ts'

export interface AppParts {
  readonly config: Config
  readonly services: Services
  readonly log: Log
  readonly metrics: Metrics
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** 0 ≤ value < 1, for log sampling. */
  readonly random?: () => number
  /** Keys in addition to those of the configuration: the development keys. */
  readonly extraKeys?: readonly ApiKey[]
  /** Routes in addition to those of the table. */
  readonly extraRoutes?: readonly Route[]
}

/** The request handler that both transports call, and the table of routes. */
export interface App {
  readonly handler: HttpHandler
  readonly routes: readonly Route[]
  /** Replaces the keys of the key file. */
  setStoredKeys(keys: readonly StoredKey[]): void
}

const NO_BODY = new Uint8Array(0)
const INVALID_KEY: ProblemData = { type: 'unauthorized', detail: 'Invalid API key' }
const KEY_REQUIRED: ProblemData = { type: 'unauthorized', detail: 'An API key is required' }
const FAILED: ProblemData = { type: 'internal', detail: 'something failed on our side; report the requestId' }

/**
 * Wires the routes, the API keys, the rate limit, the access log and the metrics into one handler.
 *
 * @throws {ConfigError} if a trusted proxy is not an address or a CIDR range
 */
export function createApp(parts: AppParts): App {
  const { config, services, log, metrics, now } = parts
  const routes = [...createRoutes(services, config, metrics), ...(parts.extraRoutes ?? [])]
  const findPath = createRouter(routes)
  const keys = new ApiKeys([...config.apiKeys, ...(parts.extraKeys ?? [])])
  const limiter = new RateLimiter(config.limits.maxRateLimitSubjects)
  const trusted = parseRanges(config.trustedProxies)
  const writeAccess = createAccessLog(log, config.logSampleRatio, parts.random ?? Math.random)
  const countRequest = createRequestMetrics(metrics)
  const rejected = metrics.counter('ratelimit_rejected_total', 'Requests rejected because the hourly limit was reached')
  const items = createItemMetrics(metrics)
  const nextRequestId = createRequestIds()
  const notFoundPage = createNotFoundPage()
  const publicLimit = config.requestsPerHour.public

  return {
    handler: { handle, decline, fail, abandoned, unparsable },
    routes,
    setStoredKeys: (stored) => keys.setStored(stored),
  }

  function handle(exchange: Exchange): void {
    const state = begin(exchange)
    const framing = framingProblem(exchange.method, exchange.head)
    if (framing !== undefined) {
      decline(exchange, framing, true)
      return
    }
    const path = findPath(exchange.path)
    if (path === undefined) {
      decline(exchange, { type: 'not-found', detail: 'no route matches this path; GET / lists every route' }, false)
      return
    }
    const { method } = exchange
    if (method === 'OPTIONS') {
      respond(state, preflightResponse(withRate(state), path.allow))
      return
    }
    const route = method === 'POST' ? path.POST : method === 'GET' || method === 'HEAD' ? path.GET : undefined
    if (route === undefined) {
      state.allow = path.allow
      const detail = `this path does not support ${method}; use ${path.allow}`
      decline(exchange, { type: 'method-not-allowed', detail }, false)
      return
    }
    state.route = route
    state.parameter = pathParameter(exchange.path, path.prefix)
    const problem = checkBeforeBody(state, route)
    if (problem !== undefined) decline(exchange, problem, false)
    else if (route.stream !== undefined && method !== 'HEAD')
      route.stream(streamRequest(state, { limiter, items, now, fail: failStream, finish }))
    else if (route.method === 'GET') run(state, route, NO_BODY)
    else exchange.readBody(state.subject, (body) => run(state, route, body))
  }

  /** Runs the checks that do not need the body. */
  function checkBeforeBody(state: RequestState, route: Route): ProblemData | undefined {
    const problem = route.refusal?.(state.exchange) ?? (route.counts ? admit(state) : undefined)
    if (problem !== undefined) return problem
    const { contentEncoding } = state.exchange.head
    if (route.method === 'GET' || contentEncoding === undefined || contentEncoding.toLowerCase() === 'identity') {
      return undefined
    }
    return {
      type: 'unsupported-media-type',
      detail: 'Content-Encoding is not accepted; send the body uncompressed',
    }
  }

  /** Creates a request's state. Reads the address only without a valid key: reading it costs as much as all other work here. */
  function begin(exchange: Exchange): RequestState {
    const nowMs = now()
    exchange.deadlineMs = nowMs + config.limits.requestDeadlineMs
    const { head } = exchange
    const holder = keys.findHolder(head)
    const subject =
      typeof holder === 'object' ? holder.subject : addressKey(clientAddress(exchange.peer, head.forwardedFor, trusted))
    const requestId = isRequestId(head.requestId) ? head.requestId : nextRequestId()
    const state = new RequestState(exchange, config, { requestId, nowMs, holder, subject })
    exchange.state = state
    return state
  }

  /** Checks the hourly limit, then the key. A wrong key counts against the address, which limits the guessing of keys. */
  function admit(state: RequestState): ProblemData | undefined {
    const { holder, limit, nowMs } = state
    const window = limiter.open(state.subject, nowMs)
    const isAdmitted = takeQuota(window, limit, 1) === 1
    state.knownRate = rateStatus(window, limit, nowMs)
    if (!isAdmitted) {
      rejected.series({ tier: state.tier }).count++
      return rateLimitProblem(limit, state.tier, 'answer')
    }
    if (holder === 'invalid') return INVALID_KEY
    return holder === undefined && config.requireApiKey ? KEY_REQUIRED : undefined
  }

  /** Reads the state of the hourly limit, which every response carries, even where requests are not counted (decision 46). */
  function withRate(state: RequestState): RequestState {
    const { limit, nowMs } = state
    state.knownRate ??= rateStatus(limiter.peek(state.subject, nowMs), limit, nowMs)
    return state
  }

  function run(state: RequestState, route: Route, body: Uint8Array): void {
    const response = route.run(state, body)
    if (response instanceof Promise) {
      response.then(
        (value) => succeed(state, value),
        (error) => fail(state.exchange, error),
      )
    } else succeed(state, response)
  }

  /** Reports a failed stream. Once the response has begun, only its missing end can tell the client. */
  function failStream(state: RequestState, error: unknown): void {
    const { exchange } = state
    if (!exchange.answered || exchange.aborted) {
      fail(exchange, error)
      return
    }
    log.error('stream failed', { id: state.requestId, error: inspect(error, { depth: 4 }) })
    exchange.breakStream()
  }

  function succeed(state: RequestState, response: RouteResult): void {
    const { status = 200, kind = 'json', json, headers } = response
    const extra: string[] = []
    for (const name in headers) {
      const value = headers[name]!
      if (!isFieldValue(value)) {
        fail(state.exchange, new Error(`header ${name} cannot be sent`))
        return
      }
      extra.push(name, value)
    }
    respond(state, contentResponse(withRate(state), status, kind, json, extra))
  }

  function decline(exchange: Exchange, problem: ProblemData, close: boolean): void {
    if (exchange.answered || exchange.aborted) return
    const state = (exchange.state as RequestState | undefined) ?? begin(exchange)
    const sendProblem = () => {
      const response = problemResponse(withRate(state), problem, state.allow)
      respond(state, close ? { ...response, close } : response)
    }
    const page = close ? undefined : notFoundPage(state, problem)
    if (page === undefined) sendProblem()
    else page.then((response) => succeed(state, response), sendProblem)
  }

  /** Sends a `ProblemError` to the client. Any other error is logged in full, and the client sees only `internal`. */
  function fail(exchange: Exchange, error: unknown): void {
    if (error instanceof ProblemError) {
      decline(exchange, error.data, false)
      return
    }
    const state = (exchange.state as RequestState | undefined) ?? begin(exchange)
    log.error('request failed', { id: state.requestId, error: inspect(error, { depth: 4 }) })
    decline(exchange, FAILED, false)
  }

  function abandoned(exchange: Exchange): void {
    const state = exchange.state as RequestState | undefined
    if (state === undefined) return
    finish(state, 499)
    state.onDisconnect?.()
  }

  function respond(state: RequestState, response: ResponseData): void {
    const { exchange } = state
    if (exchange.answered || exchange.aborted) return
    exchange.answer(response)
    finish(state, response.status)
  }

  /** Counts and logs a finished request. Every request passes here exactly once. */
  function finish({ exchange, requestId, route, tier, subject }: RequestState, status: number): void {
    const durationMs = performance.now() - exchange.startedMs
    const { method } = exchange
    const request = { requestId, method, route: route?.path ?? 'none', status, durationMs, tier, subject }
    countRequest(request)
    writeAccess(request)
  }

  function unparsable(status: 400 | 408 | 431, peer: Uint8Array): ResponseData<string> {
    const nowMs = now()
    const rate = rateStatus(limiter.peek(addressKey(peer), nowMs), publicLimit, nowMs)
    const errorTypeBase = config.errorTypeBase ?? `${resolveBaseUrl(config, undefined)}/errors`
    return unparsableResponse(status, { requestId: nextRequestId(), rate, nowMs, path: '/', errorTypeBase })
  }
}
