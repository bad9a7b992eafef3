/** Messages between threads about submissions. They are plain data. */
import type { Call } from './request-port.ts'
import type { AttestationPayload, RelayPayload, RelaySigningResult } from './signing-messages.ts'
import type { Hex } from './values.ts'

// ── Store ───────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * `queued`: it waits to be sent. `sent`: it is part of a transaction that is stored and was sent. `mined`: it is in a block
 * that a reorg may still remove. `finalized`: it is in a final block. `failed`: it is not on the chain and never will be.
 */
export type SubmissionStatus = 'queued' | 'sent' | 'mined' | 'finalized' | 'failed'

/** An attestation to be submitted to its chain. */
export interface NewSubmission {
  readonly id: string
  /** The client account whose gas budget pays for it. */
  readonly account: string
  /** Unique within its account. */
  readonly idempotencyKey: string
  /** Address of our account, which attests; lower case. */
  readonly sender: Hex
  readonly payload: AttestationPayload
  /** Upper estimate of the gas it will use. */
  readonly gas: number
  /** Position of the job to which it belongs. */
  readonly job?: number
}

export interface Submission {
  readonly id: string
  readonly chainId: number
  readonly status: SubmissionStatus
  /** Hash of the transaction, once it is in a block. */
  readonly transactionHash: Hex | undefined
  readonly blockNumber: number | undefined
  /** Time of the block. */
  readonly timeSeconds: number | undefined
  /** UID of the attestation on the chain. */
  readonly uid: Hex | undefined
  /** Why it failed, or had to be sent again. */
  readonly error: string | undefined
}

/**
 * `taken`: it is stored, by this request or by an equal earlier one. `conflict`: its idempotency key belongs to another payload,
 * `stored`.
 * `full`: too many submissions of its chain are queued; `share`: too many of its account. `spent`: its account has used up its daily gas.
 * `ended`: its job was cancelled, has failed or was deleted.
 */
export type SubmitOutcome =
  | { readonly outcome: 'taken'; readonly submission: Submission }
  | { readonly outcome: 'conflict'; readonly stored: Pick<AttestationPayload, 'kind' | 'data'> }
  | { readonly outcome: 'full' | 'share' | 'spent' | 'all-spent' | 'ended' }

/** One signed version of a transaction. The attempts of one nonce differ only in their fees. */
export interface RelayAttempt {
  readonly hash: Hex
  readonly raw: Hex
  readonly gas: number
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** The head block when it was signed. */
  readonly sentBlock: number
}

/** A block with a transaction of ours: its number, hash and time. */
export interface RelayBlock {
  readonly number: number
  readonly hash: Hex
  readonly timeSeconds: number
}

/** A transaction of our account that is not final yet. */
export type OpenTransaction = { readonly nonce: number; readonly itemCount: number } & (
  | {
      readonly state: 'sent'
      /** Oldest first; never empty. */
      readonly attempts: readonly RelayAttempt[]
      readonly items: readonly AttestationPayload[]
    }
  | { readonly state: 'mined' | 'reverted'; readonly hash: Hex; readonly blockNumber: number; readonly blockHash: Hex }
)

/** The pending work of one chain's relay. */
export interface RelayWork {
  /** Oldest first. */
  readonly queued: readonly { readonly id: string; readonly payload: AttestationPayload }[]
  /** In ascending order of nonces. */
  readonly open: readonly OpenTransaction[]
  /** One more than the highest nonce that this service ever used; undefined before the first. */
  readonly nextNonce: number | undefined
}

/** One change to the stored submissions of a chain. */
export type RelayStep =
  /** Puts queued submissions into a transaction, in this order. */
  | { readonly step: 'begin'; readonly nonce: number; readonly ids: readonly string[]; readonly attempt: RelayAttempt }
  /** Adds an attempt with a higher fee. `attempts` is the number of earlier attempts. */
  | { readonly step: 'raise'; readonly nonce: number; readonly attempts: number; readonly attempt: RelayAttempt }
  | {
      readonly step: 'mined'
      readonly nonce: number
      readonly hash: Hex
      readonly block: RelayBlock
      /** In the order of the submissions. */
      readonly uids: readonly Hex[]
      readonly gasUsed: number
    }
  | { readonly step: 'reverted'; readonly nonce: number; readonly hash: Hex; readonly block: RelayBlock }
  /** A reorg removed the blocks of these transactions. */
  | { readonly step: 'vanished'; readonly nonces: readonly number[] }
  /** The blocks of these transactions are final. */
  | { readonly step: 'finalized'; readonly blocks: readonly { readonly nonce: number; readonly hash: Hex }[] }
  /**
   * The nonce was used up without attesting. Its submissions are queued again, but fail after `maxAttempts` transactions (not
   * `RelayAttempt`s, of which each transaction may have several).
   */
  | { readonly step: 'lost'; readonly nonce: number; readonly maxAttempts: number; readonly error: string }
  /** These submissions cannot be attested, and no transaction with them can still be mined. */
  | { readonly step: 'failed'; readonly ids: readonly string[]; readonly error: string }
  /** Deletes submissions that became final or failed before this time. */
  | { readonly step: 'forget'; readonly beforeMs: number }

export interface RelayAccount {
  readonly chainId: number
  readonly sender: Hex
}

/** Number of submissions of one chain in one status. */
export interface SubmissionCount {
  readonly chainId: number
  readonly status: SubmissionStatus
  readonly count: number
  /** When the oldest of them was accepted, in milliseconds since the epoch. */
  readonly oldestMs: number
}

/** The store operations for submissions, part of `StoreOperations`. */
export interface SubmissionOperations {
  /** Stores all submissions in one database transaction. */
  submit: {
    argument: {
      readonly submissions: readonly NewSubmission[]
      readonly maxQueued: number
      readonly maxQueuedPerKey: number
      readonly gasPerDay: number
      readonly gasPerDayOfAll: number
      readonly nowMs: number
    }
    /** In the order of the submissions. */
    result: readonly SubmitOutcome[]
  }
  /** Returns the submissions with these IDs, as far as they exist. */
  submissions: { argument: readonly string[]; result: readonly Submission[] }
  /** Counts the submissions of one account. Chains and statuses without submissions are omitted. */
  submissionCounts: {
    argument: {
      readonly sender: Hex
      readonly chainIds: readonly number[]
      readonly statuses: readonly SubmissionStatus[]
    }
    result: readonly SubmissionCount[]
  }
  relayWork: { argument: RelayAccount & { readonly maxItems: number }; result: RelayWork }
  /** Returns false, and changes nothing, if the stored state is not the one that the step expects. */
  relayStep: { argument: RelayAccount & { readonly change: RelayStep; readonly nowMs: number }; result: boolean }
}

/**
 * State of a chain's relay. `waiting`: submissions are held until the condition in `reason` ends. `unfunded`: new submissions
 * are rejected.
 */
export type RelayState =
  | { readonly state: 'ready' }
  | { readonly state: 'unknown' | 'waiting' | 'unfunded'; readonly reason: string }

/** What the relay asks main for. Main passes it to the signer. */
export interface RelayOperations {
  sign: { argument: RelayPayload; result: RelaySigningResult }
}

/** From the relay to main, over a separate port. Main sends only answers. */
export type RelayReply =
  | Call
  | { readonly type: 'state'; readonly chainId: number; readonly state: RelayState }
  /** For the log. */
  | { readonly type: 'note'; readonly event: string; readonly facts: RelayFacts }

export type RelayFacts = Readonly<Record<string, string | number>>
