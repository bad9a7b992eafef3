import {
  EXPORT_FORMATS,
  type GraphqlResponse,
  type GraphqlService,
  type OgcDocument,
  type OgcRequest,
  type RecordFeeds,
  type RecordRoute,
  type RecordService,
} from '../../service/records/record-services.ts'
import type { ServiceResponse } from '../../service/request.ts'
import type { Services } from '../../service/services.ts'
import { recordProblem } from '../../validation/record-query.ts'
import { builtFolder, openAssets } from '../pages/assets.ts'
import { acceptQuality } from '../transport/request-head.ts'
import { builtPage, prefersPage, wantsHtml } from './page-routes.ts'
import type { ContentKind } from './respond.ts'
import { getRoute, type Route, type RouteResult, type StreamRequest, VARY_ACCEPT } from './route.ts'
import { StreamSink } from './streams.ts'

/**
 * Negotiates the format of a response: by the parameter `f`, else by the types that `Accept` names. Wildcards are ignored.
 *
 * @param search query string as sent
 * @param accept header lines joined with commas
 * @param types media types by their name for `f`; the first one is the default
 * @throws {ProblemError} if `f` is not one of the names, or appears more than once
 */
function negotiateFormat<const F extends string>(
  search: string,
  accept: string | undefined,
  types: Readonly<Record<F, string>>,
): F {
  const names = Object.keys(types) as F[]
  const requested = new URLSearchParams(search).getAll('f')
  if (requested.length > 1)
    throw recordProblem('Duplicate parameter', `f appears ${requested.length} times; send it once`)
  if (requested.length === 1) {
    const name = names.find((candidate) => candidate === requested[0])
    if (name !== undefined) return name
    throw recordProblem('Invalid f parameter', `f must be one of ${names.join(', ')}`)
  }
  let best = names[0]!
  let bestQuality = 0
  for (const name of names) {
    const quality = acceptQuality(accept, types[name])
    if (quality > bestQuality) [best, bestQuality] = [name, quality]
  }
  return best
}

/** Turns off buffering in proxies, which would hold back every event. */
export const NO_BUFFERING_HEADER = ['X-Accel-Buffering', 'no']

/** Returns the routes for clients that want all records: the export, and the stream of changes. */
function feedRoutes(feeds: RecordFeeds, refusal: Route['refusal']): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/v0/location-records/export',
      summary: 'exports all matching location records as NDJSON, GeoJSON, CSV, FlatGeobuf or GeoParquet',
      counts: false,
      refusal,
      run: ({ exchange }) => ({
        json: '',
        kind: negotiateFormat(exchange.query, exchange.head.accept, EXPORT_FORMATS),
      }),
      stream(request) {
        const { query, head } = request.exchange
        const format = negotiateFormat(query, head.accept, EXPORT_FORMATS)
        const sink = new StreamSink(request, format, ['Vary', 'Accept'])
        sink.endAfter(feeds.export(format, query, request, sink))
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
        const { exchange, owner, costs } = request
        sink.endAfter(feeds.stream(exchange.query, lastEventId(request), owner, sink, costs))
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

const FORMATS = { json: 'application/json', geojson: 'application/geo+json' } as const

/** Returns the routes of the record API in both generations, and its extensions. */
export function recordRoutes({ records, feeds, recordRefusal }: Services): Route[] {
  const reads = [
    ...generationRoutes('location-proofs', records),
    ...generationRoutes('location-records', records),
    // Published clients of the older generation use this path.
    ...readRoutes('/proofs', 'location-proofs', records),
  ]
  return [
    getRoute('/api/v0/config', 'chains and schema of location records', () => records.config()),
    ...reads.map((route) => ({ ...route, refusal: recordRefusal })),
    ...feedRoutes(feeds, recordRefusal),
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

const OGC_FORMATS = { json: 'application/json', geojson: 'application/geo+json', html: 'text/html' } as const

/** Returns the routes of OGC API Features, which desktop and web GIS use to read records. Browsers get pages. */
export function ogcRoutes({ ogc, recordRefusal: refusal }: Services): Route[] {
  const route = (
    path: string,
    summary: string,
    kind: ContentKind,
    respond: (request: OgcRequest, parameters: readonly string[]) => ServiceResponse | Promise<ServiceResponse>,
  ) =>
    getRoute(`/ogc${path}`, summary, async ({ exchange, baseUrl, parameter }) => {
      const { query, head } = exchange
      const format = negotiateFormat(query, head.accept, OGC_FORMATS) === 'html' ? 'html' : 'json'
      const response = await respond({ search: query, baseUrl, context: exchange, format }, parameter.split('/'))
      return {
        ...response,
        kind: format === 'html' ? 'html' : kind,
        headers: { ...response.headers, ...VARY_ACCEPT },
      }
    })
  const document = (path: string, name: OgcDocument, summary: string, kind: ContentKind = 'json') =>
    route(path, summary, kind, (request) => ogc.document(name, request))
  const collection = '/collections/:collection'
  return [
    document('', '', 'location records for GIS (OGC API Features)'),
    document('/conformance', 'conformance', 'conformance classes of OGC API Features'),
    document('/api', 'api', 'OpenAPI 3.0 of OGC API Features', 'openapi'),
    route('/collections', 'collections of features', 'json', (request) => ogc.collections(request)),
    route(collection, 'location records as a collection, all or one family of geometries', 'json', (request, [id]) =>
      ogc.collection(id!, request),
    ),
    route(`${collection}/queryables`, 'properties that a filter may compare', 'schema', (request, [id]) =>
      ogc.queryables(id!, request),
    ),
    {
      ...route(`${collection}/items`, 'location records as features', 'geojson', (request, [id]) =>
        ogc.items(id!, request),
      ),
      refusal,
    },
    {
      ...route(`${collection}/items/:uid`, 'one location record as a feature', 'geojson', (request, [id, uid]) =>
        ogc.item(id!, uid!, request),
      ),
      refusal,
    },
  ]
}

/** Media type of responses in GraphQL over HTTP; sent only to clients that name it. */
const GRAPHQL_TYPE = 'application/graphql-response+json'

/** Returns the routes of GraphQL over HTTP, with GET and POST. A browser gets a page with an editor, in which a query of the address is filled in. */
export function graphqlRoutes(graphql: GraphqlService, refusal: Route['refusal']): Route[] {
  const site = openAssets(builtFolder('site'))
  const path = '/graphql'
  const summary = 'location records through GraphQL'
  return [
    getRoute(path, summary, async (request) => {
      const { exchange } = request
      // A link with a query opens in the editor, but only for clients that show pages to people.
      const isPage =
        exchange.query === '' ? wantsHtml(request) : prefersPage(exchange) && !acceptsGraphql(exchange.head.accept)
      if (isPage && site.has('graphql')) return builtPage(request, site, 'graphql')
      return withContentType(await graphql.query(exchange.query, exchange), exchange.head.accept)
    }),
    ...['css', 'js'].map((extension) =>
      getRoute(`${path}/page.${extension}`, `part of the page of ${path}`, ({ exchange }) =>
        site.answer(`graphql.${extension}`, exchange.head),
      ),
    ),
    {
      method: 'POST',
      path,
      summary,
      counts: false,
      refusal,
      run: async ({ exchange }, body) => withContentType(await graphql.post(body, exchange), exchange.head.accept),
    },
    getRoute('/graphql/schema', 'the schema of /graphql in schema definition language', () => ({
      json: graphql.schemaText,
      kind: 'text',
    })),
  ]
}

function withContentType(response: GraphqlResponse, accept: string | undefined): RouteResult {
  return { ...response, kind: acceptsGraphql(accept) ? 'graphql' : 'json', headers: VARY_ACCEPT }
}

function acceptsGraphql(accept: string | undefined): boolean {
  return accept?.toLowerCase().includes(GRAPHQL_TYPE) === true
}
