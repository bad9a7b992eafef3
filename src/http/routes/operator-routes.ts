import type { Metrics } from '../../base/metrics.ts'
import { ProblemError } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { SyncService } from '../../service/records/record-services.ts'
import { createInternalCheck, isFromThisMachine } from '../access/internal-check.ts'
import { NO_BUFFERING_HEADER } from './record-routes.ts'
import type { Route } from './route.ts'
import { StreamSink } from './streams.ts'

/** Returns the routes of the sync API, which are internal to the deployment (decision 85). */
export function syncRoutes(sync: SyncService, config: Config): Route[] {
  const checkInternal = createInternalCheck(config)
  const common = { counts: false, authorize: checkInternal }
  return [
    {
      ...common,
      method: 'POST',
      path: '/api/sync',
      summary: 'reads location attestations of all chains, or of ?chain=, now; internal',
      run: ({ exchange }) => sync.trigger(exchange.query),
    },
    {
      ...common,
      method: 'GET',
      path: '/api/sync/status',
      summary: 'how far each chain has been read; internal',
      run: ({ exchange }) => sync.status(exchange),
    },
    {
      ...common,
      method: 'GET',
      path: '/api/sync/events',
      summary: 'the sync status as server-sent events, after each change; internal',
      run: () => ({ json: '', kind: 'events' }),
      stream(request) {
        const sink = new StreamSink(request, 'events', NO_BUFFERING_HEADER)
        sync.watch(sink).then(
          () => sink.end(),
          (error) => request.fail(error),
        )
      },
    },
    {
      ...common,
      method: 'POST',
      path: '/api/sync/revocations',
      summary: 'checks all valid records for revocation now; internal',
      run: () => sync.revocations(),
    },
    {
      ...common,
      method: 'POST',
      path: '/api/sync/worker',
      summary: 'starts or stops the background worker, with ?action=start or ?action=stop; internal',
      run: ({ exchange }) => sync.worker(exchange.query, exchange),
    },
  ]
}

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
