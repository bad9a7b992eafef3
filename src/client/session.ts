import { checksumAddress } from '../crypto/address.ts'
import type { SessionTokens, SignInNonce } from '../types/generated.ts'
import { writeSignInText } from '../wire/sign-in-text.ts'
import { requireChain } from './forms.ts'
import { ApiError, type CallOptions, type TokenSource, type Transport } from './transport.ts'

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

/**
 * The session of a wallet. Its tokens are in memory only. Calls get the token, and one of them replaces it when it is about to end.
 */
export class WalletSession implements TokenSource {
  readonly #transport: Transport
  readonly #baseUrl: string
  readonly #chainId: number | undefined
  readonly #now: () => number
  #session: OpenSession | undefined
  /** Why the session ended. Calls throw it, instead of counting for somebody else, until the next sign-in or sign-out. */
  #ended: ApiError | undefined

  /**
   * @param transport without this session
   * @param chainId default for messages without one
   * @param now milliseconds since the epoch
   */
  constructor(transport: Transport, baseUrl: string, chainId: number | undefined, now: () => number) {
    this.#transport = transport
    this.#baseUrl = baseUrl
    this.#chainId = chainId
    this.#now = now
  }

  get isOpen(): boolean {
    return this.#session !== undefined || this.#ended !== undefined
  }

  /** Opens a session with a message that the wallet signs. */
  async signIn(options: SignInOptions): Promise<SignedIn> {
    const { statement, signMessage, attestation } = options
    const chainId = requireChain(options.chainId ?? this.#chainId)
    const address = checksumAddress(options.address)
    // Wallets warn of a message whose domain is not that of the page.
    const page = (globalThis as { readonly location?: { readonly host: string; readonly origin: string } }).location
    const { host, origin } = page ?? new URL(this.#baseUrl)
    const { domain = host, uri = origin } = options
    const { nonce } = await this.#post<SignInNonce>('/auth/nonce', undefined, options, true)
    const fields = { address, chainId, domain, uri, nonce, statement, issuedAtMs: this.#now() }
    const message = writeSignInText(fields)
    const signature = await signMessage(message)
    const tokens = await this.#post<SessionTokens>('/auth/siwe', { message, signature, attestation }, options, false)
    this.#session = { ...this.#readTokens(tokens), refreshing: undefined }
    this.#ended = undefined
    const { tier, tierNote } = tokens
    return { tier, ...(tierNote === undefined ? {} : { tierNote }) }
  }

  /** Forgets the tokens. */
  forget(): void {
    this.#session = undefined
    this.#ended = undefined
  }

  async token(signal: AbortSignal | undefined, rejected: string | undefined): Promise<string | undefined> {
    const session = this.#session
    if (this.#ended !== undefined) throw this.#ended
    if (session === undefined) return undefined
    if (session.token !== rejected && this.#now() < session.refreshAtMs) return session.token
    session.refreshing ??= this.#refresh(session).finally(() => {
      session.refreshing = undefined
    })
    try {
      await unlessAborted(session.refreshing, signal)
    } catch (error) {
      // The service may be unable to refresh for a moment. The old token is valid meanwhile.
      const isUsable = this.#session === session && session.token !== rejected && this.#now() < session.endMs
      if (signal?.aborted === true || !isUsable) throw error
    }
    // Somebody may have signed in meanwhile.
    const isReplaced = this.#session !== undefined && this.#session !== session
    return isReplaced ? this.token(signal, rejected) : session.token
  }

  async #refresh(session: OpenSession): Promise<void> {
    try {
      // Not repeated after a broken connection: a refresh token that is used twice ends the session.
      const { refreshToken } = session
      const tokens = await this.#post<SessionTokens>('/auth/refresh', { refreshToken }, {}, false)
      Object.assign(session, this.#readTokens(tokens))
    } catch (error) {
      const hasEnded = error instanceof ApiError && error.status === 401
      if (hasEnded && this.#session === session) {
        this.#session = undefined
        this.#ended = error
      }
      throw error
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

/** Waits for a promise that others wait for too. An aborted signal ends only this wait. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
