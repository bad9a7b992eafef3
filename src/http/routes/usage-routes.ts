import { ProblemError, problemAt } from '../../base/problem.ts'
import type { UsageFormat, UsageService } from '../../service/usage/usage-api.ts'
import { acceptQuality } from '../transport/request-head.ts'
import { type Route, type RouteRequest, VARY_ACCEPT } from './route.ts'

/** Returns the routes with which the holder of a key, and an operator, read what a key used. */
export function usageRoutes(usage: UsageService): Route[] {
  return [
    route(
      '/account/usage',
      'what your API key used, by day',
      { needsKey: true, holderCounts: 'cost' },
      async (request, format) => {
        const { account } = request.caller
        if (account === undefined) throw new ProblemError({ type: 'unauthorized', detail: 'An API key is required' })
        return usage.own(account, request.exchange.query, format, request.exchange)
      },
    ),
    route('/admin/keys/:id/usage', 'what an API key used, by day', { scope: 'admin' }, (request, format) =>
      usage.ofKey(request.parameter, request.exchange.query, format, request.exchange),
    ),
  ]
}

function route(
  path: string,
  summary: string,
  access: Pick<Route, 'needsKey' | 'scope' | 'holderCounts'>,
  run: (request: RouteRequest, format: UsageFormat) => ReturnType<UsageService['own']>,
): Route {
  return {
    method: 'GET',
    path,
    summary,
    counts: true,
    ...access,
    run: async (request) => {
      const { query, head } = request.exchange
      const format = negotiateFormat(query, head.accept)
      const { json, headers } = await run(request, format)
      return { json, kind: format, headers: { ...headers, ...VARY_ACCEPT } }
    },
  }
}

/** Returns the format that the parameter `format` names, else the one that `Accept` prefers. */
function negotiateFormat(query: string, accept: string | undefined): UsageFormat {
  const named = new URLSearchParams(query).getAll('format')
  if (named.length === 0)
    return acceptQuality(accept, 'text/csv') > acceptQuality(accept, 'application/json') ? 'csv' : 'json'
  if (named.length === 1 && (named[0] === 'json' || named[0] === 'csv')) return named[0]
  throw problemAt('invalid-input', ['format'], 'is not json or csv', {
    code: 'format',
    hint: 'send it once, or not at all',
  })
}
