import type { Metrics } from '../metrics.ts'
import { ProblemError } from '../problem.ts'
import { isLoopback } from './client-address.ts'
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
  return head.forwardedFor === undefined && isLoopback(peer)
}
