import { PROBLEMS, type ProblemData } from '../problem.ts'
import { type Assets, builtFolder, openAssets } from './assets.ts'
import { isOlderPath } from './older-error.ts'
import { isRecordPath } from './record-error.ts'
import { qualityOf } from './record-format.ts'
import type { RequestState } from './request-state.ts'
import type { RouteAnswer } from './routes.ts'

/** What the build says of this refusal, among the pages below `/errors`. */
const PAGE = 'errors/not-found'

/**
 * For a browser that finds nothing outside the APIs, the page about that, with the status of the refusal. Paths of an API keep
 * the errors of their family, whoever asks (decisions 43 and 90).
 *
 * @returns undefined when the problem itself is the answer
 */
export function createNotFoundPage(pages: Assets = openAssets(builtFolder('docs'))) {
  return ({ exchange, route }: RequestState, problem: ProblemData): Promise<RouteAnswer> | undefined => {
    const { method, head, path } = exchange
    const isPage = problem.type === 'not-found' && (method === 'GET' || method === 'HEAD') && route?.counts !== true
    if (!isPage || isApiPath(path) || !prefersHtml(head.accept) || !pages.has(PAGE)) return undefined
    return answerOf(pages, head.acceptEncoding)
  }
}

function isApiPath(path: string): boolean {
  return isRecordPath(path) || isOlderPath(path) || /^\/(?:compute|verify)(?:\/|$)/.test(path)
}

/** A program that takes a page too, but rather JSON, is none that shows it to anybody. */
function prefersHtml(accept: string | undefined): boolean {
  const html = qualityOf(accept, 'text/html')
  return html > 0 && ['application/json', 'application/problem+json'].every((type) => qualityOf(accept, type) < html)
}

async function answerOf(pages: Assets, acceptEncoding: string | undefined): Promise<RouteAnswer> {
  const page = await pages.answer(PAGE, { acceptEncoding, ifNoneMatch: undefined })
  // Kept by nobody, so that there is nothing to compare with: the path may lead somewhere tomorrow.
  const { ETag: _, ...headers } = page.headers ?? {}
  return {
    ...page,
    status: PROBLEMS['not-found'].status,
    headers: { ...headers, 'Cache-Control': 'no-store', Vary: 'Accept, Accept-Encoding' },
  }
}
