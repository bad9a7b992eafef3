import type { Config } from '../config.ts'
import type { Metrics } from '../metrics.ts'
import type { ProblemData } from '../problem.ts'
import type { BatchContext, Services, SubmissionCaller } from '../service/services.ts'
import { batchRoute } from './batch-route.ts'
import { get } from './get-route.ts'
import { graphqlRoutes } from './graphql-routes.ts'
import { metricsRoute } from './metrics-route.ts'
import { ogcRoutes } from './ogc-routes.ts'
import { builtPage, openExplorer, pageRoutes, wantsHtml } from './page-routes.ts'
import type { AnswerStream, Exchange } from './port.ts'
import { prefers } from './prefer.ts'
import { recordRoutes } from './record-routes.ts'
import type { ContentKind } from './respond.ts'
import { folderJson, rootHtml, rootJson } from './root-page.ts'
import { syncRoutes } from './sync-routes.ts'

/** A request as a route sees it. */
export interface RouteRequest {
  readonly exchange: Exchange
  /** Absolute address of this service as the client reaches it, without a slash at the end. */
  readonly baseUrl: string
  readonly errorTypeBase: string
  /** What stands in the place of `:name` or `*` in the route's path. */
  readonly parameter: string
  readonly caller: SubmissionCaller
}

export interface RouteAnswer {
  /** The body, of whatever kind. */
  readonly json: string | Uint8Array
  /** Header lines of this answer alone. */
  readonly headers?: Readonly<Record<string, string>>
  /** 200 unless said otherwise. */
  readonly status?: number
  /** `json` unless said otherwise. */
  readonly kind?: ContentKind
}

export interface Route {
  /** `GET` answers `HEAD` too; `OPTIONS` needs no row. */
  readonly method: 'GET' | 'POST'
  /** Exact, or with one `:name` as its last segment, or `*` there for any number of segments. */
  readonly path: string
  /** What it does, for `GET /`. */
  readonly summary: string
  /** True when each request counts towards the hourly limit, and a wrong API key is refused (decision 46). */
  readonly counts: boolean
  /** Why this caller may not use it, looked at before the body is read; undefined when he may. */
  readonly refusal?: (exchange: Exchange) => ProblemData | undefined
  /** @param body empty unless the method is `POST` */
  run(request: RouteRequest, body: Uint8Array): RouteAnswer | Promise<RouteAnswer>
  /** Instead of `run`: reads and answers by itself, piece by piece. */
  readonly stream?: (request: StreamRequest) => void
}

/** A request whose route reads its body and writes its answer itself. */
export interface StreamRequest extends RouteRequest, BatchContext {
  /** Who the body counts for. */
  readonly owner: number | string
  /**
   * Begins the answer with status 200; undefined when nobody waits any more.
   *
   * @param extra header lines of this answer alone: [name, value, …]
   */
  begin(kind: ContentKind, extra?: readonly string[]): AnswerStream | undefined
  /** Calls back, once, when the client leaves before the end. */
  onGone(listener: () => void): void
  /** Ends it: what `begin` gave, or a problem in its place. */
  finish(stream: AnswerStream): void
  fail(error: unknown): void
}

/** Every route there is: a new endpoint is a new row. */
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
      summary: 'judges one piece of location evidence',
      counts: true,
      run: ({ exchange }, body) => services.verifyStamp(body, exchange),
    },
    {
      method: 'POST',
      path: '/verify/v0/proof',
      summary: 'judges a claim with its evidence, and signs the result for a chain',
      counts: true,
      run: ({ exchange, caller }, body) => services.verifyProof(body, exchange, caller),
    },
    {
      method: 'GET',
      path: '/verify/v0/submissions/:id',
      summary: 'what became of an attestation that was to be submitted',
      counts: true,
      run: ({ exchange, parameter }) => services.submission(parameter, exchange),
    },
    get('/verify/v0/plugins', 'kinds of evidence that are judged here', () => ({ json: services.pluginsJson })),
    ...(config.olderVerify ? olderVerifyRoutes(services) : []),
    batchRoute(services, config.limits.maxBatchBytes),
    ...recordRoutes(services),
    ...syncRoutes(services.sync, config),
    ...ogcRoutes(services.ogc),
    ...(services.graphql === undefined ? [] : graphqlRoutes(services.graphql)),
    get('/', 'this list; the explorer for browsers', (request) => {
      const page = { baseUrl: request.baseUrl, identity: services.identity, routes }
      if (!wantsHtml(request)) return { json: rootJson(page), headers: VARY_ACCEPT }
      if (explorer.has('')) return builtPage(request, explorer, '')
      return { json: rootHtml(page), kind: 'html', headers: VARY_ACCEPT }
    }),
    folder('/api/v0', 'the routes of the record API'),
    folder('/compute/v0', 'the routes of the compute API'),
    folder('/verify/v0', 'the routes of the verify API'),
    get('/health', 'whether the service is alive', () => ({
      json: JSON.stringify({
        status: 'ok',
        message: 'Location service is running',
        database: services.readiness().checks['database']?.ok === true ? 'connected' : 'disconnected',
        commit: services.identity.commit,
      }),
    })),
    get('/ready', 'whether the service can do its work', () => {
      const { ready, checks } = services.readiness()
      const json = JSON.stringify({ status: ready ? 'ready' : 'not ready', checks })
      return ready ? { json } : { json, status: 503, headers: RETRY_SOON }
    }),
    metricsRoute(metrics, config),
    ...pageRoutes(explorer),
    get('/.well-known/attester.json', 'who signs here', () => ({ json: attesterJson(services) })),
  ]
  return routes

  function folder(path: string, summary: string): Route {
    return get(path, summary, ({ baseUrl }) => ({ json: folderJson({ baseUrl, routes }, path) }))
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

/** The generation before `/verify/v0` (decision 74). */
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
    get('/v1/verify/plugins', 'older form of /verify/v0/plugins', () => ({ json: olderVerify.pluginsJson })),
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
