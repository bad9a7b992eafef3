import type { RecordFeeds } from '../../service/records/record-services.ts'
import { recordProblem } from '../../validation/record-query.ts'
import { StreamSink } from '../transport/stream-sink.ts'
import { negotiateFormat } from './record-format.ts'
import type { Route, StreamRequest } from './routes.ts'

const EXPORT_FORMATS = { ndjson: 'application/x-ndjson', geojsonseq: 'application/geo+json-seq' } as const
/** Turns off buffering in proxies, which would hold back every event. */
export const NO_BUFFERING_HEADER = ['X-Accel-Buffering', 'no']

/** Returns the routes for clients that want all records: the export, and the stream of changes. */
export function feedRoutes(feeds: RecordFeeds): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/v0/location-records/export',
      summary: 'exports all matching location records, one per line',
      counts: false,
      run: ({ exchange }) => ({
        json: '',
        kind: negotiateFormat(exchange.query, exchange.head.accept, EXPORT_FORMATS),
      }),
      stream(request) {
        const { query, head } = request.exchange
        const format = negotiateFormat(query, head.accept, EXPORT_FORMATS)
        const sink = new StreamSink(request, format, ['Vary', 'Accept'])
        feeds.export(format, query, request, sink).then(
          () => sink.end(),
          (error) => request.fail(error),
        )
      },
    },
    {
      method: 'GET',
      path: '/api/v0/location-records/stream',
      summary: 'streams new, revoked and rolled-back location records (server-sent events)',
      counts: false,
      run: () => ({ json: '', kind: 'events' }),
      stream(request) {
        const sink = new StreamSink(request, 'events', NO_BUFFERING_HEADER)
        feeds.stream(request.exchange.query, lastEventId(request), request.owner, sink).then(
          () => sink.end(),
          (error) => request.fail(error),
        )
      },
    },
  ]
}

/** Reads the header that browsers send when they reconnect, or else the parameter, for clients that cannot set a header. */
function lastEventId({ exchange }: StreamRequest): string | undefined {
  if (exchange.head.lastEventId !== undefined) return exchange.head.lastEventId
  const values = new URLSearchParams(exchange.query).getAll('lastEventId')
  if (values.length > 1) throw recordProblem('Duplicate parameter', 'lastEventId appears more than once; send it once')
  return values[0]
}
