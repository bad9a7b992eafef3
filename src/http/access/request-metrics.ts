import type { Metrics, Series } from '../../base/metrics.ts'
import type { ProblemType } from '../../base/problem.ts'
import type { Tier } from '../../config/config.ts'

/** The labels and the duration of a finished request. */
export interface FinishedRequest {
  /** The route's path with its placeholders, or `none`, so that clients cannot create new series. */
  readonly route: string
  readonly method: string
  readonly status: number
  readonly durationMs: number
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

/** Returns a function that counts a finished request. */
export function createRequestMetrics(metrics: Metrics): (request: FinishedRequest) => void {
  const requests = metrics.counter(
    'http_requests_total',
    'Requests answered; status 499 if the client disconnected before',
  )
  const durations = metrics.histogram(
    'http_request_duration_seconds',
    'Time from the head of a request to its response',
  )
  // By route, then by method and status, so that the labels of a series are built only once.
  const known = new Map<string, Map<string, Series>>()

  return ({ route, method, status, durationMs }) => {
    durations.observe(durationMs / 1000)
    let routeSeries = known.get(route)
    if (routeSeries === undefined) {
      routeSeries = new Map()
      known.set(route, routeSeries)
    }
    const key = `${method} ${status}`
    let series = routeSeries.get(key)
    if (series === undefined) {
      series = requests.series({ route, method: METHODS.has(method) ? method : 'other', status: String(status) })
      if (METHODS.has(method)) routeSeries.set(key, series)
    }
    series.count++
  }
}

/** Counts the items of batches. */
export interface ItemMetrics {
  countItems(outcome: 'ok' | ProblemType, items: number): void
  /** Counts items that the hourly limit rejected. */
  countRejected(tier: Tier, items: number): void
}

export function createItemMetrics(metrics: Metrics): ItemMetrics {
  const items = metrics.counter('batch_items_total', 'Batch items answered, by ok or problem type')
  const rejected = metrics.counter(
    'ratelimit_rejected_items_total',
    'Batch items rejected because the hourly limit was reached',
  )
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
