import type { KeyService } from '../../service/keys/key-api.ts'
import type { Route } from './route.ts'

const PATH = '/admin/keys'

/** Returns the routes that manage API keys. They need a key with the scope `admin`. */
export function keyRoutes(keys: KeyService): Route[] {
  return [
    route('GET', '', 'lists the API keys that were added', () => keys.list()),
    route('POST', '', 'adds an API key, and shows it once', async (_request, body) => ({
      ...(await keys.add(body)),
      status: 201,
    })),
    route('POST', '/:id/rotate', 'replaces an API key by a new one', async ({ parameter, exchange }) => ({
      ...(await keys.rotate(parameter, exchange.query)),
      status: 201,
    })),
    route('DELETE', '/:id', 'revokes an API key', ({ parameter }) => keys.revoke(parameter)),
  ]
}

function route(method: Route['method'], path: string, summary: string, run: Route['run']): Route {
  return { method, path: `${PATH}${path}`, summary, counts: true, run }
}
