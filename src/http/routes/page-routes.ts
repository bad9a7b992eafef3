import { ProblemError } from '../../base/problem.ts'
import { openApiText } from '../openapi/document.ts'
import { type Assets, builtFolder, MAP_POLICY, openAssets, serveAssets } from '../pages/assets.ts'
import { problemListJson, problemPageJson } from '../pages/problem-pages.ts'
import { getRoute } from './get-route.ts'
import { acceptQuality } from './record-format.ts'
import type { Route, RouteRequest, RouteResult } from './routes.ts'

const VARY_ACCEPT = { Vary: 'Accept' }

/** Opens the files of the explorer, which browsers also get at `/`. */
export function openExplorer(): Assets {
  return openAssets(builtFolder('explore'), MAP_POLICY)
}

/** Returns the routes for people: reference, OpenAPI document, guide, explorer, and the pages that errors link to. */
export function pageRoutes(explorer: Assets): Route[] {
  const docs = openAssets(builtFolder('docs'))
  const site = openAssets(builtFolder('site'))
  const file = (name: string, summary: string) =>
    getRoute(`/${name}`, summary, ({ exchange }) => site.answer(name, exchange.head))
  return [
    getRoute('/openapi.json', 'every route as OpenAPI 3.1', () => ({ json: openApiText() })),
    ...serveAssets('/docs', docs, 'interactive reference of every route'),
    ...serveAssets('/explore', explorer, 'the explorer: the service on a map'),
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
