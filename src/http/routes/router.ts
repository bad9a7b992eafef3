import type { Route } from './route.ts'

/** The routes of one path. */
export interface PathRoutes {
  readonly GET: Route | undefined
  readonly POST: Route | undefined
  /** Value of `Allow`. */
  readonly allow: string
  /** Path before the parameter; undefined if the path has none. */
  readonly prefix: string | undefined
  /** True if the parameter may contain slashes. */
  readonly allowsSlashes: boolean
}

/** Returns a look-up by path. One trailing slash makes no difference, and nothing is decoded. */
export function createRouter(routes: readonly Route[]): (path: string) => PathRoutes | undefined {
  const exact = new Map<string, PathRoutes>()
  const prefixed: PathRoutes[] = []
  for (const path of new Set(routes.map((route) => route.path))) {
    const pathRoutes = routes.filter((route) => route.path === path)
    const GET = pathRoutes.find(({ method }) => method === 'GET')
    const POST = pathRoutes.find(({ method }) => method === 'POST')
    const allow = [...(GET ? ['GET', 'HEAD'] : []), ...(POST ? ['POST'] : []), 'OPTIONS'].join(', ')
    const parameterStart = path.search(/[:*]/)
    const prefix = parameterStart < 0 ? undefined : path.slice(0, parameterStart)
    const entry: PathRoutes = { GET, POST, allow, prefix, allowsSlashes: path[parameterStart] === '*' }
    if (prefix === undefined) exact.set(path, entry)
    else prefixed.push(entry)
  }
  return (path) => {
    const exactMatch = exact.get(path)
    if (exactMatch !== undefined) return exactMatch
    if (path.length > 1 && path.endsWith('/')) {
      const trimmed = exact.get(path.slice(0, -1))
      if (trimmed !== undefined) return trimmed
    }
    return prefixed.find(({ prefix, allowsSlashes: isDeep }) => {
      const remaining = path.startsWith(prefix!) ? path.slice(prefix!.length) : ''
      return remaining !== '' && remaining !== '/' && (isDeep || !remaining.slice(0, -1).includes('/'))
    })
  }
}

/** Returns the value of the path parameter; empty if the route has none. */
export function pathParameter(path: string, prefix: string | undefined): string {
  if (prefix === undefined) return ''
  return path.endsWith('/') ? path.slice(prefix.length, -1) : path.slice(prefix.length)
}
