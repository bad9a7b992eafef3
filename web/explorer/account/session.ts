/** The session of the wallet on the account page. Other pages use the API key of the tab instead. */
import { ApiError, type Client, createClient, type SignedIn } from '../../../src/client/client.ts'
import type { Api } from '../api.ts'
import type { WalletAccount } from '../wallets.ts'
import { type Limits, readLimits } from './limits.ts'

export interface AccountSession {
  /**
   * The client with the session. Its tokens are in the memory of this page only: a refresh token is valid once, and a duplicated tab
   * would get a copy of `sessionStorage`, whose use ends the session. So a reload needs another signature.
   */
  readonly client: Client
  /** @param changed called with the step that is waited for */
  signIn(account: WalletAccount, chainId: number, changed: (step: string) => void): Promise<SignedIn>
  /** Calls the listener with the limits in the headers of each response. */
  onLimits(listener: (limits: Limits) => void): void
}

const TIMEOUT_MS = 15_000
const STATEMENT = 'Sign in to this Trigpoint service. This is no transaction and costs nothing.'

export function createAccountSession({ baseUrl }: Api): AccountSession {
  const listeners: ((limits: Limits) => void)[] = []
  const observed: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    const isOwn = new Headers(init?.headers).has('authorization') && response.status !== 401
    const read = isOwn ? readLimits(response.headers) : undefined
    if (read !== undefined) for (const listener of listeners) listener(read)
    return response
  }
  const client = createClient({ baseUrl, fetch: observed, maxRetries: 1, maxRetryWaitMs: 2000, timeoutMs: TIMEOUT_MS })
  return {
    client,
    async signIn({ address, signMessage }, chainId, changed) {
      return client.signIn({
        address,
        chainId,
        statement: STATEMENT,
        async signMessage(message) {
          changed('Confirm the signature in the wallet …')
          const signature = await signMessage(message)
          changed('The service checks the signature …')
          return signature
        },
      })
    },
    onLimits(listener) {
      listeners.push(listener)
    },
  }
}

/** Returns true if the session has ended, or was ended elsewhere. */
export function isEnded(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401
}
