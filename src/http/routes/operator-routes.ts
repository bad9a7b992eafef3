import { ProblemError } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { SyncService } from '../../service/records/record-services.ts'
import { createInternalCheck, isFromThisMachine } from '../access/internal-check.ts'
import { NO_BUFFERING_HEADER } from './record-routes.ts'
import { getRoute, type Route } from './route.ts'
import { StreamSink } from './streams.ts'

/** Returns the routes of the sync API, which are internal to the deployment (decision 85). */
export function syncRoutes(sync: SyncService, config: Config): Route[] {
  const authorize = createInternalCheck(config)
  const internal = (method: Route['method'], path: string, summary: string, run: Route['run']): Route => ({
    method,
    path: `/api/sync${path}`,
    summary: `${summary}; internal`,
    counts: false,
    authorize,
    run,
  })
  return [
    internal('POST', '', 'reads location attestations of all chains, or of ?chain=, now', ({ exchange }) =>
      sync.trigger(exchange.query),
    ),
    internal('GET', '/status', 'how far each chain has been read', ({ exchange }) => sync.status(exchange)),
    {
      ...internal('GET', '/events', 'the sync status as server-sent events, after each change', () => ({
        json: '',
        kind: 'events',
      })),
      stream(request) {
        const sink = new StreamSink(request, 'events', NO_BUFFERING_HEADER)
        sink.endAfter(sync.watch(sink))
      },
    },
    internal('POST', '/revocations', 'checks all valid records for revocation now', () => sync.revocations()),
    internal(
      'POST',
      '/worker',
      'starts or stops the background worker, with ?action=start or ?action=stop',
      ({ exchange }) => sync.worker(exchange.query, exchange),
    ),
  ]
}

/** The metrics of this process or, with several processes, of all of them. */
export interface AllMetrics {
  render(): string | Promise<string>
}

/** Returns the route `GET /metrics` (Prometheus text). Only this machine may read it, unless the operator opens it. */
export function metricsRoute(metrics: AllMetrics, config: Pick<Config, 'publicMetrics'>): Route {
  return getRoute('/metrics', 'counters and histograms as Prometheus text', async ({ exchange }) => {
    if (!config.publicMetrics && !isFromThisMachine(exchange)) {
      throw new ProblemError({
        type: 'not-found',
        detail:
          'metrics are served only to this machine, by a loopback name or address and without a proxy; METRICS_PUBLIC=1 opens them to everyone',
      })
    }
    return { json: await metrics.render(), kind: 'metrics' }
  })
}
