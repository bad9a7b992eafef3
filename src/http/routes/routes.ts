/** The table of all routes, and the look-up of a path in it. */
import { ProblemError } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import { chargeTime } from '../../service/request.ts'
import type { Services } from '../../service/services.ts'
import { rejectMisplacedQuery } from '../../validation/misplaced-members.ts'
import { KEY_SCOPES, type KeyScope } from '../../wire/key-messages.ts'
import { ownerOf } from '../access/request-state.ts'
import { TOKEN_METADATA_PATH } from '../access/tokens.ts'
import { prefers } from '../transport/request-head.ts'
import { accountRoutes } from './account-routes.ts'
import { jobRoutes } from './job-routes.ts'
import { keyRoutes } from './key-routes.ts'
import { type AllMetrics, metricsRoute, syncRoutes } from './operator-routes.ts'
import { builtPage, folderJson, openExplorer, pageRoutes, rootHtml, rootJson, wantsHtml } from './page-routes.ts'
import { graphqlRoutes, NO_BUFFERING_HEADER, ogcRoutes, recordRoutes } from './record-routes.ts'
import { countedPost, getRoute, METHODS, type Method, metered, type Route, VARY_ACCEPT } from './route.ts'
import { setRoutes, storedRoutes } from './stored-routes.ts'
import { batchRoute, StreamSink } from './streams.ts'
import { tileRoutes } from './tile-routes.ts'
import { usageRoutes } from './usage-routes.ts'

/** Creates all routes; a new endpoint is a new row. */
export function createRoutes(services: Services, config: Config, metrics: AllMetrics): readonly Route[] {
  const explorer = openExplorer()
  const routes: Route[] = [
    ...forScope('compute', [...computeRoutes(services), batchRoute(services, config.limits.maxBatchBytes)]),
    ...forScope('verify', [...verifyRoutes(services), ...(config.olderVerify ? olderVerifyRoutes(services) : [])]),
    ...forScope('compute', [
      ...storedRoutes(services.geometries),
      ...setRoutes(services.sets, config.limits.maxBatchBytes),
    ]),
    ...forScope('jobs', jobRoutes(services.jobs, config.limits.maxBatchBytes)),
    ...forScope('records', recordRoutes(services).map(metered)),
    ...syncRoutes(services.sync, config),
    ...forScope('records', ogcRoutes(services).map(metered)),
    ...(services.graphql === undefined
      ? []
      : forScope('records', graphqlRoutes(services.graphql, services.recordRefusal).map(metered))),
    ...forScope('admin', keyRoutes(services.keys)),
    ...(services.accounts === undefined ? [] : accountRoutes(services.accounts)),
    ...(services.usage === undefined ? [] : usageRoutes(services.usage)),
    getRoute('/', 'this list; the explorer for browsers', (request) => {
      const page = { baseUrl: request.baseUrl, identity: services.identity, routes }
      if (!wantsHtml(request)) return { json: rootJson(page), headers: VARY_ACCEPT }
      if (explorer.has('')) return builtPage(request, explorer, '')
      return { json: rootHtml(page), kind: 'html', headers: VARY_ACCEPT }
    }),
    folder('/api/v0', 'the routes of the record API'),
    folder('/compute/v0', 'the routes of the compute API'),
    folder('/verify/v0', 'the routes of the verify API'),
    ...healthRoutes(services),
    metricsRoute(metrics, config),
    ...pageRoutes(explorer, () => routes),
    ...tileRoutes(config.mapTiles),
    attesterRoute(services),
    tokenMetadataRoute(config),
  ]
  return routes

  function folder(path: string, summary: string): Route {
    return getRoute(path, summary, ({ baseUrl }) => ({ json: folderJson({ baseUrl, routes }, path) }))
  }
}

/** Requires a scope of the keys with which routes are called. */
function forScope(scope: KeyScope, routes: readonly Route[]): Route[] {
  return routes.map((route) => ({ ...route, scope }))
}

function computeRoutes(services: Services): Route[] {
  return [
    compute('distance', 'geodesic distance between two geometries, in metres'),
    compute('area', 'geodesic area of a polygon, in square metres'),
    compute('length', 'geodesic length of a line, in metres'),
    compute('contains', 'whether one geometry contains another'),
    compute('within', 'whether a geometry lies within a radius of another'),
    compute('intersects', 'whether two geometries share any point'),
    compute('relate', 'the DE-9IM matrix of two geometries, or whether it matches a pattern'),
    compute('equals', 'whether two geometries are the same set of points'),
    compute('disjoint', 'whether two geometries share no point'),
    compute('touches', 'whether two geometries meet only where one of them has its boundary'),
    compute('crosses', 'whether two geometries cross'),
    compute('overlaps', 'whether two geometries of one dimension overlap'),
    compute('covers', 'whether no point of the second geometry is outside of the first'),
    compute('coveredBy', 'whether no point of the first geometry is outside of the second'),
    compute('direct', 'where a geodesic from a place ends, by its azimuth and length; not signed'),
    compute('waypoints', 'places along the geodesic between two places; not signed'),
    compute('buffer', 'the places within a radius of a point; not signed'),
    compute('repair', 'a valid geometry made from one that is not, with the changes; not signed'),
    compute('nearest', 'the two places between which distance measures; not signed'),
    countedPost(
      '/compute/v0/resign',
      'signs a result of this service again, with a fresh nonce and deadline',
      ({ exchange }, body) => chargeTime(exchange, () => services.resign(body)),
    ),
  ]

  function compute(operation: Parameters<Services['compute']>[0], summary: string): Route {
    const route = countedPost(`/compute/v0/${operation}`, summary, (request, body) => {
      const { exchange, caller } = request
      rejectMisplacedQuery(exchange.query)
      const prefersResultSignature = prefers(exchange.head.prefer, 'result-signature')
      return services.compute(operation, body, exchange, { prefersResultSignature, caller, account: ownerOf(request) })
    })
    return { ...route, refusal: services.computeRefusal }
  }
}

function verifyRoutes(services: Services): Route[] {
  return [
    countedPost('/verify/v0/stamp', 'verifies one stamp, a piece of location evidence', ({ exchange }, body) =>
      services.verifyStamp(body, exchange),
    ),
    countedPost(
      '/verify/v0/proof',
      'verifies a proof, a claim with its stamps, and signs the result for a chain',
      ({ exchange, caller }, body) => {
        rejectMisplacedQuery(exchange.query)
        return services.verifyProof(body, exchange, caller)
      },
    ),
    {
      ...getRoute(
        '/verify/v0/submissions/:id',
        'state of an attestation that the service submits to its chain',
        ({ exchange, parameter }) => services.submission(parameter, exchange),
      ),
      counts: true,
    },
    {
      ...getRoute(
        '/verify/v0/submissions/:id/events',
        'states of such an attestation as server-sent events, until it is final',
        async ({ parameter, exchange }) => {
          await services.submission(parameter, exchange) // a HEAD request gets the same errors
          return { json: '', kind: 'events' }
        },
      ),
      counts: true,
      stream(request) {
        const { parameter, exchange, admitted } = request
        const sink = new StreamSink(request, 'events', NO_BUFFERING_HEADER)
        const watch = async () => {
          await admitted
          await services.watchSubmission(parameter, exchange, sink)
        }
        sink.endAfter(watch())
      },
    },
    getRoute('/verify/v0/plugins', 'plugins: the kinds of evidence that can be verified', () => ({
      json: services.pluginsJson,
    })),
  ]
}

/** Returns the routes of the generation before `/verify/v0` (decision 74). */
function olderVerifyRoutes({ olderVerify }: Services): Route[] {
  return [
    countedPost('/v1/verify/stamp', 'older form of /verify/v0/stamp', ({ exchange }, body) =>
      olderVerify.stamp(body, exchange),
    ),
    countedPost('/v1/verify/proof', 'older form of /verify/v0/proof', ({ exchange, caller }, body) =>
      olderVerify.proof(body, exchange, caller),
    ),
    getRoute('/v1/verify/plugins', 'older form of /verify/v0/plugins', () => ({ json: olderVerify.pluginsJson })),
  ]
}

function healthRoutes(services: Services): Route[] {
  return [
    getRoute('/health', 'whether the service is alive', () => {
      const { database } = services.readiness('/health')
      return {
        json: JSON.stringify({
          status: 'ok',
          message: 'Location service is running',
          database: database.isConnected ? 'connected' : 'disconnected',
          detail: database.detail,
          commit: services.identity.commit,
        }),
      }
    }),
    getRoute('/ready', 'whether the service can handle requests', () => {
      const { ready, checks } = services.readiness('/ready')
      const json = JSON.stringify({ status: ready ? 'ready' : 'not ready', checks })
      return ready ? { json } : { json, status: 503, headers: RETRY_SOON }
    }),
  ]
}

/** Tells clients whose tokens are accepted, and for what (RFC 9728). */
function tokenMetadataRoute({ tokens }: Config): Route {
  return getRoute(TOKEN_METADATA_PATH, 'whose bearer tokens are accepted', ({ baseUrl }) => {
    if (tokens === undefined)
      throw new ProblemError({ type: 'not-found', detail: 'this service accepts no tokens: JWT_ISSUER is not set' })
    return {
      json: JSON.stringify({
        resource: baseUrl,
        authorization_servers: [tokens.issuer],
        scopes_supported: KEY_SCOPES,
        bearer_methods_supported: ['header'],
        resource_name: 'Trigpoint',
        resource_documentation: `${baseUrl}/docs/guide/tokens`,
      }),
    }
  })
}

function attesterRoute({ identity }: Services): Route {
  return getRoute('/.well-known/attester.json', 'address, chains and schemas of the attester', () => ({
    json: JSON.stringify({
      address: identity.attester,
      purpose: identity.purpose,
      chains: identity.chains,
      retired: identity.retired,
      statement:
        "A matching attester proves only that the result was signed with this operator's key. " +
        'It does not prove that the result was produced inside an independently attested secure enclave.',
    }),
  }))
}

const RETRY_SOON = { 'Retry-After': '1' }

/** The routes of one path. */
export interface PathRoutes {
  readonly byMethod: Readonly<Partial<Record<Method, Route>>>
  /** Value of `Allow`. */
  readonly allow: string
  /** Returns the values of the parameters in a path that belongs to these routes, joined with slashes; empty if there are none. */
  parameter(path: string): string
}

/** Returns a look-up by path. One trailing slash makes no difference, and nothing is decoded. */
export function createRouter(routes: readonly Route[]): (path: string) => PathRoutes | undefined {
  const exact = new Map<string, PathRoutes>()
  const patterns: { readonly prefix: string; readonly pattern: RegExp; readonly routes: PathRoutes }[] = []
  for (const path of new Set(routes.map((route) => route.path))) {
    const byMethod = Object.fromEntries(
      routes.filter((route) => route.path === path).map((route) => [route.method, route]),
    ) as PathRoutes['byMethod']
    const names = METHODS.filter((method) => byMethod[method] !== undefined)
    const allow = [...names.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name])), 'OPTIONS'].join(', ')
    const parameterStart = path.search(/[:*]/)
    if (parameterStart < 0) exact.set(path, { byMethod, allow, parameter: () => '' })
    else {
      const pattern = pathPattern(path)
      const parameter = (given: string) => (pattern.exec(given) ?? []).slice(1).join('/')
      patterns.push({ prefix: path.slice(0, parameterStart), pattern, routes: { byMethod, allow, parameter } })
    }
  }
  return (path) => {
    const exactMatch = exact.get(path)
    if (exactMatch !== undefined) return exactMatch
    if (path.length > 1 && path.endsWith('/')) {
      const trimmed = exact.get(path.slice(0, -1))
      if (trimmed !== undefined) return trimmed
    }
    return patterns.find(({ prefix, pattern }) => path.startsWith(prefix) && pattern.test(path))?.routes
  }
}

/** Matches a path with parameters: `:name` is one segment, `*` is any number of them. */
function pathPattern(path: string): RegExp {
  const segments = path.split('/').map((segment) => {
    if (segment.startsWith(':')) return '([^/]+)'
    return segment === '*' ? '((?!/$).+?)' : segment.replace(/[.+?^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${segments.join('/')}/?$`)
}
