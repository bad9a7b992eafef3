import { type RateLimiter, rateLimitProblem, rateStatus, takeQuota } from '../access/rate-limit.ts'
import type { ItemMetrics } from '../access/request-metrics.ts'
import type { RequestState } from '../access/request-state.ts'
import { contentResponse, problemJson } from './respond.ts'
import type { StreamRequest } from './route.ts'

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
