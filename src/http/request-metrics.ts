import type { Tier } from '../config.ts'
import type { Metrics, Series } from '../metrics.ts'
import type { ProblemType } from '../problem.ts'

/** One finished request as the metrics see it. */
export interface FinishedRequest {
  /** The route's path with its placeholders, or `none`: a client cannot make new series. */
  readonly route: string
  readonly method: string
  readonly status: number
  readonly durationMs: number
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

/** @returns what counts a finished request */
export function createRequestMetrics(metrics: Metrics): (request: FinishedRequest) => void {
  const requests = metrics.counter('http_requests_total', 'Requests answered, 499 where the client left before')
  const durations = metrics.histogram('http_request_duration_seconds', 'From the head of a request to its answer')
  // By route, then method and status: text is made for a line once.
  const known = new Map<string, Map<string, Series>>()

  return ({ route, method, status, durationMs }) => {
    durations.observe(durationMs / 1000)
    let ofRoute = known.get(route)
    if (ofRoute === undefined) {
      ofRoute = new Map()
      known.set(route, ofRoute)
    }
    const key = `${method} ${status}`
    let series = ofRoute.get(key)
    if (series === undefined) {
      series = requests.series({ route, method: METHODS.has(method) ? method : 'other', status: String(status) })
      if (METHODS.has(method)) ofRoute.set(key, series)
    }
    series.count++
  }
}

/** Items of batches, each of which is a request by itself. */
export interface ItemMetrics {
  countItems(outcome: 'ok' | ProblemType, items: number): void
  /** Items that the hourly limit refused. */
  countRejected(tier: Tier, items: number): void
}

export function createItemMetrics(metrics: Metrics): ItemMetrics {
  const items = metrics.counter('batch_items_total', 'Items of batches answered, by ok or the type of their problem')
  const rejected = metrics.counter('ratelimit_rejected_items_total', 'Items of batches beyond the hourly limit')
  const known = new Map<string, Series>()
  return {
    countItems(outcome, count) {
      if (count === 0) return
      let series = known.get(outcome)
      if (series === undefined) {
        series = items.series({ outcome })
        known.set(outcome, series)
      }
      series.count += count
    },
    countRejected(tier, count) {
      rejected.series({ tier }).count += count
    },
  }
}
