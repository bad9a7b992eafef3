import { ProblemError } from '../problem.ts'
import { type Assets, builtFolder, MAP_POLICY, openAssets, serveAssets } from './assets.ts'
import { get } from './get-route.ts'
import { openApiText } from './openapi.ts'
import { problemListJson, problemPageJson } from './problem-pages.ts'
import { qualityOf } from './record-format.ts'
import type { Route, RouteAnswer, RouteRequest } from './routes.ts'

const VARY_ACCEPT = { Vary: 'Accept' }

/** The explorer, which is also what a browser gets at `/`. */
export function openExplorer(): Assets {
  return openAssets(builtFolder('explore'), MAP_POLICY)
}

/** What people read: the reference and its document, the guide, the explorer, the pages that errors lead to. */
export function pageRoutes(explorer: Assets): Route[] {
  const docs = openAssets(builtFolder('docs'))
  const site = openAssets(builtFolder('site'))
  const file = (name: string, summary: string) =>
    get(`/${name}`, summary, ({ exchange }) => site.answer(name, exchange.head))
  return [
    get('/openapi.json', 'every route as OpenAPI 3.1', () => ({ json: openApiText() })),
    ...serveAssets('/docs', docs, 'reference of every route, to read and to try'),
    ...serveAssets('/explore', explorer, 'the explorer: ask on a map'),
    get('/errors', 'every kind of refusal with its cause and remedy', (request) =>
      negotiated(request, docs, 'errors', problemListJson(request)),
    ),
    get('/errors/:type', 'cause and remedy of a problem type', (request) => {
      const json = problemPageJson(request.parameter, request)
      if (json === undefined) {
        throw new ProblemError({ type: 'not-found', detail: 'there is no such problem type; GET /errors lists them' })
      }
      return negotiated(request, docs, `errors/${request.parameter}`, json)
    }),
    file('llms.txt', 'what this service is, for language models'),
    file('favicon.ico', 'the sign of a trig point'),
  ]
}

/** The page of the build for who names HTML, if there is one; JSON for everybody else. */
function negotiated(request: RouteRequest, pages: Assets, name: string, json: string): ReturnType<Route['run']> {
  const isPage = wantsHtml(request) && pages.has(name)
  return isPage ? builtPage(request, pages, name) : { json, headers: VARY_ACCEPT }
}

/** Only what names the type asks for a page: curl sends any (decision 112). With the weight 0 it is named as unwanted. */
export function wantsHtml({ exchange }: RouteRequest): boolean {
  return qualityOf(exchange.head.accept, 'text/html') > 0
}

/** A page of the build under an address that answers others with JSON. */
export async function builtPage({ exchange }: RouteRequest, pages: Assets, name: string): Promise<RouteAnswer> {
  const page = await pages.answer(name, exchange.head)
  return { ...page, headers: { ...page.headers, Vary: 'Accept, Accept-Encoding' } }
}
