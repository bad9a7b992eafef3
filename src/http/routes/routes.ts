import type { Metrics } from '../../base/metrics.ts'
import type { Config } from '../../config/config.ts'
import type { Services } from '../../service/services.ts'
import { batchRoute } from './batch-route.ts'
import { metricsRoute, syncRoutes } from './operator-routes.ts'
import { builtPage, folderJson, openExplorer, pageRoutes, rootHtml, rootJson, wantsHtml } from './page-routes.ts'
import { prefers } from './prefer.ts'
import { graphqlRoutes, ogcRoutes, recordRoutes } from './record-routes.ts'
import { getRoute, type Route } from './route.ts'
import { tileRoutes } from './tile-routes.ts'

/** Creates all routes; a new endpoint is a new row. */
export function createRoutes(services: Services, config: Config, metrics: Metrics): readonly Route[] {
  const explorer = openExplorer()
  const routes: Route[] = [
    compute('distance', 'geodesic distance between two geometries, in metres'),
    compute('area', 'geodesic area of a polygon, in square metres'),
    compute('length', 'geodesic length of a line, in metres'),
    compute('contains', 'whether one geometry contains another'),
    compute('within', 'whether a geometry lies within a radius of another'),
    compute('intersects', 'whether two geometries share any point'),
    {
      method: 'POST',
      path: '/compute/v0/resign',
      summary: 'signs a result of this service again, with a fresh nonce and deadline',
      counts: true,
      run: (_request, body) => services.resign(body),
    },
    {
      method: 'POST',
      path: '/verify/v0/stamp',
      summary: 'verifies one stamp, a piece of location evidence',
      counts: true,
      run: ({ exchange }, body) => services.verifyStamp(body, exchange),
    },
    {
      method: 'POST',
      path: '/verify/v0/proof',
      summary: 'verifies a proof, a claim with its stamps, and signs the result for a chain',
      counts: true,
      run: ({ exchange, caller }, body) => services.verifyProof(body, exchange, caller),
    },
    {
      method: 'GET',
      path: '/verify/v0/submissions/:id',
      summary: 'state of an attestation that the service submits to its chain',
      counts: true,
      run: ({ exchange, parameter }) => services.submission(parameter, exchange),
    },
    getRoute('/verify/v0/plugins', 'plugins: the kinds of evidence that can be verified', () => ({
      json: services.pluginsJson,
    })),
    ...(config.olderVerify ? olderVerifyRoutes(services) : []),
    batchRoute(services, config.limits.maxBatchBytes),
    ...recordRoutes(services),
    ...syncRoutes(services.sync, config),
    ...ogcRoutes(services.ogc),
    ...(services.graphql === undefined ? [] : graphqlRoutes(services.graphql)),
    getRoute('/', 'this list; the explorer for browsers', (request) => {
      const page = { baseUrl: request.baseUrl, identity: services.identity, routes }
      if (!wantsHtml(request)) return { json: rootJson(page), headers: VARY_ACCEPT }
      if (explorer.has('')) return builtPage(request, explorer, '')
      return { json: rootHtml(page), kind: 'html', headers: VARY_ACCEPT }
    }),
    folder('/api/v0', 'the routes of the record API'),
    folder('/compute/v0', 'the routes of the compute API'),
    folder('/verify/v0', 'the routes of the verify API'),
    getRoute('/health', 'whether the service is alive', () => ({
      json: JSON.stringify({
        status: 'ok',
        message: 'Location service is running',
        database: services.readiness().checks['database']?.ok === true ? 'connected' : 'disconnected',
        commit: services.identity.commit,
      }),
    })),
    getRoute('/ready', 'whether the service can handle requests', () => {
      const { ready, checks } = services.readiness()
      const json = JSON.stringify({ status: ready ? 'ready' : 'not ready', checks })
      return ready ? { json } : { json, status: 503, headers: RETRY_SOON }
    }),
    metricsRoute(metrics, config),
    ...pageRoutes(explorer),
    ...tileRoutes(config.mapTiles),
    getRoute('/.well-known/attester.json', 'address, chains and schemas of the attester', () => ({
      json: attesterJson(services),
    })),
  ]
  return routes

  function folder(path: string, summary: string): Route {
    return getRoute(path, summary, ({ baseUrl }) => ({ json: folderJson({ baseUrl, routes }, path) }))
  }

  function compute(operation: Parameters<Services['compute']>[0], summary: string): Route {
    return {
      method: 'POST',
      path: `/compute/v0/${operation}`,
      summary,
      counts: true,
      run: ({ exchange }, body) =>
        services.compute(operation, body, exchange, prefers(exchange.head.prefer, 'result-signature')),
    }
  }
}

/** Returns the routes of the generation before `/verify/v0` (decision 74). */
function olderVerifyRoutes({ olderVerify }: Services): Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/verify/stamp',
      summary: 'older form of /verify/v0/stamp',
      counts: true,
      run: ({ exchange }, body) => olderVerify.stamp(body, exchange),
    },
    {
      method: 'POST',
      path: '/v1/verify/proof',
      summary: 'older form of /verify/v0/proof',
      counts: true,
      run: ({ exchange, caller }, body) => olderVerify.proof(body, exchange, caller),
    },
    getRoute('/v1/verify/plugins', 'older form of /verify/v0/plugins', () => ({ json: olderVerify.pluginsJson })),
  ]
}

const VARY_ACCEPT = { Vary: 'Accept' }
const RETRY_SOON = { 'Retry-After': '1' }

function attesterJson({ identity }: Services): string {
  return JSON.stringify({
    address: identity.attester,
    purpose: identity.purpose,
    chains: identity.chains,
    retired: identity.retired,
    statement:
      "A matching attester proves only that the result was signed with this operator's key. " +
      'It does not prove that the result was produced inside an independently attested secure enclave.',
  })
}
