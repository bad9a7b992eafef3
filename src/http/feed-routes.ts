import type { RecordFeeds } from '../service/record-services.ts'
import { recordProblem } from '../validation/record-query.ts'
import { formatOf } from './record-format.ts'
import type { Route, StreamRequest } from './routes.ts'
import { StreamSink } from './stream-sink.ts'

const EXPORT_FORMATS = { ndjson: 'application/x-ndjson', geojsonseq: 'application/geo+json-seq' } as const
/** Proxies that gather an answer before they pass it on would keep every event back. */
export const EVENT_LINES = ['X-Accel-Buffering', 'no']

/** Records and their changes for those who want all of them. */
export function feedRoutes(feeds: RecordFeeds): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/v0/location-records/export',
      summary: 'every location record that matches, line by line',
      counts: false,
      run: ({ exchange }) => ({ json: '', kind: formatOf(exchange.query, exchange.head.accept, EXPORT_FORMATS) }),
      stream(request) {
        const { query, head } = request.exchange
        const format = formatOf(query, head.accept, EXPORT_FORMATS)
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
      summary: 'location records as they come, are revoked and rolled back (server-sent events)',
      counts: false,
      run: () => ({ json: '', kind: 'events' }),
      stream(request) {
        const sink = new StreamSink(request, 'events', EVENT_LINES)
        feeds.stream(request.exchange.query, lastEventId(request), request.owner, sink).then(
          () => sink.end(),
          (error) => request.fail(error),
        )
      },
    },
  ]
}

/** As browsers send it when they come back, or as a parameter for the first time, when no header can be set. */
function lastEventId({ exchange }: StreamRequest): string | undefined {
  if (exchange.head.lastEventId !== undefined) return exchange.head.lastEventId
  const given = new URLSearchParams(exchange.query).getAll('lastEventId')
  if (given.length > 1) throw recordProblem('Duplicate parameter', 'lastEventId stands more than once; send it once')
  return given[0]
}
