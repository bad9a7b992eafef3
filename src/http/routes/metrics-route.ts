import type { Metrics } from '../../base/metrics.ts'
import { ProblemError } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import { isFromThisMachine } from '../access/internal-check.ts'
import type { Route } from './routes.ts'

/** Returns the route `GET /metrics` (Prometheus text). Only this machine may read it, unless the operator opens it. */
export function metricsRoute(metrics: Metrics, config: Config): Route {
  return {
    method: 'GET',
    path: '/metrics',
    summary: 'counters and histograms as Prometheus text',
    counts: false,
    run: ({ exchange }) => {
      if (!config.publicMetrics && !isFromThisMachine(exchange)) {
        throw new ProblemError({
          type: 'not-found',
          detail:
            'metrics are served only to this machine, by a loopback name or address and without a proxy; METRICS_PUBLIC=1 opens them to everyone',
        })
      }
      return { json: metrics.render(), kind: 'metrics' }
    },
  }
}
