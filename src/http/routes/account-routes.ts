import type { AccountService } from '../../service/accounts/account-api.ts'
import type { SessionState } from '../../wire/account-messages.ts'
import { countedPost, type Route, type RouteRequest } from './route.ts'

/** Returns the routes that sign a wallet in, and those of its account. */
export function accountRoutes(accounts: AccountService): Route[] {
  return [
    // A wallet costs nothing: with the token of one account, a client could otherwise open any number of them.
    forAddress('/auth/nonce', 'a nonce for a message that a wallet signs', ({ exchange }) => accounts.nonce(exchange)),
    forAddress('/auth/siwe', 'signs a wallet in with a signed message (EIP-4361)', ({ exchange }, body) =>
      accounts.signIn(body, exchange),
    ),
    countedPost('/auth/refresh', 'continues a session with a refresh token', ({ exchange }, body) =>
      accounts.refresh(body, exchange),
    ),
    ofAccount('POST', '/auth/sign-out', 'ends a session', 'cost', async (session, { exchange }) => {
      await accounts.signOut(session, exchange)
      return { json: '', status: 204 }
    }),
    ofAccount('GET', '/account', 'the account of a session, and its limits', 'cost', (session) =>
      accounts.describe(session),
    ),
    ofAccount('GET', '/account/keys', 'lists the API keys of the account', 'cost', (session, { exchange }) =>
      accounts.listKeys(session, exchange),
    ),
    ofAccount(
      'POST',
      '/account/keys',
      'adds an API key of the account, and shows it once',
      undefined,
      async (session, { exchange }, body) => ({
        ...(await accounts.addKey(session, body, exchange)),
        status: 201,
      }),
    ),
    ofAccount(
      'POST',
      '/account/keys/:id/rotate',
      'replaces an API key of the account by a new one',
      'cost',
      async (session, { parameter, exchange }) => ({
        ...(await accounts.rotateKey(session, parameter, exchange.query, exchange)),
        status: 201,
      }),
    ),
    ofAccount(
      'DELETE',
      '/account/keys/:id',
      'revokes an API key of the account',
      'cost',
      (session, { parameter, exchange }) => accounts.revokeKey(session, parameter, exchange),
    ),
  ]
}

function forAddress(path: string, summary: string, run: Route['run']): Route {
  return { ...countedPost(path, summary, run), countsForAddress: true }
}

function ofAccount(
  method: Route['method'],
  path: string,
  summary: string,
  holderCounts: Route['holderCounts'],
  run: (session: SessionState, request: RouteRequest, body: Uint8Array) => ReturnType<Route['run']>,
): Route {
  return {
    method,
    path,
    summary,
    counts: true,
    needsSession: true,
    ...(holderCounts === undefined ? {} : { holderCounts }),
    run: (request, body) => run(request.session!, request, body),
  }
}
