import type { RecordRoute, RecordService } from '../service/record-services.ts'
import type { Services } from '../service/services.ts'
import { feedRoutes } from './feed-routes.ts'
import { get } from './get-route.ts'
import { formatOf } from './record-format.ts'
import type { Route } from './routes.ts'

const FORMATS = { json: 'application/json', geojson: 'application/geo+json' } as const
const VARY_ACCEPT = { Vary: 'Accept' }

/** The record API in both generations, and what goes beyond it. */
export function recordRoutes({ records, feeds }: Services): Route[] {
  return [
    get('/api/v0/config', 'chains and schema of location records', () => records.config()),
    ...generationRoutes('location-proofs', records),
    ...generationRoutes('location-records', records),
    // Published clients of the older generation ask here.
    ...readRoutes('/proofs', 'location-proofs', records),
    ...feedRoutes(feeds),
  ]
}

function generationRoutes(generation: RecordRoute, records: RecordService): Route[] {
  const path = `/api/v0/${generation}`
  return [
    get(`${path}/stats`, 'how many location records there are', ({ exchange }) => records.stats(exchange)),
    ...readRoutes(path, generation, records),
  ]
}

function readRoutes(path: string, generation: RecordRoute, records: RecordService): Route[] {
  return [
    get(path, 'location records by chain, address, time and place, newest first', async ({ exchange, baseUrl }) => {
      const format = formatOf(exchange.query, exchange.head.accept, FORMATS)
      const list = await records.list(generation, exchange.query, `${baseUrl}${path}`, exchange, format)
      return { ...list, kind: format, headers: { ...list.headers, ...VARY_ACCEPT } }
    }),
    get(`${path}/:uid`, 'one location record', async ({ exchange, parameter }) => {
      const format = formatOf(exchange.query, exchange.head.accept, FORMATS)
      const record = await records.record(generation, parameter, exchange, format)
      return { ...record, kind: format, headers: VARY_ACCEPT }
    }),
  ]
}
