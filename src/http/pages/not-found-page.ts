import { PROBLEMS, type ProblemData } from '../../base/problem.ts'
import type { RequestState } from '../access/request-state.ts'
import { isOlderPath, isRecordPath } from '../routes/error-bodies.ts'
import { escapeHtml } from '../routes/page-routes.ts'
import { acceptQuality } from '../routes/record-routes.ts'
import type { RouteResult } from '../routes/route.ts'
import { type Assets, builtFolder, openAssets } from './assets.ts'

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
    const { method, head, path } = exchange
    const isPage = problem.type === 'not-found' && (method === 'GET' || method === 'HEAD') && route?.counts !== true
    if (!isPage || isApiPath(path) || !prefersHtml(head.accept) || !pages.has(PAGE)) return undefined
    return loadPage(pages, path)
  }
}

function isApiPath(path: string): boolean {
  return isRecordPath(path) || isOlderPath(path) || /^\/(?:compute|verify)(?:\/|$)/.test(path)
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
    json: Buffer.from(html.replace(PLACEHOLDER, () => escapeHtml(path.slice(0, MAX_SHOWN_CHARACTERS)))),
    status: PROBLEMS['not-found'].status,
    headers: { ...headers, 'Cache-Control': 'no-store', Vary: 'Accept' },
  }
}
