import { limitReached, type RateLimiter, rateStatus, takeSome } from './rate-limit.ts'
import type { ItemMetrics } from './request-metrics.ts'
import type { RequestState } from './request-state.ts'
import { contentReply, problemJson } from './respond.ts'
import type { StreamRequest } from './routes.ts'

export interface StreamRequestParts {
  readonly limiter: RateLimiter
  readonly items: ItemMetrics
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly fail: (state: RequestState, error: unknown) => void
  readonly finish: (state: RequestState, status: number) => void
}

/** What a route gets that reads and answers piece by piece. Its first item was counted with the request. */
export function streamRequest(state: RequestState, parts: StreamRequestParts): StreamRequest {
  const { limiter, items: metrics, now, fail, finish } = parts
  const { exchange, subject, limit, tier } = state
  let counted = 1
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
      const free = Math.min(items, counted)
      counted -= free
      const granted = free + takeSome(limiter.open(subject, now()), limit, items - free)
      if (granted < items) metrics.countRejected(tier, items - granted)
      return granted
    },
    countItems: (outcome, items) => metrics.countItems(outcome, items),
    quotaProblem: limitReached(limit, tier, 'item'),
    problemJson: (problem) => problemJson(state, problem),
    onGone(listener) {
      state.onGone = listener
    },
    begin(kind, extra) {
      const nowMs = now()
      state.knownRate = rateStatus(limiter.open(subject, nowMs), limit, nowMs)
      return exchange.beginAnswer(contentReply(state, 200, kind, '', extra))
    },
    finish(stream) {
      if (exchange.aborted) return
      stream.end()
      finish(state, 200)
    },
    fail: (error) => fail(state, error),
  }
}
