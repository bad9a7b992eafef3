import type { AccountService } from '../../service/accounts/account-api.ts'
import type { SessionState } from '../../wire/account-messages.ts'
import { countedPost, type Route, type RouteRequest } from './route.ts'

/** Returns the routes that sign a wallet in, and those of its account. */
export function accountRoutes(accounts: AccountService): Route[] {
  return [
    countedPost('/auth/nonce', 'a nonce for a message that a wallet signs', ({ exchange }) =>
      accounts.nonce(exchange.client),
    ),
    countedPost('/auth/siwe', 'signs a wallet in with a signed message (EIP-4361)', ({ exchange }, body) =>
      accounts.signIn(body, exchange.client),
    ),
    countedPost('/auth/refresh', 'continues a session with a refresh token', (_request, body) =>
      accounts.refresh(body),
    ),
    ofAccount('POST', '/auth/sign-out', 'ends a session', async (session) => {
      await accounts.signOut(session)
      return { json: '', status: 204 }
    }),
    ofAccount('GET', '/account', 'the account of a session, and its limits', (session) => accounts.describe(session)),
    ofAccount('GET', '/account/keys', 'lists the API keys of the account', (session) => accounts.listKeys(session)),
    ofAccount(
      'POST',
      '/account/keys',
      'adds an API key of the account, and shows it once',
      async (session, _, body) => ({
        ...(await accounts.addKey(session, body)),
        status: 201,
      }),
    ),
    ofAccount(
      'POST',
      '/account/keys/:id/rotate',
      'replaces an API key of the account by a new one',
      async (session, { parameter, exchange }) => ({
        ...(await accounts.rotateKey(session, parameter, exchange.query)),
        status: 201,
      }),
    ),
    ofAccount('DELETE', '/account/keys/:id', 'revokes an API key of the account', (session, { parameter }) =>
      accounts.revokeKey(session, parameter),
    ),
  ]
}

function ofAccount(
  method: Route['method'],
  path: string,
  summary: string,
  run: (session: SessionState, request: RouteRequest, body: Uint8Array) => ReturnType<Route['run']>,
): Route {
  return {
    method,
    path,
    summary,
    counts: true,
    needsSession: true,
    run: (request, body) => run(request.session!, request, body),
  }
}
