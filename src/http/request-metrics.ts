import type { Metrics, Series } from '../metrics.ts'

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
