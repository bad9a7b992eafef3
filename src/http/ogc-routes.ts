import { ProblemError } from '../problem.ts'
import type { OgcDocument, OgcService } from '../service/record-services.ts'
import { get } from './get-route.ts'
import type { ContentKind } from './respond.ts'
import type { Route } from './routes.ts'

/** OGC API Features, Part 1: what desktop and web GIS read records by. */
export function ogcRoutes(ogc: OgcService): Route[] {
  const document = (path: string, name: OgcDocument, summary: string, kind: ContentKind = 'json') =>
    get(`/ogc${path}`, summary, ({ exchange, baseUrl }) => ({ ...ogc.document(name, exchange.query, baseUrl), kind }))
  const items = '/ogc/collections/location-records/items'
  return [
    document('', '', 'location records for GIS (OGC API Features)'),
    document('/conformance', 'conformance', 'conformance classes of OGC API Features'),
    document('/api', 'api', 'OpenAPI 3.0 of OGC API Features', 'openapi'),
    document('/collections', 'collections', 'collections of features'),
    document('/collections/location-records', 'collection', 'location records as a collection'),
    get(items, 'location records as features', async ({ exchange, baseUrl }) => ({
      ...(await ogc.items(exchange.query, baseUrl, exchange)),
      kind: 'geojson',
    })),
    get(`${items}/:uid`, 'one location record as a feature', async ({ exchange, baseUrl, parameter }) => ({
      ...(await ogc.item(parameter, exchange.query, baseUrl, exchange)),
      kind: 'geojson',
    })),
    get('/ogc/collections/:id', 'any other collection: there is none', () => {
      throw new ProblemError({
        type: 'not-found',
        message: 'Collection not found',
        detail: 'The only collection is location-records',
      })
    }),
  ]
}
