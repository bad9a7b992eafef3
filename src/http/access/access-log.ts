import { createHash, randomBytes } from 'node:crypto'
import type { Log } from '../../base/log.ts'
import type { Tier } from '../../config/config.ts'
import type { Subject } from './rate-limit.ts'

/** A finished request, as it is logged. The log never holds its body, its API key or its address in clear. */
export interface RequestRecord {
  readonly requestId: string
  readonly method: string
  /** Path of the route, not of the request, so that the number of distinct values is bounded. */
  readonly route: string
  /** 499: the client disconnected before the response. */
  readonly status: number
  readonly durationMs: number
  readonly tier: Tier
  /** Address or digest of the API key; only a salted hash of it is logged. */
  readonly subject: Subject
}

const SLOW_MS = 1000

/**
 * Returns a function that logs a sample of the requests, and every request that ended with a 5xx status or took longer than
 * one second.
 *
 * @param sampleRatio 1 logs every request; 0 logs only failed and slow ones
 * @param random 0 ≤ value < 1
 */
export function createAccessLog(log: Log, sampleRatio: number, random: () => number) {
  // A new salt at each start: lines of one run can be grouped by client, but no client can be identified.
  const salt = randomBytes(16)
  return (record: RequestRecord): void => {
    // Probes arrive every few seconds, and each change of readiness has its own log line.
    const isProbe = record.route === '/ready'
    const isRemarkable = (record.status >= 500 && !isProbe) || record.durationMs > SLOW_MS
    if (!isRemarkable && random() >= sampleRatio) return
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
