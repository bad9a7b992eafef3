import { builtFolder, MAP_POLICY, openAssets, serveAssets } from './assets.ts'
import { get } from './get-route.ts'
import type { Route } from './routes.ts'

/** What people read in a browser: made by the build, below `dist/web`. */
export function pageRoutes(): Route[] {
  const site = openAssets(builtFolder('site'))
  const file = (name: string, summary: string) =>
    get(`/${name}`, summary, ({ exchange }) => site.answer(name, exchange.head))
  return [
    ...serveAssets('/docs', openAssets(builtFolder('docs')), 'reference of every route, to read and to try'),
    ...serveAssets('/explore', openAssets(builtFolder('explore'), MAP_POLICY), 'the explorer: ask on a map'),
    file('llms.txt', 'what this service is, for language models'),
    file('favicon.ico', 'the sign of a trig point'),
  ]
}
