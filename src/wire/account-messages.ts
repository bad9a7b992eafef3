/** Accounts of wallets: their nonces and sessions in the store. Only hashes of nonces and tokens leave the process that made them. */

import type { Hex } from './values.ts'

/** An open session of an account, without its tokens. */
export interface AccountSession {
  /** SHA-256 of the part of a refresh token that all refresh tokens of the session share, 64 hex digits. */
  readonly id: string
  /** `eip155:<chain>:<address>` in lower case, as in CAIP-10. Chain 0 stands for all chains: the address signs with a key of its own. */
  readonly account: string
  /** Milliseconds since the epoch from which on the token is invalid. */
  readonly tokenEndMs: number
  /** True if the account held what `WALLET_TIER_TOKEN` asks for when this token was made. */
  readonly isHolder: boolean
}

/** `client`: too many nonces of the client wait for their message. `full`: too many of all clients do. */
export type NonceOutcome = 'done' | 'client' | 'full'

/** `nonce`: it is unknown, was used or is too old. `full`: too many sessions have just ended. In both cases no session was opened. */
export type OpenOutcome = 'done' | 'nonce' | 'full'

/** `unknown`: there is no such session. `reused`: the refresh token is not the newest, so the session has ended now. */
export type RefreshOutcome = SessionState | 'unknown' | 'reused'

/** A session and the hash of its token, for those who look tokens up. */
export interface SessionState extends AccountSession {
  readonly tokenSha256: string
}

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
  /** Uses up a nonce and opens a session. The oldest sessions of the account end when there are more than `maxPerAccount`,
   * and the least recently refreshed ones of all accounts when there are more than `maxSessions`. */
  openSession: {
    argument: {
      readonly nonceSha256: string
      readonly session: SessionState & {
        readonly refreshSha256: string
        readonly endMs: number
        /** UID of the attestation that the account has named for its tier. */
        readonly attestation: Hex | undefined
      }
      readonly nowMs: number
      readonly maxPerAccount: number
      readonly maxSessions: number
    }
    result: OpenOutcome
  }
  /** Returns the account of the session that this refresh token can refresh, and the attestation that it has named; else undefined. */
  findRefresh: {
    argument: { readonly id: string; readonly usedSha256: string; readonly reuseMs: number; readonly nowMs: number }
    result: { readonly account: string; readonly attestation: Hex | undefined } | undefined
  }
  /** Replaces the tokens of a session. `tokenEndMs` is at most the end of the session. */
  refreshSession: {
    argument: {
      readonly id: string
      readonly usedSha256: string
      readonly tokenSha256: string
      readonly refreshSha256: string
      readonly tokenEndMs: number
      readonly isHolder: boolean
      /** For how long after its first use a refresh token can be used again, unless a newer one was used. */
      readonly reuseMs: number
      readonly nowMs: number
    }
    result: RefreshOutcome
  }
  endSession: { argument: { readonly id: string; readonly nowMs: number }; result: undefined }
  /**
   * Returns what changed after a number that an earlier call returned, or all sessions with a valid token after 0. `number` is the
   * argument of the next call. With `isWhole`, sessions that are not in `put` have ended.
   */
  changedSessions: {
    argument: { readonly after: number; readonly nowMs: number }
    result: {
      readonly number: number
      readonly isWhole: boolean
      readonly put: readonly SessionState[]
      readonly ended: readonly string[]
    }
  }
}
