import { checksumAddress } from '../crypto/address.ts'
import type { SessionTokens, SignInNonce } from '../types/generated.ts'
import { writeSignInText } from '../wire/sign-in-text.ts'
import { requireChain } from './forms.ts'
import {
  ApiError,
  type CallOptions,
  type CallSession,
  ConnectionError,
  type SessionSource,
  type TokenWait,
  type Transport,
} from './transport.ts'

export interface SignInOptions extends CallOptions {
  /** Address of the wallet: `0x` and 40 hex digits. */
  readonly address: string
  /** Has the wallet sign the text (EIP-191, as `personal_sign` does) and returns the signature as hex. */
  readonly signMessage: (message: string) => Promise<string>
  /** Chain of the message; by default that of the client. It decides for an account that is a contract. */
  readonly chainId?: number | undefined
  /** Host that asks for the signature, which the wallet shows. By default that of the page, and of `baseUrl` outside of browsers. */
  readonly domain?: string | undefined
  /** By default the origin of the page, and of `baseUrl` outside of browsers. */
  readonly uri?: string | undefined
  /** One line that the wallet shows, in printable ASCII. */
  readonly statement?: string | undefined
  /** UID of an attestation that gives the account a higher tier, if the service has such a tier. */
  readonly attestation?: string | undefined
}

/** The tier of the new session, and why it is not the higher one, if the service has one. */
export type SignedIn = Pick<SessionTokens, 'tier' | 'tierNote'>

interface OpenSession {
  token: string
  refreshToken: string
  /** Milliseconds since the epoch, by the clock of this machine. */
  refreshAtMs: number
  endMs: number
  /** The request that replaces the tokens. All calls wait for the same one, because a refresh token is valid once. */
  refreshing: Promise<void> | undefined
}

/** How long before its end a token is replaced: at most this, and at most half of its time. */
const REFRESH_BEFORE_MS = 60_000
/** Time limit of the sign-out of a session that another sign-in replaces. */
const SIGN_OUT_MS = 5000

/**
 * The session of a wallet. Its tokens are in memory only. Calls get the token, and one of them replaces it when it is about to end.
 */
export class WalletSession implements SessionSource {
  readonly #openTransport: (source?: SessionSource) => Transport
  readonly #transport: Transport
  readonly #baseUrl: string
  readonly #chainId: number | undefined
  readonly #now: () => number
  #session: OpenSession | undefined
  /** Why the session ended. Calls throw it, instead of counting for somebody else, until the next sign-in or sign-out. */
  #ended: ApiError | undefined

  /**
   * @param openTransport opens a transport whose calls carry the tokens of the session of a source, or none
   * @param chainId default for messages without one
   * @param now milliseconds since the epoch
   */
  constructor(
    openTransport: (source?: SessionSource) => Transport,
    baseUrl: string,
    chainId: number | undefined,
    now: () => number,
  ) {
    this.#openTransport = openTransport
    this.#transport = openTransport()
    this.#baseUrl = baseUrl
    this.#chainId = chainId
    this.#now = now
  }

  /** Opens a session with a message that the wallet signs, and ends the session before it. */
  async signIn(options: SignInOptions): Promise<SignedIn> {
    const { statement, signMessage, attestation } = options
    const chainId = requireChain(options.chainId ?? this.#chainId)
    const address = checksumAddress(options.address)
    // Wallets warn of a message whose domain is not that of the page.
    const page = (globalThis as { readonly location?: { readonly host: string; readonly origin: string } }).location
    const { host, origin } = page ?? new URL(this.#baseUrl)
    const { domain = host, uri = origin } = options
    const { nonce, issuedAt } = await this.#post<SignInNonce>('/auth/nonce', undefined, options, true)
    // The service rejects messages from the future, so its clock counts: that of this machine may be minutes ahead.
    const serviceMs = Date.parse(issuedAt)
    const issuedAtMs = Number.isNaN(serviceMs) ? this.#now() : serviceMs
    const fields = { address, chainId, domain, uri, nonce, statement, issuedAtMs }
    const message = writeSignInText(fields)
    const signature = await signMessage(message)
    const tokens = await this.#post<SessionTokens>('/auth/siwe', { message, signature, attestation }, options, false)
    const previous = this.#session
    this.#session = { ...this.#readTokens(tokens), refreshing: undefined }
    this.#ended = undefined
    if (previous !== undefined) await this.#endPrevious(previous, options.signal)
    const { tier, tierNote } = tokens
    return { tier, ...(tierNote === undefined ? {} : { tierNote }) }
  }

  /**
   * Ends the session, and forgets its tokens even if that fails. A session that was opened meanwhile stays.
   *
   * @param send sends the request of the sign-out
   */
  async signOut(send: () => Promise<unknown>): Promise<void> {
    const session = this.#session
    if (session === undefined && this.#ended === undefined) return
    try {
      await send()
    } catch (error) {
      const hasEnded = error instanceof ApiError && error.status === 401
      if (!hasEnded) throw error
    } finally {
      if (this.#session === session) this.#session = undefined
      this.#ended = undefined
    }
  }

  current(): CallSession | undefined {
    const session = this.#session
    if (this.#ended !== undefined) throw this.#ended
    if (session === undefined) return undefined
    return {
      isCurrent: () => this.#session === session,
      token: (wait, rejected) => this.#tokenOf(session, wait, rejected),
    }
  }

  /** Returns the token of a session, after it was replaced if it is about to end or was rejected. */
  async #tokenOf(session: OpenSession, { signal, timeoutMs }: TokenWait, rejected: string | undefined) {
    if (session.token !== rejected && this.#now() < session.refreshAtMs) return session.token
    session.refreshing ??= this.#refresh(session).finally(() => {
      session.refreshing = undefined
    })
    // A token that stays valid is used if the new one takes long. The other half of the time is for the response.
    const halfMs = timeoutMs / 2
    const staysValid = session.token !== rejected && this.#now() + halfMs < session.endMs
    const half = staysValid ? AbortSignal.timeout(halfMs) : undefined
    try {
      await unlessAborted(session.refreshing, half === undefined ? [signal] : [signal, half])
    } catch (error) {
      // The service may be unable to refresh for a moment. The old token is valid meanwhile, unless the session has ended.
      const hasEnded = error instanceof ApiError && error.status === 401
      const isUsable = session.token !== rejected && this.#now() < session.endMs
      if (signal.aborted || hasEnded || !(isUsable || half?.aborted === true)) throw error
    }
    return session.token
  }

  /** Ends a session that another one has replaced. It would end later anyhow, so an error does not matter. */
  async #endPrevious(session: OpenSession, signal: AbortSignal | undefined): Promise<void> {
    const token = (wait: TokenWait, rejected: string | undefined) => this.#tokenOf(session, wait, rejected)
    const transport = this.#openTransport({ current: () => ({ isCurrent: () => true, token }) })
    const request = { method: 'POST', path: '/auth/sign-out', mayRepeat: false } as const
    await transport.json(request, { maxRetries: 0, signal, timeoutMs: SIGN_OUT_MS }).catch(() => {})
  }

  async #refresh(session: OpenSession): Promise<void> {
    try {
      // Repeated after 503 or a broken connection: the service takes the token again shortly after its first use.
      const { refreshToken } = session
      const tokens = await this.#post<SessionTokens>('/auth/refresh', { refreshToken }, {}, true)
      Object.assign(session, this.#readTokens(tokens))
    } catch (error) {
      const hasEnded = error instanceof ApiError && error.status === 401
      if (hasEnded && this.#session === session) {
        this.#session = undefined
        this.#ended = error
      }
      throw sayUncertain(error)
    }
  }

  #readTokens({ token, refreshToken, expiresAt }: SessionTokens): Omit<OpenSession, 'refreshing'> {
    const nowMs = this.#now()
    const endMs = Date.parse(expiresAt)
    const leftMs = endMs - nowMs
    // With a clock that is far ahead, the token seems to have ended. It is then replaced when the service rejects it.
    const refreshAtMs = leftMs > 0 ? endMs - Math.min(REFRESH_BEFORE_MS, leftMs / 2) : Number.POSITIVE_INFINITY
    return { token, refreshToken, refreshAtMs, endMs }
  }

  #post<T>(path: string, body: object | undefined, options: CallOptions, mayRepeat: boolean): Promise<T> {
    const json = body === undefined ? {} : { body: JSON.stringify(body) }
    return this.#transport.json<T>({ method: 'POST', path, mayRepeat, ...json }, options)
  }
}

/** Adds to the error of a refresh that the service may have replaced the tokens, if it does not rule that out. */
function sayUncertain(error: unknown): unknown {
  const words = 'the session may have ended: sign in again if the next call gets 401'
  if (error instanceof ConnectionError) return new ConnectionError(`${error.message}; ${words}`, { cause: error })
  if (!(error instanceof ApiError) || error.status < 500) return error
  return new ApiError({ ...error.problem, detail: `${error.problem.detail}; ${words}` }, error.retryAfterSeconds)
}

/**
 * Waits for a promise that others wait for too. An aborted signal ends only this wait. The signals are not joined by `AbortSignal.any`,
 * because Node.js 20 forgets a timeout in it when it collects garbage.
 */
function unlessAborted<T>(promise: Promise<T>, signals: readonly AbortSignal[]): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signals.find(({ aborted }) => aborted)?.reason)
    if (signals.some(({ aborted }) => aborted)) abort()
    for (const signal of signals) signal.addEventListener('abort', abort, { once: true })
    const stop = () => {
      for (const signal of signals) signal.removeEventListener('abort', abort)
    }
    promise.then(resolve, reject).finally(stop)
  })
}
