import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import type { ApiKey, Config, Tier } from '../config.ts'
import type { Log } from '../log.ts'
import { type ProblemData, ProblemError } from '../problem.ts'
import type { Services } from '../service/services.ts'
import { createAccessLog } from './access-log.ts'
import { ApiKeys } from './api-keys.ts'
import { type AddressKey, addressKey, clientAddress, parseRanges } from './client-address.ts'
import type { Exchange, HttpHandler, Reply } from './port.ts'
import { RateLimiter, type RateStatus, rateStatus, type Subject, takeOne } from './rate-limit.ts'
import { framingProblem, type RequestHead } from './request-head.ts'
import {
  type AnswerContext,
  contentReply,
  isFieldValue,
  preflightReply,
  problemReply,
  unparsableReply,
} from './respond.ts'
import { createRouter, createRoutes, parameterOf, type Route, type RouteAnswer, type RouteRequest } from './routes.ts'

export interface AppParts {
  readonly config: Config
  readonly services: Services
  readonly log: Log
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** 0 ≤ value < 1, for log sampling. */
  readonly random?: () => number
  /** Keys beside those of the configuration: the development keys. */
  readonly moreKeys?: readonly ApiKey[]
}

/** What the HTTP layer does with a request, for both transports, and the table of its routes. */
export interface App {
  readonly handler: HttpHandler
  readonly routes: readonly Route[]
}

/** What is known of a request while it is in flight: everything its answer needs. */
class RequestState implements AnswerContext, RouteRequest {
  readonly exchange: Exchange
  readonly requestId: string
  readonly nowMs: number
  readonly address: AddressKey
  readonly #config: Config
  rate: RateStatus
  tier: Tier = 'public'
  route: Route | undefined = undefined
  /** Value of `Allow` of the path that was asked for. */
  allow: string | undefined = undefined
  parameter = ''

  constructor(
    exchange: Exchange,
    config: Config,
    facts: { requestId: string; nowMs: number; address: AddressKey; rate: RateStatus },
  ) {
    this.exchange = exchange
    this.#config = config
    this.requestId = facts.requestId
    this.nowMs = facts.nowMs
    this.address = facts.address
    this.rate = facts.rate
  }

  get path(): string {
    return this.exchange.path
  }

  get baseUrl(): string {
    return baseUrlOf(this.#config, this.exchange.head)
  }

  get errorTypeBase(): string {
    return this.#config.errorTypeBase ?? `${this.baseUrl}/errors`
  }
}

const NO_BODY = new Uint8Array(0)
const INVALID_KEY: ProblemData = { type: 'unauthorized', detail: 'Invalid API key' }
const KEY_REQUIRED: ProblemData = { type: 'unauthorized', detail: 'An API key is required' }
const FAILED: ProblemData = { type: 'internal', detail: 'something failed on our side; report the requestId' }

/**
 * @throws {ConfigError} on trusted proxies that are no addresses
 */
export function createApp(parts: AppParts): App {
  const { config, services, log, now } = parts
  const routes = createRoutes(services)
  const findPath = createRouter(routes)
  const keys = new ApiKeys([...config.apiKeys, ...(parts.moreKeys ?? [])])
  const limiter = new RateLimiter(config.limits.maxRateLimitSubjects)
  const trusted = parseRanges(config.trustedProxies)
  const writeAccess = createAccessLog(log, config.logSampleRatio, parts.random ?? Math.random)
  const nextRequestId = createRequestIds()
  const publicLimit = config.requestsPerHour.public

  return { handler: { handle, decline, fail, abandoned, unparsable }, routes }

  function handle(exchange: Exchange): void {
    const state = begin(exchange)
    const framing = framingProblem(exchange.head)
    if (framing !== undefined) {
      decline(exchange, framing, true)
      return
    }
    const path = findPath(exchange.path)
    if (path === undefined) {
      decline(exchange, { type: 'not-found', detail: 'there is nothing under this path' }, false)
      return
    }
    const { method } = exchange
    if (method === 'OPTIONS') {
      reply(state, preflightReply(state, path.allow))
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
    else if (route.method === 'GET') run(state, route, NO_BODY)
    else exchange.readBody(state.address, (body) => run(state, route, body))
  }

  /** Everything that can be said without a byte of the body. */
  function refusalBeforeBody(state: RequestState, route: Route): ProblemData | undefined {
    const refusal = route.counts ? admit(state) : undefined
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

  /** The address's own window, read only: an answer of any kind carries it. */
  function begin(exchange: Exchange): RequestState {
    const nowMs = now()
    exchange.deadlineMs = nowMs + config.limits.requestDeadlineMs
    const { head } = exchange
    const address = addressKey(clientAddress(exchange.peer, head.forwardedFor, trusted))
    const requestId = isRequestId(head.requestId) ? head.requestId : nextRequestId()
    const rate = rateStatus(limiter.peek(address, nowMs), publicLimit, nowMs)
    const state = new RequestState(exchange, config, { requestId, nowMs, address, rate })
    exchange.state = state
    return state
  }

  /** Key and limit. A wrong key counts against the address: guessing is limited like everything else. */
  function admit(state: RequestState): ProblemData | undefined {
    const holder = keys.holderOf(state.exchange.head)
    if (holder === 'invalid') return count(state, state.address, 'public') ?? INVALID_KEY
    if (holder === undefined && config.requireApiKey) return count(state, state.address, 'public') ?? KEY_REQUIRED
    return holder === undefined ? count(state, state.address, 'public') : count(state, holder.subject, holder.tier)
  }

  function count(state: RequestState, subject: Subject, tier: Tier): ProblemData | undefined {
    const limit = config.requestsPerHour[tier]
    const window = limiter.open(subject, state.nowMs)
    const isAdmitted = takeOne(window, limit)
    state.tier = tier
    state.rate = rateStatus(window, limit, state.nowMs)
    return isAdmitted
      ? undefined
      : { type: 'rate-limited', detail: `the limit of ${limit} requests per hour is reached` }
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
    reply(state, contentReply(state, status, kind, json, extra))
  }

  function decline(exchange: Exchange, problem: ProblemData, close: boolean): void {
    if (exchange.answered || exchange.aborted) return
    const state = (exchange.state as RequestState | undefined) ?? begin(exchange)
    const answer = problemReply(state, problem, state.allow)
    reply(state, close ? { ...answer, close } : answer)
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
    if (state !== undefined) finish(state, 499)
  }

  function reply(state: RequestState, answer: Reply): void {
    const { exchange } = state
    if (exchange.answered || exchange.aborted) return
    exchange.answer(answer)
    finish(state, answer.status)
  }

  /** The one place every request passes at its end: what is counted is counted here. */
  function finish({ exchange, requestId, route, tier, address }: RequestState, status: number): void {
    writeAccess({
      requestId,
      method: exchange.method,
      route: route?.path ?? 'none',
      status,
      durationMs: performance.now() - exchange.startedMs,
      tier,
      address,
    })
  }

  function unparsable(status: 400 | 408 | 431, peer: Uint8Array): Reply {
    const nowMs = now()
    const rate = rateStatus(limiter.peek(addressKey(peer), nowMs), publicLimit, nowMs)
    const errorTypeBase = config.errorTypeBase ?? `${baseUrlOf(config, undefined)}/errors`
    return unparsableReply(status, { requestId: nextRequestId(), rate, nowMs, path: '/', errorTypeBase })
  }
}

/** `PUBLIC_URL`, or the host the client named when it can stand in an address. */
function baseUrlOf(config: Config, head: RequestHead | undefined): string {
  if (config.publicUrl !== undefined) return config.publicUrl
  const host = head?.host
  return host !== undefined && /^[A-Za-z0-9._:[\]-]{1,255}$/.test(host)
    ? `http://${host}`
    : `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}`
}

/** A client's own id is kept when it is 1–64 letters, digits and hyphens: nothing that could forge a log line. */
function isRequestId(text: string | undefined): text is string {
  if (text === undefined || text.length === 0 || text.length > 64) return false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isDigit = code >= 0x30 && code <= 0x39
    const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
    if (!isDigit && !isLetter && code !== 0x2d) return false
  }
  return true
}

/** Ids of this process: unique for 2³² requests, in no visible order, a fifth of the cost of a random UUID. */
function createRequestIds(): () => string {
  const prefix = randomBytes(6).toString('hex')
  const mask = randomBytes(4).readUInt32LE()
  let count = 0
  return () => {
    // An odd factor permutes the 32-bit integers: no value comes twice.
    count = (count + 1) | 0
    return `${prefix}-${((Math.imul(count, 0x9e3779b1) ^ mask) >>> 0).toString(36)}`
  }
}
