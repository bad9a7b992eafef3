/** Computes rates and a percentile from two readings of `/metrics`. */

export interface Reading {
  /** Milliseconds since the epoch. */
  readonly atMs: number
  readonly requests: number
  /** Pairs of an upper bound in seconds and the number of requests up to it. */
  readonly buckets: readonly (readonly [bound: number, count: number])[]
  readonly inFlight: number
  readonly queue: number
  readonly residentBytes: number
  readonly cpuSeconds: number
  readonly uptimeSeconds: number
}

export interface Sample {
  readonly requestsPerSecond: number
  /** Undefined if no request was answered. */
  readonly p99Ms: number | undefined
  readonly waiting: number
  readonly cores: number
}

/** @param text in the Prometheus exposition format */
export function readMetrics(text: string, atMs: number): Reading {
  const values = new Map<string, number>()
  const buckets: [number, number][] = []
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, name = '', labels = '', value = ''] = /^([a-z_]+)(\{.*\})? (\S+)$/.exec(line) ?? []
    if (name === 'http_request_duration_seconds_bucket') {
      const bound = /le="([^"]+)"/.exec(labels)?.[1] ?? ''
      buckets.push([bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), Number(value)])
    } else values.set(name, (values.get(name) ?? 0) + Number(value))
  }
  const get = (name: string) => values.get(name) ?? 0
  return {
    atMs,
    requests: get('http_requests_total'),
    buckets,
    inFlight: get('http_in_flight'),
    queue: get('worker_queue_depth'),
    residentBytes: get('process_resident_memory_bytes'),
    cpuSeconds: get('process_cpu_seconds_total'),
    uptimeSeconds: get('process_uptime_seconds'),
  }
}

/** Returns what happened between two readings; undefined if the service was restarted in between. */
export function sampleBetween(before: Reading, after: Reading): Sample | undefined {
  const seconds = (after.atMs - before.atMs) / 1000
  if (seconds <= 0 || after.requests < before.requests) return undefined
  return {
    requestsPerSecond: (after.requests - before.requests) / seconds,
    p99Ms: percentileMs(before, after, 0.99),
    waiting: after.queue,
    cores: (after.cpuSeconds - before.cpuSeconds) / seconds,
  }
}

/** Interpolates linearly within a bucket, as Prometheus does. */
function percentileMs(before: Reading, after: Reading, share: number): number | undefined {
  const counts = after.buckets.map(
    ([bound, count], index) => [bound, count - (before.buckets[index]?.[1] ?? 0)] as const,
  )
  const total = counts.at(-1)?.[1] ?? 0
  if (total === 0) return undefined
  const rank = share * total
  let [lower, below] = [0, 0]
  for (const [bound, count] of counts) {
    if (count >= rank) {
      if (bound === Number.POSITIVE_INFINITY) return lower * 1000
      const inside = count - below
      return 1000 * (inside === 0 ? bound : lower + ((bound - lower) * (rank - below)) / inside)
    }
    lower = bound
    below = count
  }
  return lower * 1000
}
