import type { RecordRoute, RecordService } from '../../service/records/record-services.ts'
import type { Services } from '../../service/services.ts'
import { feedRoutes } from './feed-routes.ts'
import { getRoute } from './get-route.ts'
import { negotiateFormat } from './record-format.ts'
import type { Route } from './routes.ts'

const FORMATS = { json: 'application/json', geojson: 'application/geo+json' } as const
const VARY_ACCEPT = { Vary: 'Accept' }

/** Returns the routes of the record API in both generations, and its extensions. */
export function recordRoutes({ records, feeds }: Services): Route[] {
  return [
    getRoute('/api/v0/config', 'chains and schema of location records', () => records.config()),
    ...generationRoutes('location-proofs', records),
    ...generationRoutes('location-records', records),
    // Published clients of the older generation use this path.
    ...readRoutes('/proofs', 'location-proofs', records),
    ...feedRoutes(feeds),
  ]
}

function generationRoutes(generation: RecordRoute, records: RecordService): Route[] {
  const path = `/api/v0/${generation}`
  return [
    getRoute(`${path}/stats`, 'number of location records by chain and time', ({ exchange }) =>
      records.stats(exchange),
    ),
    ...readRoutes(path, generation, records),
  ]
}

function readRoutes(path: string, generation: RecordRoute, records: RecordService): Route[] {
  return [
    getRoute(
      path,
      'location records filtered by chain, address, time and area, newest first',
      async ({ exchange, baseUrl }) => {
        const format = negotiateFormat(exchange.query, exchange.head.accept, FORMATS)
        const list = await records.list(generation, exchange.query, `${baseUrl}${path}`, exchange, format)
        return { ...list, kind: format, headers: { ...list.headers, ...VARY_ACCEPT } }
      },
    ),
    getRoute(`${path}/:uid`, 'one location record', async ({ exchange, parameter }) => {
      const format = negotiateFormat(exchange.query, exchange.head.accept, FORMATS)
      const record = await records.record(generation, parameter, exchange, format)
      return { ...record, kind: format, headers: VARY_ACCEPT }
    }),
  ]
}
