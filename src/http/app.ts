import { inspect } from 'node:util'
import type { AddressRange } from '../base/ip-address.ts'
import type { Log } from '../base/log.ts'
import type { Counter, Metrics } from '../base/metrics.ts'
import { type ProblemData, ProblemError, type ProblemType } from '../base/problem.ts'
import type { Config } from '../config/config.ts'
import { servesClients } from '../config/sync.ts'
import type { SessionTable } from '../service/accounts/session-table.ts'
import { sessionTier } from '../service/accounts/wallet-tier.ts'
import { chargeTime, LOCAL_CALLER } from '../service/request.ts'
import type { Services } from '../service/services.ts'
import type { UsageRecorder } from '../service/usage/usage-recorder.ts'
import { type ApiKeys, bearerTokenOf, type KeyHolder, keyProblem } from './access/api-keys.ts'
import { addressKey, clientAddress, parseRanges } from './access/caller.ts'
import { ClientLimits, type LimitedClient } from './access/client-limits.ts'
import {
  createAccessLog,
  createItemMetrics,
  createRequestMetrics,
  type FinishedRequest,
} from './access/finished-request.ts'
import { createLocalCheck, hasLocalTier } from './access/internal-check.ts'
import type { IssuerKeys } from './access/issuer-keys.ts'
import {
  LIMIT_NAMES,
  rateLimitProblem,
  type Subject,
  uncountedProblem,
  walletAddressSubject,
} from './access/rate-limit.ts'
import { createRequestIds, errorTypeBase, isRequestId, limitOf, RequestState, tierOf } from './access/request-state.ts'
import { UsageMeter } from './access/request-usage.ts'
import { SESSIONS_NOT_READ, SessionTokens, type UnreadToken } from './access/session-tokens.ts'
import type { CountSharing } from './access/shared-counts.ts'
import { type TokenProblem, Tokens } from './access/tokens.ts'
import type { AllMetrics } from './routes/operator-routes.ts'
import { createNotFoundPage, prefersPage } from './routes/page-routes.ts'
import { type RefusalFacts, Refusals } from './routes/refusals.ts'
import {
  contentResponse,
  isFieldValue,
  preflightResponse,
  problemResponse,
  unparsableResponse,
} from './routes/respond.ts'
import type { Method, Route, RouteResult } from './routes/route.ts'
import { createRouter, createRoutes } from './routes/routes.ts'
import { type StreamRequestParts, streamRequest } from './routes/streams.ts'
import type { Exchange, HttpHandler, ReceivedRequest, ResponseData } from './transport/port.ts'
import { framingProblem, type RequestHead } from './transport/request-head.ts'

/** What the request handler is made of. */
export interface AppParts {
  readonly config: Config
  readonly services: Services
  readonly log: Log
  readonly metrics: Metrics
  /** What `/metrics` shows, if it is more than the metrics of this process. */
  readonly allMetrics?: AllMetrics | undefined
  /** What other processes count for the limits, if there are several. */
  readonly shares?: CountSharing | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** 0 ≤ value < 1, for log sampling. */
  readonly random?: () => number
  readonly keys: ApiKeys
  /** Needed if the configuration accepts tokens. */
  readonly issuerKeys?: IssuerKeys | undefined
  /** The sessions of accounts, if wallets may sign in. */
  readonly sessions?: SessionTable | undefined
  /** Counts what each API key uses; undefined if nothing stores it. */
  readonly usage?: UsageRecorder | undefined
  /** Routes in addition to those of the table. */
  readonly extraRoutes?: readonly Route[]
}

/** The request handler that both transports call, and the table of routes. */
export interface App {
  readonly handler: HttpHandler
  readonly routes: readonly Route[]
}

/** Paths that a node without clients answers. */
const OPERATOR_PATHS = /^\/(health|ready|metrics|api\/sync.*)$/

const NO_BODY = new Uint8Array(0)
const KEY_REQUIRED: ProblemData = { type: 'unauthorized', detail: 'An API key is required' }
/**
 * Problems with which a stream may fail after its response has begun, or after it was refused because other nodes had counted the request or
 * its key is wrong. They are not logged as errors: any client could fill the log.
 */
const EXPECTED_FAILURES: ReadonlySet<ProblemType> = new Set(['rate-limited', 'overloaded', 'unauthorized', 'forbidden'])
const FAILED: ProblemData = { type: 'internal', detail: 'something failed on our side; report the requestId' }

/**
 * Wires the routes, the API keys, the rate limit, the access log and the metrics into one handler.
 *
 * @throws {ConfigError} if a trusted proxy is not an address or a CIDR range
 */
export function createApp(parts: AppParts): App {
  const { config, services, metrics, allMetrics = metrics, extraRoutes = [] } = parts
  const all = [...createRoutes(services, config, allMetrics), ...extraRoutes]
  const routes = servesClients(config.role) ? all : all.filter(({ path }) => OPERATOR_PATHS.test(path))
  const handler = new RequestHandler(parts, routes)
  return { handler, routes }
}

/** Returns why a request must not use a route of accounts. A wrong token has its own problem. */
function checkSession({ holder, session }: RequestState): ProblemData | undefined {
  if (session !== undefined || holder === 'invalid') return undefined
  const detail = 'this route needs the token of a session as Authorization: Bearer; POST /auth/siwe opens one'
  return { type: 'unauthorized', detail }
}

/** Whether a request has the session that its route needs, or else a valid key. */
function hasHolder({ holder, session }: RequestState, { needsSession }: Route): boolean {
  return needsSession === true ? session !== undefined : typeof holder === 'object'
}

/** Who asks. */
interface Caller {
  readonly holder: KeyHolder | 'invalid' | undefined
  readonly subject: Subject
  /** Subject of the network address, for an account of a wallet. */
  readonly walletAddress: string | undefined
  /** Why its token is not valid, if that is why the holder is `invalid`. */
  readonly tokenProblem: ProblemData | undefined
  /** Set if the store has to be asked who has its token. */
  readonly unread: UnreadToken | undefined
}

/**
 * Takes a request from its head to its finished response: who asks, which route, what is checked before the body, what the
 * route returns, and what is counted and logged at the end.
 */
class RequestHandler implements HttpHandler {
  readonly #config: Config
  readonly #services: Services
  readonly #log: Log
  readonly #now: () => number
  readonly #findPath: ReturnType<typeof createRouter>
  readonly #keys: ApiKeys
  readonly #tokens: Tokens | undefined
  /** The last token that was verified. */
  #verified: { readonly head: RequestHead; readonly found: KeyHolder | TokenProblem } | undefined
  readonly #sessions: SessionTokens | undefined
  readonly #limits: ClientLimits
  readonly #trusted: readonly AddressRange[]
  /** True until the log says that the headers of a proxy are ignored. Without `PUBLIC_URL`, no proxy is expected. */
  #warnsOfProxy: boolean
  readonly #isLocalCaller: ReturnType<typeof createLocalCheck>
  readonly #writeAccess: ReturnType<typeof createAccessLog>
  readonly #countRequest: ReturnType<typeof createRequestMetrics>
  readonly #rejected: Counter
  /** Where wallets get a key with a higher limit than callers without one; undefined if they cannot. */
  readonly #signInPage: string | undefined
  readonly #usage: UsageMeter | undefined
  readonly #streamParts: StreamRequestParts
  readonly #refusals = new Refusals()
  readonly #nextRequestId = createRequestIds()
  readonly #notFoundPage = createNotFoundPage()

  constructor(
    { config, services, log, metrics, shares, keys, issuerKeys, sessions, usage, now, random = Math.random }: AppParts,
    routes: readonly Route[],
  ) {
    this.#config = config
    this.#services = services
    this.#log = log
    this.#now = now
    this.#findPath = createRouter(routes)
    this.#keys = keys
    this.#tokens = config.tokens && issuerKeys && new Tokens(config.tokens, issuerKeys, metrics)
    const tiers = { walletTier: config.walletTier, holders: config.walletTierToken }
    this.#sessions = sessions && new SessionTokens(sessions, (session) => sessionTier(tiers, session))
    this.#usage = usage && new UsageMeter(usage, routes)
    this.#limits = new ClientLimits(config, metrics, now, shares)
    this.#trusted = parseRanges(config.trustedProxies)
    this.#warnsOfProxy = config.publicUrl !== undefined && this.#trusted.length === 0
    this.#isLocalCaller = hasLocalTier(config) ? createLocalCheck(config) : () => false
    this.#writeAccess = createAccessLog(log, config.logSampleRatio, random)
    this.#countRequest = createRequestMetrics(metrics)
    this.#rejected = metrics.counter(
      'ratelimit_rejected_total',
      'Requests rejected because the hourly limit was reached',
    )
    // From 0 on, so that a rate over time includes the first rejection.
    for (const tier of LIMIT_NAMES) this.#rejected.series({ tier })
    const hasHigherTier = sessions !== undefined && config.walletTier !== 'public'
    this.#signInPage = hasHigherTier ? `${config.publicUrl?.replace(/\/$/, '') ?? ''}/explore/account` : undefined
    this.#streamParts = {
      limits: this.#limits,
      signInPage: this.#signInPage,
      items: createItemMetrics(metrics),
      now,
      succeed: (state, result) => this.#succeed(state, result),
      fail: (state, error) => this.#failStream(state, error),
      report: (state, error) => this.#report(state, error),
      finish: (state, status) => this.#finish(state, status),
    }
  }

  refuse(request: ReceivedRequest): ResponseData<string> | undefined {
    if (!this.#services.isCrowded()) return undefined
    try {
      return this.#refuseInOverload(request)
    } catch (error) {
      this.#log.error('refusing failed', { error: inspect(error, { depth: 4 }) })
      return undefined
    }
  }

  #refuseInOverload(request: ReceivedRequest): ResponseData<string> | undefined {
    const { method, path, head, startedMs } = request
    const route = method === 'POST' || method === 'GET' ? this.#findPath(path)?.byMethod[method] : undefined
    if (route?.refusal === undefined || framingProblem(method, head) !== undefined) return undefined
    const nowMs = this.#now()
    const { holder, subject, walletAddress } = this.#findCaller(request, nowMs)
    const problem = route.refusal(subject, head.bodyBytes)
    if (problem === undefined) return undefined
    const tier = tierOf(holder, subject)
    const requestId = this.#findRequestId(head)
    const limit = limitOf(this.#config, tier, holder)
    const client = { subject, limit, budget: this.#limits.budgets[tier], walletAddress }
    const facts = {
      subject,
      problem,
      rate: this.#limits.rate(client, nowMs),
      costs: this.#limits.costs(client, nowMs),
      seconds: Math.floor(nowMs / 1000),
      path,
      errorTypeBase: errorTypeBase(this.#config, head),
    }
    const response = this.#refusals.respond(requestId, facts, () => this.#describeRefusal(facts, client, nowMs))
    const durationMs = performance.now() - startedMs
    this.#usage?.count(holder, route, nowMs, response.status)
    this.#count({ requestId, method, route: route.path, status: response.status, durationMs, tier, subject })
    return response
  }

  #describeRefusal({ rate, costs, path, errorTypeBase }: RefusalFacts, client: LimitedClient, nowMs: number) {
    const policies = this.#limits.policies(client)
    const remaining = this.#limits.remaining(rate, client.budget, costs, nowMs)
    return { rate, policies, remaining, nowMs, path, errorTypeBase }
  }

  handle(exchange: Exchange): void {
    const state = this.#begin(exchange)
    const framing = framingProblem(exchange.method, exchange.head)
    if (framing !== undefined) {
      this.decline(exchange, framing, true)
      return
    }
    const path = this.#findPath(exchange.path)
    if (path === undefined) {
      this.decline(
        exchange,
        { type: 'not-found', detail: 'no route matches this path; GET / lists every route' },
        false,
      )
      return
    }
    const { method } = exchange
    if (method === 'OPTIONS') {
      this.#respond(state, preflightResponse(this.#withRate(state), path.allow))
      return
    }
    const route = path.byMethod[(method === 'HEAD' ? 'GET' : method) as Method]
    if (route === undefined) {
      state.allow = path.allow
      const detail = `this path does not support ${method}; use ${path.allow}`
      this.decline(exchange, { type: 'method-not-allowed', detail }, false)
      return
    }
    state.route = route
    state.parameter = path.parameter(exchange.path)
    if (route.countsForAddress === true) state.dropKey(this.#findSubject(exchange, undefined))
    else if (state.unread !== undefined && (route.counts || route.scope !== undefined)) {
      this.#readSession(state, state.unread, route)
      return
    }
    const problem = this.#checkBeforeBody(state, route)
    if (problem !== undefined) this.decline(exchange, problem, false)
    else if (route.stream !== undefined && method !== 'HEAD') this.#stream(state, route.stream)
    else if (route.method === 'GET' || route.method === 'DELETE') this.#runAdmitted(state, route, NO_BODY)
    else exchange.readBody(state.subject, (body) => this.#runAdmitted(state, route, body))
  }

  /**
   * Handles a request whose token this process does not know: that of a session which another process has just opened, or a wrong one.
   * Its body arrives meanwhile. A stream has to be tried again, because it begins before the answer of the store, and so has a
   * body from an address that has used up what it has without a key.
   */
  #readSession(state: RequestState, unread: UnreadToken, route: Route): void {
    const { exchange } = state
    const isRead = this.#sessions!.read(unread, state.nowMs)
    if (route.stream !== undefined && exchange.method !== 'HEAD') {
      this.decline(exchange, SESSIONS_NOT_READ, false)
      return
    }
    const hasBody = route.method !== 'GET' && route.method !== 'DELETE'
    if (hasBody) {
      // Until the store has answered, the request is one of its address. Otherwise made-up tokens would let it send any number of bytes.
      const isUsedUp = this.#limits.rate(state, state.nowMs).remaining === 0
      if (isUsedUp || this.#limits.costProblem(state, state.nowMs, 'request') !== undefined) {
        this.decline(exchange, SESSIONS_NOT_READ, false)
        return
      }
      exchange.costs = this.#limits.meter(state, state.nowMs)
    }
    // The address may be read only now.
    state.addressSubject = addressKey(this.#clientAddress(exchange))
    const run = (body: Uint8Array) => {
      isRead
        .then(() => {
          if (exchange.aborted) return
          const found = this.#verifyToken(exchange, state.nowMs)
          if (found !== undefined && 'subject' in found) state.identify(found)
          else if (found !== undefined && 'problem' in found) state.tokenProblem = found.problem
          else state.tokenProblem = SESSIONS_NOT_READ
          const problem = this.#checkBeforeBody(state, route)
          if (problem === undefined) this.#runAdmitted(state, route, body)
          else this.decline(exchange, problem, false)
        })
        .catch((error: unknown) => this.fail(exchange, error))
    }
    if (hasBody) exchange.readBody(state.subject, run)
    else run(NO_BODY)
  }

  decline(exchange: Exchange, problem: ProblemData, close: boolean): void {
    if (exchange.answered || exchange.aborted) return
    const state = this.#findState(exchange)
    const sendProblem = () => {
      const response = problemResponse(this.#withRate(state), problem, state.allow, prefersPage(exchange))
      this.#respond(state, close ? { ...response, close } : response)
    }
    const page = close ? undefined : this.#notFoundPage(state, problem)
    if (page === undefined) sendProblem()
    else page.then((response) => this.#succeed(state, response), sendProblem)
  }

  /** Sends a `ProblemError` to the client. Any other error is logged in full, and the client sees only `internal`. */
  fail(exchange: Exchange, error: unknown): void {
    if (error instanceof ProblemError) {
      this.decline(exchange, error.data, false)
      return
    }
    this.#report(this.#findState(exchange), error)
    this.decline(exchange, FAILED, false)
  }

  #report({ requestId }: RequestState, error: unknown): void {
    this.#log.error('request failed', { id: requestId, error: inspect(error, { depth: 4 }) })
  }

  abandoned(exchange: Exchange): void {
    const state = exchange.state as RequestState | undefined
    if (state === undefined) return
    this.#finish(state, 499)
    state.onDisconnect?.()
  }

  unparsable(status: 400 | 408 | 431, peer: Uint8Array): ResponseData<string> {
    const config = this.#config
    const nowMs = this.#now()
    const budget = this.#limits.budgets.public
    const client = { subject: addressKey(peer), limit: budget.requests, budget, walletAddress: undefined }
    const rate = this.#limits.rate(client, nowMs)
    const remaining = this.#limits.remaining(rate, budget, this.#limits.costs(client, nowMs), nowMs)
    const limits = { rate, policies: budget.policies, remaining }
    const context = { requestId: this.#nextRequestId(), ...limits, nowMs, path: '/' }
    return unparsableResponse(status, { ...context, errorTypeBase: errorTypeBase(config, undefined) })
  }

  /** Creates a request's state. */
  #begin(exchange: Exchange): RequestState {
    const nowMs = this.#now()
    exchange.deadlineMs = nowMs + this.#config.limits.requestDeadlineMs
    if (this.#warnsOfProxy && exchange.head.isForwarded) this.#warnOfProxy()
    const caller = this.#findCaller(exchange, nowMs)
    exchange.client = caller.subject
    const requestId = this.#findRequestId(exchange.head)
    const state = new RequestState(exchange, this.#config, this.#limits, { requestId, nowMs, ...caller })
    exchange.state = state
    return state
  }

  /**
   * Finds out who asks. Reads the address only if there is no valid key, or that of an account of a wallet, because that takes as long as
   * everything else here.
   */
  #findCaller(request: ReceivedRequest, nowMs: number): Caller {
    const known = this.#keys.findHolder(request.head, nowMs)
    const verified = known === 'invalid' ? this.#verifyToken(request, nowMs) : undefined
    const tokenProblem = verified !== undefined && 'problem' in verified ? verified.problem : undefined
    const holder = verified !== undefined && 'subject' in verified ? verified : known
    const subject = typeof holder === 'object' ? holder.subject : this.#findSubject(request, holder)
    const unread = verified !== undefined && 'unread' in verified ? verified : undefined
    const isWallet = typeof holder === 'object' && holder.isWallet
    const walletAddress = isWallet ? walletAddressSubject(addressKey(this.#clientAddress(request))) : undefined
    return { holder, subject, walletAddress, tokenProblem, unread }
  }

  /** Verifies what a request carries instead of an API key, if it looks like a token. */
  #verifyToken(request: ReceivedRequest, nowMs: number): KeyHolder | TokenProblem | UnreadToken | undefined {
    if (this.#tokens === undefined && this.#sessions === undefined) return undefined
    const token = bearerTokenOf(request.head)
    if (token === undefined) return undefined
    if (this.#sessions !== undefined && SessionTokens.hasForm(token)) return this.#sessions.find(token, nowMs)
    if (this.#tokens === undefined || !Tokens.hasForm(token)) return undefined
    // A request that `refuse` let through comes again. Its token is verified, and counted if it is wrong, once.
    if (this.#verified?.head === request.head) return this.#verified.found
    const found = this.#tokens.find(token, nowMs, () => addressKey(this.#clientAddress(request)))
    this.#verified = { head: request.head, found }
    return found
  }

  /** Returns the subject of a request without a valid key. A wrong key never gets the tier of this machine. */
  #findSubject(request: ReceivedRequest, holder: 'invalid' | undefined): Subject {
    if (holder === undefined && this.#isLocalCaller(request)) return LOCAL_CALLER
    return addressKey(this.#clientAddress(request))
  }

  #clientAddress({ peer, head }: ReceivedRequest): Uint8Array {
    return clientAddress(peer, head.forwardedFor, this.#trusted)
  }

  /** Warns once: any client may send such a header, and must not fill the log. */
  #warnOfProxy(): void {
    this.#warnsOfProxy = false
    this.#log.warn('headers of a proxy are ignored', {
      reason:
        'a request has X-Forwarded-For, Forwarded or a similar header, but TRUSTED_PROXIES is not set: if it came through your proxy, set TRUSTED_PROXIES to the address of the proxy; until then all its clients share one limit',
    })
  }

  #findRequestId({ requestId }: RequestHead): string {
    return isRequestId(requestId) ? requestId : this.#nextRequestId()
  }

  /** Returns the state of a request, which the transport may decline or fail before `handle` has seen it. */
  #findState(exchange: Exchange): RequestState {
    return (exchange.state as RequestState | undefined) ?? this.#begin(exchange)
  }

  /** Runs the checks that do not need the body. */
  #checkBeforeBody(state: RequestState, route: Route): ProblemData | undefined {
    const { exchange } = state
    const refusal = this.#checkCaller(state, route)
    const holderCounts = hasHolder(state, route) ? route.holderCounts : undefined
    const counts = route.counts && holderCounts === undefined
    const isMetered = counts || route.isMetered === true || holderCounts === 'cost'
    const problem =
      route.authorize?.(exchange) ??
      route.refusal?.(exchange.client, exchange.head.bodyBytes) ??
      (counts ? this.#admit(state, refusal) : (refusal ?? (route.scope && state.tokenProblem))) ??
      (isMetered ? this.#meter(state, route) : undefined)
    if (problem !== undefined) return problem
    const { contentEncoding } = exchange.head
    if (route.method === 'GET' || contentEncoding === undefined || contentEncoding.toLowerCase() === 'identity') {
      return undefined
    }
    return {
      type: 'unsupported-media-type',
      detail: 'Content-Encoding is not accepted; send the body uncompressed',
    }
  }

  /**
   * Checks the hourly limit, then the key. A wrong key counts against the address, which limits the guessing of keys.
   *
   * @param refusal why the key must not be used for this request
   */
  #admit(state: RequestState, refusal: ProblemData | undefined): ProblemData | undefined {
    const judge = (granted: number) => this.#judgeRate(state, granted === 1) ?? refusal ?? this.#judgeHolder(state)
    const granted = this.#limits.take(state, 1, state.nowMs)
    if (typeof granted === 'number') return judge(granted)
    state.admission = granted.then(judge)
    // If the request is refused for another reason, nothing else waits for this.
    state.admission.catch(() => {})
    return refusal
  }

  #judgeRate(state: RequestState, isAdmitted: boolean): ProblemData | undefined {
    const rate = this.#limits.rate(state, state.nowMs)
    state.knownRate = rate
    if (isAdmitted) return undefined
    const { limitName } = state
    this.#rejected.series({ tier: limitName }).count++
    // Some of the limit remains, but only the database knows whether other nodes have used it.
    return rate.remaining > 0
      ? uncountedProblem(rate.limit)
      : rateLimitProblem(rate.limit, limitName, 'answer', state.hintedClient(this.#signInPage))
  }

  #judgeHolder({ holder, exchange, tokenProblem, hasDroppedKey }: RequestState): ProblemData | undefined {
    if (holder === 'invalid') return tokenProblem ?? this.#keys.explainInvalid(exchange.head)
    return holder === undefined && !hasDroppedKey && this.#config.requireApiKey ? KEY_REQUIRED : undefined
  }

  /** Returns why who asks must not use the route. */
  #checkCaller(state: RequestState, route: Route): ProblemData | undefined {
    if (route.needsSession === true) return checkSession(state)
    return route.scope !== undefined || route.needsKey === true ? this.#checkKey(state, route) : undefined
  }

  /**
   * Checks what the key of a request may be used for. If it must not be used, the request counts against the address: who has stolen a
   * key cannot use up the limit of its holder from another address.
   */
  #checkKey(state: RequestState, { scope, needsKey }: Route): ProblemData | undefined {
    const { holder, exchange } = state
    if (typeof holder !== 'object')
      return (scope === 'admin' || needsKey === true) && holder === undefined ? KEY_REQUIRED : undefined
    const refusal = keyProblem(holder, scope, exchange.head, () => this.#clientAddress(exchange))
    if (refusal !== undefined) state.dropKey(state.addressSubject ?? addressKey(this.#clientAddress(exchange)))
    return refusal
  }

  /** Checks the hourly budgets, and has what the request costs charged to its client. */
  #meter(state: RequestState, route: Route): ProblemData | undefined {
    const { nowMs, exchange } = state
    const windows = this.#limits.meter(state, nowMs)
    const meter = route.stream === undefined ? windows : this.#limits.streamMeter(state, this.#now)
    state.usage = this.#usage?.begin(state.holder, route, nowMs, meter)
    exchange.costs = state.usage ?? meter
    return this.#limits.costProblem(state, nowMs, 'request')
  }

  /** Reads the state of the hourly limit, which every response carries, even where requests are not counted (decision 46). */
  #withRate(state: RequestState): RequestState {
    state.knownRate ??= this.#limits.rate(state, state.nowMs)
    state.knownCosts ??= this.#limits.costs(state, state.nowMs)
    return state
  }

  /** Runs a request, after other nodes were asked for its quota if that was necessary. Its body arrives meanwhile. */
  #runAdmitted(state: RequestState, route: Route, body: Uint8Array): void {
    const { admission, exchange } = state
    if (admission === undefined) {
      this.#run(state, route, body)
      return
    }
    admission
      .then((problem) => {
        if (problem !== undefined) this.decline(exchange, problem, false)
        else if (!exchange.aborted) this.#run(state, route, body)
      })
      .catch((error: unknown) => this.fail(exchange, error))
  }

  /** Begins a stream before its quota is known, because its body arrives meanwhile. What it answers or stores waits for the quota. */
  #stream(state: RequestState, begin: NonNullable<Route['stream']>): void {
    begin(streamRequest(state, this.#streamParts))
    state.admission
      ?.then((problem) => {
        if (problem === undefined) return
        this.decline(state.exchange, problem, false)
        state.onDisconnect?.()
      })
      .catch((error: unknown) => this.fail(state.exchange, error))
  }

  #run(state: RequestState, route: Route, body: Uint8Array): void {
    // A route that counts charges its work itself.
    const response =
      route.isMetered === true ? chargeTime(state.exchange, () => route.run(state, body)) : route.run(state, body)
    if (response instanceof Promise) {
      response.then(
        (value) => this.#succeed(state, value),
        (error) => this.fail(state.exchange, error),
      )
    } else this.#succeed(state, response)
  }

  #succeed(state: RequestState, response: RouteResult): void {
    const { status = 200, kind = 'json', json, headers } = response
    const { exchange, route } = state
    if (route?.isMetered === true && exchange.method !== 'HEAD')
      exchange.costs?.charge('bytes', Buffer.byteLength(json))
    const extra: string[] = []
    for (const name in headers) {
      const value = headers[name]!
      if (!isFieldValue(value)) {
        this.fail(exchange, new Error(`header ${name} cannot be sent`))
        return
      }
      extra.push(name, value)
    }
    this.#respond(state, contentResponse(this.#withRate(state), status, kind, json, extra))
  }

  /** Reports a failed stream. Once the response has begun, only its missing end can tell the client. */
  #failStream(state: RequestState, error: unknown): void {
    const { exchange } = state
    if (!exchange.answered || exchange.aborted) {
      this.fail(exchange, error)
      return
    }
    const isExpected = error instanceof ProblemError && EXPECTED_FAILURES.has(error.data.type)
    if (!isExpected) this.#log.error('stream failed', { id: state.requestId, error: inspect(error, { depth: 4 }) })
    exchange.breakStream()
  }

  #respond(state: RequestState, response: ResponseData): void {
    const { exchange } = state
    if (exchange.answered || exchange.aborted) return
    exchange.answer(response)
    this.#finish(state, response.status)
  }

  /** Counts and logs a finished request. Every request passes here exactly once, except those that `refuse` answers. */
  #finish({ exchange, requestId, route, tier, subject, holder, usage, nowMs }: RequestState, status: number): void {
    if (usage === undefined) this.#usage?.count(holder, route, nowMs, status)
    else usage.finish(route, status)
    const durationMs = performance.now() - exchange.startedMs
    const { method } = exchange
    this.#count({ requestId, method, route: route?.path ?? 'none', status, durationMs, tier, subject })
  }

  #count(request: FinishedRequest): void {
    this.#countRequest(request)
    this.#writeAccess(request)
  }
}
