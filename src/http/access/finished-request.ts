/** What remains of a request after its response: a line in the access log, and its counts in the metrics. */
import { createHash, randomBytes } from 'node:crypto'
import type { Log } from '../../base/log.ts'
import type { Metrics, Series } from '../../base/metrics.ts'
import type { ProblemType } from '../../base/problem.ts'
import type { Tier } from '../../wire/key-messages.ts'
import type { LimitName, Subject } from './rate-limit.ts'

/** A finished request, as it is logged and counted. It never holds the body, the API key or the address in clear. */
export interface FinishedRequest {
  readonly requestId: string
  readonly method: string
  /** The route's path with its placeholders, or `none`, so that clients cannot create new log values and series. */
  readonly route: string
  /** 499: the client disconnected before the response. */
  readonly status: number
  readonly durationMs: number
  readonly tier: Tier
  /** Address or digest of the API key; only a salted hash of it is logged. */
  readonly subject: Subject
}

const SLOW_MS = 1000
/** In an overload, a line for each refusal would cost more than the refusal itself, and fill the disk. */
const MAX_REMARKABLE_A_SECOND = 100

/**
 * Returns a function that logs a sample of the requests, and every request that ended with a 5xx status or took longer than
 * one second, up to a number of these per second.
 *
 * @param sampleRatio 1 logs every request; 0 logs only failed and slow ones
 * @param random 0 ≤ value < 1
 */
export function createAccessLog(log: Log, sampleRatio: number, random: () => number) {
  // A new salt at each start: lines of one run can be grouped by client, but no client can be identified.
  const salt = randomBytes(16)
  let second = 0
  let remarkable = 0
  const isNoted = (): boolean => {
    const now = Math.floor(performance.now() / 1000)
    if (now !== second) remarkable = 0
    second = now
    return remarkable++ < MAX_REMARKABLE_A_SECOND
  }
  return (record: FinishedRequest): void => {
    // Probes arrive every few seconds, and each change of readiness has its own log line.
    const isProbe = record.route === '/ready'
    const isRemarkable = (record.status >= 500 && !isProbe) || record.durationMs > SLOW_MS
    if (!(isRemarkable && isNoted()) && random() >= sampleRatio) return
    const fields = {
      id: record.requestId,
      method: record.method,
      route: record.route,
      status: record.status,
      ms: Math.round(record.durationMs * 1000) / 1000,
      tier: record.tier,
      client: createHash('sha256').update(salt).update(String(record.subject)).digest('hex').slice(0, 12),
    }
    if (record.status >= 500) log.warn('request', fields)
    else log.info('request', fields)
  }
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])

/** Returns a function that counts a finished request. */
export function createRequestMetrics(metrics: Metrics): (request: FinishedRequest) => void {
  const requests = metrics.counter(
    'http_requests_total',
    'Requests answered; status 499 if the client disconnected first',
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
  /** Counts items that an hourly limit rejected. */
  countRejected(limit: LimitName, items: number): void
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
    countRejected(limit, count) {
      rejected.series({ tier: limit }).count += count
    },
  }
}
