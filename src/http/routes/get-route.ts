import type { Route } from './routes.ts'

/** Makes a GET route that does not count towards the hourly limit. */
export function getRoute(path: string, summary: string, run: Route['run']): Route {
  return { method: 'GET', path, summary, counts: false, run }
}
