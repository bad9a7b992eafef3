import { inspect } from 'node:util'
import type { ApiKey, Config } from '../config.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { type ProblemData, ProblemError } from '../problem.ts'
import type { Services } from '../service/services.ts'
import { createAccessLog } from './access-log.ts'
import { ApiKeys } from './api-keys.ts'
import { addressKey, clientAddress, parseRanges } from './client-address.ts'
import type { StoredKey } from './key-file.ts'
import { createNotFoundPage } from './not-found-page.ts'
import type { Exchange, HttpHandler, Reply } from './port.ts'
import { limitReached, RateLimiter, rateStatus, takeSome } from './rate-limit.ts'
import { framingProblem } from './request-head.ts'
import { createRequestIds, isRequestId } from './request-id.ts'
import { createItemMetrics, createRequestMetrics } from './request-metrics.ts'
import { baseUrlOf, RequestState } from './request-state.ts'
import { contentReply, isFieldValue, preflightReply, problemReply, unparsableReply } from './respond.ts'
import { createRouter, parameterOf } from './router.ts'
import { createRoutes, type Route, type RouteAnswer } from './routes.ts'
import { streamRequest } from './stream-request.ts'

export interface AppParts {
  readonly config: Config
  readonly services: Services
  readonly log: Log
  readonly metrics: Metrics
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** 0 ≤ value < 1, for log sampling. */
  readonly random?: () => number
  /** Keys beside those of the configuration: the development keys. */
  readonly moreKeys?: readonly ApiKey[]
  /** Routes beside those of the table. */
  readonly moreRoutes?: readonly Route[]
}

/** What the HTTP layer does with a request, for both transports, and the table of its routes. */
export interface App {
  readonly handler: HttpHandler
  readonly routes: readonly Route[]
  /** The keys of the key file, in the place of those before. */
  setStoredKeys(keys: readonly StoredKey[]): void
}

const NO_BODY = new Uint8Array(0)
const INVALID_KEY: ProblemData = { type: 'unauthorized', detail: 'Invalid API key' }
const KEY_REQUIRED: ProblemData = { type: 'unauthorized', detail: 'An API key is required' }
const FAILED: ProblemData = { type: 'internal', detail: 'something failed on our side; report the requestId' }

/**
 * @throws {ConfigError} on trusted proxies that are no addresses
 */
export function createApp(parts: AppParts): App {
  const { config, services, log, metrics, now } = parts
  const routes = [...createRoutes(services, config, metrics), ...(parts.moreRoutes ?? [])]
  const findPath = createRouter(routes)
  const keys = new ApiKeys([...config.apiKeys, ...(parts.moreKeys ?? [])])
  const limiter = new RateLimiter(config.limits.maxRateLimitSubjects)
  const trusted = parseRanges(config.trustedProxies)
  const writeAccess = createAccessLog(log, config.logSampleRatio, parts.random ?? Math.random)
  const countRequest = createRequestMetrics(metrics)
  const refused = metrics.counter('ratelimit_rejected_total', 'Requests refused because the hourly limit was reached')
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
      decline(
        exchange,
        { type: 'not-found', detail: 'there is nothing under this path; GET / lists every route' },
        false,
      )
      return
    }
    const { method } = exchange
    if (method === 'OPTIONS') {
      reply(state, preflightReply(withRate(state), path.allow))
      return
    }
    const route = method === 'POST' ? path.POST : method === 'GET' || method === 'HEAD' ? path.GET : undefined
    if (route === undefined) {
      state.allow = path.allow
      const detail = `${method} is not offered here; use ${path.allow}`
      decline(exchange, { type: 'method-not-allowed', detail }, false)
      return
    }
    state.route = route
    state.parameter = parameterOf(exchange.path, path.prefix)
    const refusal = refusalBeforeBody(state, route)
    if (refusal !== undefined) decline(exchange, refusal, false)
    else if (route.stream !== undefined && method !== 'HEAD')
      route.stream(streamRequest(state, { limiter, items, now, fail: failStream, finish }))
    else if (route.method === 'GET') run(state, route, NO_BODY)
    else exchange.readBody(state.subject, (body) => run(state, route, body))
  }

  /** Everything that can be said without a byte of the body. */
  function refusalBeforeBody(state: RequestState, route: Route): ProblemData | undefined {
    const refusal = route.refusal?.(state.exchange) ?? (route.counts ? admit(state) : undefined)
    if (refusal !== undefined) return refusal
    const { contentEncoding } = state.exchange.head
    if (route.method === 'GET' || contentEncoding === undefined || contentEncoding.toLowerCase() === 'identity') {
      return undefined
    }
    return {
      type: 'unsupported-media-type',
      detail: 'Content-Encoding is not accepted; send the body uncompressed',
    }
  }

  /** The address is looked at only without a valid key: asking the transport for it costs as much as the rest of this. */
  function begin(exchange: Exchange): RequestState {
    const nowMs = now()
    exchange.deadlineMs = nowMs + config.limits.requestDeadlineMs
    const { head } = exchange
    const holder = keys.holderOf(head)
    const subject =
      typeof holder === 'object' ? holder.subject : addressKey(clientAddress(exchange.peer, head.forwardedFor, trusted))
    const requestId = isRequestId(head.requestId) ? head.requestId : nextRequestId()
    const state = new RequestState(exchange, config, { requestId, nowMs, holder, subject })
    exchange.state = state
    return state
  }

  /** Limit and key. A wrong key counts against the address: guessing is limited like everything else. */
  function admit(state: RequestState): ProblemData | undefined {
    const { holder, limit, nowMs } = state
    const window = limiter.open(state.subject, nowMs)
    const isAdmitted = takeSome(window, limit, 1) === 1
    state.knownRate = rateStatus(window, limit, nowMs)
    if (!isAdmitted) {
      refused.series({ tier: state.tier }).count++
      return limitReached(limit, state.tier, 'answer')
    }
    if (holder === 'invalid') return INVALID_KEY
    return holder === undefined && config.requireApiKey ? KEY_REQUIRED : undefined
  }

  /** Every answer carries the state of the limit, also where nothing is counted (decision 46). */
  function withRate(state: RequestState): RequestState {
    const { limit, nowMs } = state
    state.knownRate ??= rateStatus(limiter.peek(state.subject, nowMs), limit, nowMs)
    return state
  }

  function run(state: RequestState, route: Route, body: Uint8Array): void {
    const answer = route.run(state, body)
    if (answer instanceof Promise) {
      answer.then(
        (value) => succeed(state, value),
        (error) => fail(state.exchange, error),
      )
    } else succeed(state, answer)
  }

  /** Once the answer has begun, only its missing end can say that it failed. */
  function failStream(state: RequestState, error: unknown): void {
    const { exchange } = state
    if (!exchange.answered || exchange.aborted) {
      fail(exchange, error)
      return
    }
    log.error('stream failed', { id: state.requestId, error: inspect(error, { depth: 4 }) })
    exchange.breakStream()
  }

  function succeed(state: RequestState, answer: RouteAnswer): void {
    const { status = 200, kind = 'json', json, headers } = answer
    const extra: string[] = []
    for (const name in headers) {
      const value = headers[name]!
      if (!isFieldValue(value)) {
        fail(state.exchange, new Error(`header ${name} cannot be sent`))
        return
      }
      extra.push(name, value)
    }
    reply(state, contentReply(withRate(state), status, kind, json, extra))
  }

  function decline(exchange: Exchange, problem: ProblemData, close: boolean): void {
    if (exchange.answered || exchange.aborted) return
    const state = (exchange.state as RequestState | undefined) ?? begin(exchange)
    const refuse = () => {
      const answer = problemReply(withRate(state), problem, state.allow)
      reply(state, close ? { ...answer, close } : answer)
    }
    const page = close ? undefined : notFoundPage(state, problem)
    if (page === undefined) refuse()
    else page.then((answer) => succeed(state, answer), refuse)
  }

  /** What a client did wrong is said; anything else is logged whole and shows nothing of its inside. */
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
    state.onGone?.()
  }

  function reply(state: RequestState, answer: Reply): void {
    const { exchange } = state
    if (exchange.answered || exchange.aborted) return
    exchange.answer(answer)
    finish(state, answer.status)
  }

  /** The one place every request passes at its end: what is counted is counted here. */
  function finish({ exchange, requestId, route, tier, subject }: RequestState, status: number): void {
    const durationMs = performance.now() - exchange.startedMs
    const { method } = exchange
    const request = { requestId, method, route: route?.path ?? 'none', status, durationMs, tier, subject }
    countRequest(request)
    writeAccess(request)
  }

  function unparsable(status: 400 | 408 | 431, peer: Uint8Array): Reply<string> {
    const nowMs = now()
    const rate = rateStatus(limiter.peek(addressKey(peer), nowMs), publicLimit, nowMs)
    const errorTypeBase = config.errorTypeBase ?? `${baseUrlOf(config, undefined)}/errors`
    return unparsableReply(status, { requestId: nextRequestId(), rate, nowMs, path: '/', errorTypeBase })
  }
}
