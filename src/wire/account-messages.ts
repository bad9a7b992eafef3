/** Accounts of wallets: their nonces and sessions in the store. Only hashes of nonces and tokens leave the process that made them. */

/** An open session of an account, without its tokens. */
export interface AccountSession {
  /** SHA-256 of the part of a refresh token that all refresh tokens of the session share, 64 hex digits. */
  readonly id: string
  /** `eip155:<chain>:<address>` in lower case, as in CAIP-10. Chain 0 stands for all chains: the address signs with a key of its own. */
  readonly account: string
  /** Milliseconds since the epoch from which on the token is invalid. */
  readonly tokenEndMs: number
}

/** The hashes of the tokens of a session, 64 hex digits each, and how long the first one is valid. */
export interface SessionTokens {
  readonly tokenSha256: string
  readonly refreshSha256: string
  readonly tokenEndMs: number
}

/** `client`: too many nonces of the client wait for their message. `full`: too many of all clients do. */
export type NonceOutcome = 'done' | 'client' | 'full'

/** `unknown`: there is no such session. `reused`: the refresh token was used before, so the session has ended now. */
export type RefreshOutcome = AccountSession | 'unknown' | 'reused'

/** Operations for accounts. All times are milliseconds since the epoch. */
export interface AccountOperations {
  addNonce: {
    argument: {
      readonly sha256: string
      /** Who asked for it. */
      readonly client: string
      readonly nowMs: number
      readonly endMs: number
      readonly maxNonces: number
      readonly maxPerClient: number
    }
    result: NonceOutcome
  }
  /** Returns true if a nonce can still be used. */
  hasNonce: { argument: { readonly sha256: string; readonly nowMs: number }; result: boolean }
  /** Uses up a nonce and opens a session. Returns false, and opens none, if the nonce is unknown, used or too old. */
  openSession: {
    argument: {
      readonly nonceSha256: string
      readonly session: AccountSession & SessionTokens & { readonly endMs: number }
      readonly nowMs: number
      /** The oldest sessions of the account end when there are more. */
      readonly maxPerAccount: number
    }
    result: boolean
  }
  /** Replaces the tokens of a session. */
  refreshSession: {
    argument: SessionTokens & { readonly id: string; readonly usedSha256: string; readonly nowMs: number }
    result: RefreshOutcome
  }
  /** Finds the sessions of tokens, by the SHA-256 of the token. The result has those that exist and have not ended. */
  findSessions: {
    argument: { readonly tokenSha256s: readonly string[]; readonly nowMs: number }
    result: readonly (AccountSession & { readonly tokenSha256: string })[]
  }
  endSession: { argument: { readonly id: string }; result: undefined }
}
