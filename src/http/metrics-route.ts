import type { Config } from '../config.ts'
import type { Metrics } from '../metrics.ts'
import { ProblemError } from '../problem.ts'
import { isFromThisMachine } from './internal-check.ts'
import type { Route } from './routes.ts'

/** `GET /metrics` as Prometheus text: for this machine alone unless the operator opens it. */
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
            'metrics are served to this machine by its name or address, without a proxy; METRICS_PUBLIC=1 opens them to everybody',
        })
      }
      return { json: metrics.render(), kind: 'metrics' }
    },
  }
}
