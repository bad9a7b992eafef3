/** Tokens of sessions: of accounts that have signed in with a wallet. */
import { hash } from 'node:crypto'
import { LruCache } from '../../base/lru-cache.ts'
import type { ProblemData } from '../../base/problem.ts'
import type { SessionTable } from '../../service/accounts/session-table.ts'
import { TOKEN_PREFIX } from '../../service/accounts/sign-in.ts'
import { hasValidChecksum } from '../../service/keys/key-text.ts'
import type { SessionState } from '../../wire/account-messages.ts'
import { DEFAULT_SCOPES, type Tier } from '../../wire/key-messages.ts'
import { accountSubject } from '../../wire/usage-messages.ts'
import type { KeyHolder } from './api-keys.ts'
import type { TokenProblem } from './tokens.ts'

/** A token that this process does not know, and the store may. */
export interface UnreadToken {
  /** SHA-256 of the token. */
  readonly unread: string
}

export const SESSIONS_NOT_READ: ProblemData = {
  type: 'overloaded',
  detail: 'the session of this token has not been read from the database yet; try again',
  retryAfterSeconds: 1,
}

const ENDED = reject('the session of this token has ended: refresh it, or sign in again')
const MISSPELT = reject('the session token is misspelt: it begins with tps_ and ends with its checksum')
/** Longest token. Longer ones are rejected without the cost of hashing them. */
const MAX_TOKEN_LENGTH = 64
/** Tokens that the store does not have; they are not looked for again. */
const MAX_ABSENT = 10_000

export class SessionTokens {
  readonly #sessions: SessionTable
  readonly #tierOf: (session: SessionState) => Tier
  readonly #absent = new LruCache<true>(MAX_ABSENT)

  /** @param tierOf returns the tier of a session */
  constructor(sessions: SessionTable, tierOf: (session: SessionState) => Tier) {
    this.#sessions = sessions
    this.#tierOf = tierOf
  }

  /** True if a bearer value has the form of a token. */
  static hasForm(text: string): boolean {
    return text.startsWith(TOKEN_PREFIX)
  }

  /** Returns the holder of a token. */
  find(token: string, nowMs: number): KeyHolder | TokenProblem | UnreadToken {
    if (token.length > MAX_TOKEN_LENGTH || !hasValidChecksum(token, TOKEN_PREFIX)) return MISSPELT
    const sha256 = hash('sha256', token)
    const session = this.#sessions.find(sha256, nowMs)
    if (session === undefined) return this.#absent.get(sha256) === true ? ENDED : { unread: sha256 }
    return {
      kind: 'token',
      tier: this.#tierOf(session),
      label: session.account,
      subject: accountSubject(session.account),
      isWallet: true,
      scopes: DEFAULT_SCOPES,
      endMs: session.tokenEndMs,
      requestsPerHour: undefined,
      origins: undefined,
      addresses: undefined,
      session,
    }
  }

  /** Reads the sessions of the store, so that `find` knows a token if there is one. Without the store, it stays unread. */
  async read({ unread }: UnreadToken, nowMs: number): Promise<void> {
    const isRead = await this.#sessions.refresh()
    // No token of a later session has the same hash.
    if (isRead && this.#sessions.find(unread, nowMs) === undefined) this.#absent.set(unread, true)
  }
}

function reject(detail: string): TokenProblem {
  return { problem: { type: 'unauthorized', detail, challenge: 'error="invalid_token"' } }
}
