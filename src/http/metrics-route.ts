import type { Metrics } from '../metrics.ts'
import { ProblemError } from '../problem.ts'
import type { Exchange } from './port.ts'
import type { Route } from './routes.ts'

/** `GET /metrics` as Prometheus text: for this machine alone unless the operator opens it. */
export function metricsRoute(metrics: Metrics, isPublic: boolean): Route {
  return {
    method: 'GET',
    path: '/metrics',
    summary: 'counters and histograms as Prometheus text',
    counts: false,
    run: ({ exchange }) => {
      if (!isPublic && !isLocal(exchange)) {
        throw new ProblemError({
          type: 'not-found',
          detail: 'metrics are served to the machine they are of; METRICS_PUBLIC=1 opens them to everybody',
        })
      }
      return { json: metrics.render(), kind: 'metrics' }
    },
  }
}

/** A loopback peer that forwards for nobody. */
function isLocal({ peer, head }: Exchange): boolean {
  if (head.forwardedFor !== undefined) return false
  if (peer.length === 4) return peer[0] === 127
  const isMapped = peer.subarray(0, 10).every((byte) => byte === 0) && peer[10] === 0xff && peer[11] === 0xff
  return isMapped ? peer[12] === 127 : peer.subarray(0, 15).every((byte) => byte === 0) && peer[15] === 1
}
