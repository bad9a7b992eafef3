import type { Config, Tier } from '../../config/config.ts'
import type { SubmissionCaller } from '../../service/request.ts'
import { contentResponse, problemJson, type ResponseContext } from '../routes/respond.ts'
import type { Route, RouteRequest, StreamRequest } from '../routes/route.ts'
import type { Exchange } from '../transport/port.ts'
import type { RequestHead } from '../transport/request-head.ts'
import type { KeyHolder } from './caller.ts'
import type { ItemMetrics } from './finished-request.ts'
import {
  type RateLimiter,
  type RateStatus,
  rateLimitProblem,
  rateStatus,
  type Subject,
  takeQuota,
} from './rate-limit.ts'

/** The state of a request in flight: everything that its response needs. */
export class RequestState implements ResponseContext, RouteRequest {
  readonly exchange: Exchange
  readonly requestId: string
  readonly nowMs: number
  readonly #config: Config
  /** Holder of the request's valid key; `invalid` for a wrong key; undefined without a key. */
  readonly holder: KeyHolder | 'invalid' | undefined
  /** Subject of the rate limit: the key, else the address. */
  readonly subject: Subject
  /** undefined until the window was read. */
  knownRate: RateStatus | undefined = undefined
  route: Route | undefined = undefined
  /** Value of `Allow` if the path does not support the method. */
  allow: string | undefined = undefined
  parameter = ''
  /** Called when the client disconnects during a stream. */
  onDisconnect: (() => void) | undefined = undefined

  constructor(
    exchange: Exchange,
    config: Config,
    facts: {
      readonly requestId: string
      readonly nowMs: number
      readonly holder: KeyHolder | 'invalid' | undefined
      readonly subject: Subject
    },
  ) {
    this.exchange = exchange
    this.#config = config
    this.requestId = facts.requestId
    this.nowMs = facts.nowMs
    this.holder = facts.holder
    this.subject = facts.subject
  }

  get tier(): Tier {
    return typeof this.holder === 'object' ? this.holder.tier : 'public'
  }

  get limit(): number {
    return this.#config.requestsPerHour[this.tier]
  }

  /** State of the limit; the full quota if the window was not read, as for a subject without a window. */
  get rate(): RateStatus {
    return this.knownRate ?? rateStatus(undefined, this.limit, this.nowMs)
  }

  get caller(): SubmissionCaller {
    const { holder, tier, exchange } = this
    const account = typeof holder === 'object' ? holder.subject : undefined
    return { account, tier, idempotencyKey: exchange.head.idempotencyKey }
  }

  get path(): string {
    return this.exchange.path
  }

  get baseUrl(): string {
    return resolveBaseUrl(this.#config, this.exchange.head)
  }

  get errorTypeBase(): string {
    return this.#config.errorTypeBase ?? `${this.baseUrl}/errors`
  }
}

/** Returns `PUBLIC_URL`, or a URL with the client's Host if that is safe to use in one, else with the configured address. */
export function resolveBaseUrl(config: Config, head: RequestHead | undefined): string {
  if (config.publicUrl !== undefined) return config.publicUrl
  const host = head?.host
  return host !== undefined && /^[A-Za-z0-9._:[\]-]{1,255}$/.test(host)
    ? `http://${host}`
    : `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}`
}

export interface StreamRequestParts {
  readonly limiter: RateLimiter
  readonly items: ItemMetrics
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly fail: (state: RequestState, error: unknown) => void
  readonly finish: (state: RequestState, status: number) => void
}

/** Creates the request object of a streaming route. The first item was counted together with the request. */
export function streamRequest(state: RequestState, parts: StreamRequestParts): StreamRequest {
  const { limiter, items: metrics, now, fail, finish } = parts
  const { exchange, subject, limit, tier } = state
  let prepaidItems = 1
  return {
    exchange,
    owner: subject,
    baseUrl: state.baseUrl,
    errorTypeBase: state.errorTypeBase,
    parameter: state.parameter,
    caller: state.caller,
    get aborted() {
      return exchange.aborted
    },
    deadlineMs: exchange.deadlineMs,
    takeQuota(items) {
      const prepaid = Math.min(items, prepaidItems)
      prepaidItems -= prepaid
      const granted = prepaid + takeQuota(limiter.open(subject, now()), limit, items - prepaid)
      if (granted < items) metrics.countRejected(tier, items - granted)
      return granted
    },
    countItems: (outcome, items) => metrics.countItems(outcome, items),
    quotaProblem: rateLimitProblem(limit, tier, 'item'),
    problemJson: (problem) => problemJson(state, problem),
    onDisconnect(listener) {
      state.onDisconnect = listener
    },
    begin(kind, extra) {
      const nowMs = now()
      state.knownRate = rateStatus(limiter.open(subject, nowMs), limit, nowMs)
      return exchange.beginResponse(contentResponse(state, 200, kind, '', extra))
    },
    finish(stream) {
      if (exchange.aborted) return
      stream.end()
      finish(state, 200)
    },
    fail: (error) => fail(state, error),
  }
}
