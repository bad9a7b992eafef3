/** Routes for people, the index of all routes, and the page that browsers get for an unknown path. */
import { PROBLEMS, type ProblemData, ProblemError } from '../../base/problem.ts'
import { clip, escapeHtml, visibleText } from '../../base/text.ts'
import { PAGE_STYLE } from '../../service/records/ogc-pages.ts'
import type { Identity } from '../../service/services.ts'
import type { RequestState } from '../access/request-state.ts'
import { openApiDocument } from '../openapi/document.ts'
import { type Assets, builtFolder, MAP_POLICY, openAssets, serveAssets } from '../pages/assets.ts'
import { problemListJson, problemPageJson } from '../pages/problem-pages.ts'
import { acceptQuality } from '../transport/request-head.ts'
import { isOlderPath, isRecordPath } from './respond.ts'
import { getRoute, type Route, type RouteRequest, type RouteResult, VARY_ACCEPT } from './route.ts'

/** Pages of the explorer with an address of their own; its script shows them. */
const EXPLORER_PAGES = ['compute', 'jobs', 'proof', 'records', 'status', 'gate', 'account', 'verify']

/** Opens the files of the explorer, which browsers also get at `/`. */
export function openExplorer(): Assets {
  const assets = openAssets(builtFolder('explore'), MAP_POLICY)
  return { ...assets, answer: (name, head) => assets.answer(EXPLORER_PAGES.includes(name) ? '' : name, head) }
}

/**
 * Returns the routes for people: reference, OpenAPI document, guide, explorer, and the pages that errors link to.
 *
 * @param all the routes of this service, once all are known: the OpenAPI document has no other
 */
export function pageRoutes(explorer: Assets, all: () => readonly Route[]): Route[] {
  const docs = openAssets(builtFolder('docs'))
  const site = openAssets(builtFolder('site'))
  const file = (name: string, summary: string) =>
    getRoute(`/${name}`, summary, ({ exchange }) => site.answer(name, exchange.head))
  let openApi: string | undefined
  const openApiText = () => {
    if (openApi !== undefined) return openApi
    const served = new Set(all().map(({ method, path }) => `${method} ${path}`))
    openApi = JSON.stringify(openApiDocument((route) => served.has(route)))
    return openApi
  }
  return [
    getRoute('/openapi.json', 'every route as OpenAPI 3.1', () => ({ json: openApiText() })),
    ...serveAssets('/docs', docs, 'interactive reference of every route'),
    ...serveAssets('/explore', explorer, 'the explorer: the service on a map'),
    getRoute('/verify', 'the page that checks a receipt', ({ exchange }) => explorer.answer('verify', exchange.head)),
    getRoute('/errors', 'every kind of error with its cause and remedy', (request) =>
      negotiated(request, docs, 'errors', problemListJson(request)),
    ),
    getRoute('/errors/:type', 'cause and remedy of one kind of error', (request) => {
      const json = problemPageJson(request.parameter, request)
      if (json === undefined) {
        throw new ProblemError({ type: 'not-found', detail: 'there is no such problem type; GET /errors lists them' })
      }
      return negotiated(request, docs, `errors/${request.parameter}`, json)
    }),
    file('llms.txt', 'what this service is, for language models'),
    file('favicon.ico', 'the icon of this service'),
  ]
}

/** Returns the built page to clients that name HTML, if there is one, and JSON to all others. */
function negotiated(request: RouteRequest, pages: Assets, name: string, json: string): ReturnType<Route['run']> {
  const isPage = wantsHtml(request) && pages.has(name)
  return isPage ? builtPage(request, pages, name) : { json, headers: VARY_ACCEPT }
}

/** Returns true if `Accept` names HTML with a weight above 0. A wildcard does not count: curl sends one (decision 112). */
export function wantsHtml({ exchange }: RouteRequest): boolean {
  return acceptQuality(exchange.head.accept, 'text/html') > 0
}

/** Returns a built page under a path that answers other clients with JSON. */
export async function builtPage({ exchange }: RouteRequest, pages: Assets, name: string): Promise<RouteResult> {
  const page = await pages.answer(name, exchange.head)
  return { ...page, headers: { ...page.headers, Vary: 'Accept, Accept-Encoding' } }
}

interface RootPage {
  /** Absolute, without a slash at the end. */
  readonly baseUrl: string
  readonly identity: Identity
  readonly routes: readonly Route[]
}

const TITLE = 'Trigpoint'
const DESCRIPTION = 'Answers spatial questions with signed facts: geodesic measures and predicates as attestations'

/** Relations of the record API first, as its clients expect, then the others (decision 48). Links without a route are left out. */
const LINKS: readonly (readonly [rel: string, path: string, type?: string])[] = [
  ['self', '/'],
  ['api', '/api/v0'],
  ['config', '/api/v0/config'],
  ['sync', '/api/sync/status'],
  ['location-proofs', '/api/v0/location-proofs'],
  ['location-records', '/api/v0/location-records'],
  ['compute', '/compute/v0'],
  ['verify', '/verify/v0'],
  ['openapi', '/openapi.json'],
  ['docs', '/docs', 'text/html'],
  ['explorer', '/explore', 'text/html'],
  ['llms', '/llms.txt', 'text/plain'],
]

/** Returns the body of `GET /`, with the members that clients of the record API and of the compute API read (decision 87). */
export function rootJson({ baseUrl, identity, routes }: RootPage): string {
  return JSON.stringify({
    title: TITLE,
    description: DESCRIPTION,
    version: 'v0',
    links: LINKS.filter(([, path]) => routes.some((route) => route.path === path)).map(
      ([rel, path, type = 'application/json']) => ({
        rel,
        href: `${baseUrl}${path}`,
        type,
      }),
    ),
    name: TITLE,
    endpoints: describeEndpoints(routes),
    attester: identity.attester,
    commit: identity.commit,
  })
}

/** Returns the index of one folder, e.g. `/api/v0`: the routes below it as in `GET /`. */
export function folderJson({ baseUrl, routes }: Omit<RootPage, 'identity'>, folder: string): string {
  const below = routes.filter(({ path }) => path.startsWith(`${folder}/`))
  return JSON.stringify({
    title: TITLE,
    version: 'v0',
    links: [{ rel: 'self', href: `${baseUrl}${folder}`, type: 'application/json' }],
    endpoints: describeEndpoints(below),
  })
}

function describeEndpoints(routes: readonly Route[]): Readonly<Record<string, string>> {
  const endpoints: Record<string, string> = {}
  const summaries = new Map<string, string>()
  for (const { method, path, summary } of routes) {
    // Two methods of a path may do the same, as with GraphQL.
    const before = summaries.get(path) === summary ? undefined : endpoints[path]
    endpoints[path] = `${before === undefined ? '' : `${before}; `}${method}: ${summary}`
    summaries.set(path, summary)
  }
  return endpoints
}

/** Returns `GET /` as HTML, for installations without the explorer. */
export function rootHtml({ baseUrl, identity, routes }: RootPage): string {
  const rows = routes.map(
    ({ method, path, summary }) =>
      `<tr><td>${method}</td><td>${escapeHtml(path)}</td><td>${escapeHtml(summary)}</td></tr>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${TITLE}</title>
<style>${PAGE_STYLE}</style></head>
<body><h1>${TITLE}</h1><p>${escapeHtml(DESCRIPTION)}.</p>
<p>Attester ${escapeHtml(identity.attester)} at ${escapeHtml(baseUrl)}</p>
<table>${rows.join('\n')}</table></body></html>
`
}

/** The built page, in which the path replaces a placeholder. */
const PAGE = 'no-such-page'
const PLACEHOLDER = '{path}'
const MAX_SHOWN_CHARACTERS = 200

/**
 * Returns a function that answers browsers with an HTML page that names the path, and the status. Paths of an API keep the error
 * format of their family for every client (decisions 43 and 90).
 *
 * @returns a function that returns undefined if the problem itself is to be sent
 */
export function createNotFoundPage(pages: Assets = openAssets(builtFolder('docs'))) {
  return ({ exchange, route }: RequestState, problem: ProblemData): Promise<RouteResult> | undefined => {
    const { path } = exchange
    const isPage = problem.type === 'not-found' && prefersPage(exchange) && route?.counts !== true
    if (!isPage || isApiPath(path) || !pages.has(PAGE)) return undefined
    return loadPage(pages, path)
  }
}

function isApiPath(path: string): boolean {
  return isRecordPath(path) || isOlderPath(path) || /^\/(?:compute|verify)(?:\/|$)/.test(path)
}

/** Returns true for a client that shows pages to people and reads, so an error may be a page too. */
export function prefersPage({ method, head }: RequestState['exchange']): boolean {
  return (method === 'GET' || method === 'HEAD') && prefersHtml(head.accept)
}

/** Returns true if a client prefers HTML. One that also accepts HTML but prefers JSON does not show pages to people. */
function prefersHtml(accept: string | undefined): boolean {
  const html = acceptQuality(accept, 'text/html')
  return (
    html > 0 && ['application/json', 'application/problem+json'].every((type) => acceptQuality(accept, type) < html)
  )
}

async function loadPage(pages: Assets, path: string): Promise<RouteResult> {
  // Not compressed, because the page is changed.
  const page = await pages.answer(PAGE, { acceptEncoding: undefined, ifNoneMatch: undefined })
  const html = Buffer.from(page.json).toString('utf8')
  // Not cached, so a tag would be of no use: the path may exist tomorrow.
  const { ETag: _, ...headers } = page.headers ?? {}
  return {
    ...page,
    json: Buffer.from(html.replace(PLACEHOLDER, () => escapeHtml(visibleText(clip(path, MAX_SHOWN_CHARACTERS))))),
    status: PROBLEMS['not-found'].status,
    headers: { ...headers, 'Cache-Control': 'no-store', Vary: 'Accept' },
  }
}
