import type { Route } from './routes.ts'

/** A route that reads, and counts towards no limit. */
export function get(path: string, summary: string, run: Route['run']): Route {
  return { method: 'GET', path, summary, counts: false, run }
}
