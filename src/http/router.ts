import type { Route } from './routes.ts'

/** The rows of one path. */
export interface PathRoutes {
  readonly GET: Route | undefined
  readonly POST: Route | undefined
  /** Value of `Allow`. */
  readonly allow: string
  /** Set when the last segment is a parameter. */
  readonly prefix: string | undefined
  /** True when the parameter may hold slashes. */
  readonly isDeep: boolean
}

/** @returns a look-up by path; one slash at the end makes no difference, and nothing is decoded */
export function createRouter(routes: readonly Route[]): (path: string) => PathRoutes | undefined {
  const exact = new Map<string, PathRoutes>()
  const prefixed: PathRoutes[] = []
  for (const path of new Set(routes.map((route) => route.path))) {
    const rows = routes.filter((route) => route.path === path)
    const GET = rows.find(({ method }) => method === 'GET')
    const POST = rows.find(({ method }) => method === 'POST')
    const allow = [...(GET ? ['GET', 'HEAD'] : []), ...(POST ? ['POST'] : []), 'OPTIONS'].join(', ')
    const at = path.search(/[:*]/)
    const prefix = at < 0 ? undefined : path.slice(0, at)
    const entry: PathRoutes = { GET, POST, allow, prefix, isDeep: path[at] === '*' }
    if (prefix === undefined) exact.set(path, entry)
    else prefixed.push(entry)
  }
  return (path) => {
    const found = exact.get(path)
    if (found !== undefined) return found
    if (path.length > 1 && path.endsWith('/')) {
      const trimmed = exact.get(path.slice(0, -1))
      if (trimmed !== undefined) return trimmed
    }
    return prefixed.find(({ prefix, isDeep }) => {
      const rest = path.startsWith(prefix!) ? path.slice(prefix!.length) : ''
      return rest !== '' && rest !== '/' && (isDeep || !rest.slice(0, -1).includes('/'))
    })
  }
}

/** What stands in the place of the last segment. */
export function parameterOf(path: string, prefix: string | undefined): string {
  if (prefix === undefined) return ''
  return path.endsWith('/') ? path.slice(prefix.length, -1) : path.slice(prefix.length)
}
