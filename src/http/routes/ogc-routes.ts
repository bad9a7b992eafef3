import { ProblemError } from '../../base/problem.ts'
import type { OgcDocument, OgcService } from '../../service/records/record-services.ts'
import { getRoute } from './get-route.ts'
import type { ContentKind } from './respond.ts'
import type { Route } from './routes.ts'

/** Returns the routes of OGC API Features, Part 1, which desktop and web GIS use to read records. */
export function ogcRoutes(ogc: OgcService): Route[] {
  const document = (path: string, name: OgcDocument, summary: string, kind: ContentKind = 'json') =>
    getRoute(`/ogc${path}`, summary, ({ exchange, baseUrl }) => ({
      ...ogc.document(name, exchange.query, baseUrl),
      kind,
    }))
  const items = '/ogc/collections/location-records/items'
  return [
    document('', '', 'location records for GIS (OGC API Features)'),
    document('/conformance', 'conformance', 'conformance classes of OGC API Features'),
    document('/api', 'api', 'OpenAPI 3.0 of OGC API Features', 'openapi'),
    document('/collections', 'collections', 'collections of features'),
    document('/collections/location-records', 'collection', 'location records as a collection'),
    getRoute(items, 'location records as features', async ({ exchange, baseUrl }) => ({
      ...(await ogc.items(exchange.query, baseUrl, exchange)),
      kind: 'geojson',
    })),
    getRoute(`${items}/:uid`, 'one location record as a feature', async ({ exchange, baseUrl, parameter }) => ({
      ...(await ogc.item(parameter, exchange.query, baseUrl, exchange)),
      kind: 'geojson',
    })),
    getRoute('/ogc/collections/:id', 'any other collection; always not found', () => {
      throw new ProblemError({
        type: 'not-found',
        message: 'Collection not found',
        detail: 'The only collection is location-records',
      })
    }),
  ]
}
