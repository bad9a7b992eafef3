import type { Metrics } from '../../base/metrics.ts'
import type { ProblemData } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { BatchContext, Services, SubmissionCaller } from '../../service/services.ts'
import type { Exchange, ResponseStream } from '../transport/port.ts'
import { batchRoute } from './batch-route.ts'
import { getRoute } from './get-route.ts'
import { metricsRoute, syncRoutes } from './operator-routes.ts'
import { builtPage, folderJson, openExplorer, pageRoutes, rootHtml, rootJson, wantsHtml } from './page-routes.ts'
import { prefers } from './prefer.ts'
import { graphqlRoutes, ogcRoutes, recordRoutes } from './record-routes.ts'
import type { ContentKind } from './respond.ts'

/** A request as a route sees it. */
export interface RouteRequest {
  readonly exchange: Exchange
  /** Absolute URL under which the client reaches this service, without a trailing slash. */
  readonly baseUrl: string
  readonly errorTypeBase: string
  /** Value of `:name` or `*` in the route's path. */
  readonly parameter: string
  readonly caller: SubmissionCaller
}

export interface RouteResult {
  /** The body, not only for JSON. */
  readonly json: string | Uint8Array
  /** Additional header lines of this response. */
  readonly headers?: Readonly<Record<string, string>>
  /** 200 by default. */
  readonly status?: number
  /** `json` by default. */
  readonly kind?: ContentKind
}

export interface Route {
  /** `GET` routes also serve `HEAD`; `OPTIONS` needs no route. */
  readonly method: 'GET' | 'POST'
  /** Exact path, or a path whose last segment is `:name`, or `*` for any number of segments. */
  readonly path: string
  /** What the route does, for `GET /`. */
  readonly summary: string
  /** True if each request counts towards the hourly limit and an invalid API key is rejected (decision 46). */
  readonly counts: boolean
  /** Called before the body is read. Returns a problem if the client may not use this route. */
  readonly refusal?: (exchange: Exchange) => ProblemData | undefined
  /** @param body empty unless the method is `POST` */
  run(request: RouteRequest, body: Uint8Array): RouteResult | Promise<RouteResult>
  /** Used instead of `run` by routes that read and write piece by piece. */
  readonly stream?: (request: StreamRequest) => void
}

/** A request whose route reads the body and writes the response itself. */
export interface StreamRequest extends RouteRequest, BatchContext {
  /** Key under which open bodies are counted. */
  readonly owner: number | string
  /**
   * Begins the response with status 200.
   *
   * @param extra additional header lines: [name, value, …]
   * @returns undefined if the client has disconnected or a response was sent already
   */
  begin(kind: ContentKind, extra?: readonly string[]): ResponseStream | undefined
  /** Registers a listener that is called once if the client disconnects before the end. */
  onDisconnect(listener: () => void): void
  /** Ends the stream that `begin` returned. */
  finish(stream: ResponseStream): void
  fail(error: unknown): void
}

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
