import type { Config } from '../config.ts'
import type { SyncService } from '../service/record-services.ts'
import { EVENT_LINES } from './feed-routes.ts'
import { createInternalCheck } from './internal-check.ts'
import type { Route } from './routes.ts'
import { StreamSink } from './stream-sink.ts'

/** The sync API, for this deployment itself (decision 85). */
export function syncRoutes(sync: SyncService, config: Config): Route[] {
  const refusal = createInternalCheck(config)
  const common = { counts: false, refusal }
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
      summary: 'how far the chains are read; internal',
      run: ({ exchange }) => sync.status(exchange),
    },
    {
      ...common,
      method: 'GET',
      path: '/api/sync/events',
      summary: 'the same as server-sent events, whenever it changes; internal',
      run: () => ({ json: '', kind: 'events' }),
      stream(request) {
        const sink = new StreamSink(request, 'events', EVENT_LINES)
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
      summary: 'compares all valid records with their chains now; internal',
      run: () => sync.revocations(),
    },
    {
      ...common,
      method: 'POST',
      path: '/api/sync/worker',
      summary: 'starts or stops the reading in the background: ?action=start or stop; internal',
      run: ({ exchange }) => sync.worker(exchange.query, exchange),
    },
  ]
}
