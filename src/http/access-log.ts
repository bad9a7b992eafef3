import { createHash, randomBytes } from 'node:crypto'
import type { Tier } from '../config.ts'
import type { Log } from '../log.ts'
import type { Subject } from './rate-limit.ts'

/** One request after its end. Never its body, its key or its address in clear. */
export interface RequestRecord {
  readonly requestId: string
  readonly method: string
  /** Path of the route, not of the request: a bounded set of words. */
  readonly route: string
  /** 499: the client left before the answer. */
  readonly status: number
  readonly durationMs: number
  readonly tier: Tier
  /** The address or the key's digest; only a salted hash of it is written. */
  readonly subject: Subject
}

const SLOW_MS = 1000

/**
 * Writes one line for a sample of the requests, and for every one that failed on our side or was slow.
 *
 * @param sampleRatio 1: each; 0: none but failures and slow ones
 * @param random 0 ≤ value < 1
 */
export function createAccessLog(log: Log, sampleRatio: number, random: () => number) {
  // A new salt each start: lines of one run can be joined by client, and nobody can be looked up.
  const salt = randomBytes(16)
  return (record: RequestRecord): void => {
    // Probes come every few seconds; that the service is not ready is logged when it changes.
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
