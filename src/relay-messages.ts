/** Attestations on their way to a chain, as they cross the borders of threads: plain data. */
import type { MessagePort } from 'node:worker_threads'
import type { AttestationPayload, Hex, SigningRefusal } from './messages.ts'

/** A transaction of our own account that attests: `multiAttest` of its chain's EAS contract, whose bytes the signer makes. */
export interface RelayPayload {
  readonly kind: 'relay-transaction'
  readonly chainId: number
  /** Of the account, which is not the attester's in EAS. */
  readonly nonce: number
  readonly gas: number
  /** Wei for a unit of gas. */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** In the order in which they are attested, at most `MAX_SEQUENCE`; none uses up a nonce and attests nothing. */
  readonly items: readonly AttestationPayload[]
}

/** What becomes of a transaction: its bytes as a node takes them, and their hash. */
export type RelaySigningResult = { readonly ok: true; readonly raw: Hex; readonly hash: Hex } | SigningRefusal

// ── Store ───────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * `queued`: it will be sent. `sent`: part of a transaction that is stored and on its way. `mined`: in a block, which a reorg
 * may still take back. `finalized`: in a block that stays. `failed`: nothing of it is on the chain, nor will be.
 */
export type SubmissionStatus = 'queued' | 'sent' | 'mined' | 'finalized' | 'failed'

/** An attestation to be put on its chain. */
export interface NewSubmission {
  readonly id: string
  /** Who pays for it with his budget. */
  readonly account: string
  /** Among those of its account. */
  readonly idempotencyKey: string
  /** Our account, which attests; lower case. */
  readonly sender: Hex
  readonly payload: AttestationPayload
  /** What it will use, guessed high. */
  readonly gas: number
}

export interface Submission {
  readonly id: string
  readonly chainId: number
  readonly status: SubmissionStatus
  /** Of the transaction that is in a block. */
  readonly transactionHash: Hex | undefined
  readonly blockNumber: number | undefined
  /** Of the block. */
  readonly timeSeconds: number | undefined
  /** Of the attestation on the chain. */
  readonly uid: Hex | undefined
  /** Why it failed, or had to be sent again. */
  readonly error: string | undefined
}

/**
 * `taken`: it is stored, now or by an equal request before. `conflict`: its idempotency key stands for another payload.
 * `full`: too many of its chain wait. `spent`: its account's gas of the day is used up.
 */
export type SubmitOutcome =
  | { readonly outcome: 'taken'; readonly submission: Submission }
  | { readonly outcome: 'conflict' | 'full' | 'spent' }

/** One signed form of a transaction; those of one nonce differ in their fees alone. */
export interface RelayAttempt {
  readonly hash: Hex
  readonly raw: Hex
  readonly gas: number
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** Head when it was signed. */
  readonly sentBlock: number
}

/** A block by number and hash, and a transaction's place in it. */
export interface RelayBlock {
  readonly number: number
  readonly hash: Hex
  readonly timeSeconds: number
}

/** A nonce of our account that is used and not final. */
export type OpenTransaction = { readonly nonce: number; readonly itemCount: number } & (
  | {
      readonly state: 'sent'
      /** Oldest first; never empty. */
      readonly attempts: readonly RelayAttempt[]
      readonly items: readonly AttestationPayload[]
    }
  | { readonly state: 'mined' | 'reverted'; readonly hash: Hex; readonly blockNumber: number; readonly blockHash: Hex }
)

/** What the relay of one chain has to do. */
export interface RelayWork {
  /** Oldest first. */
  readonly queued: readonly { readonly id: string; readonly payload: AttestationPayload }[]
  /** By nonce. */
  readonly open: readonly OpenTransaction[]
  /** One more than the highest nonce ever used here; undefined before the first. */
  readonly nextNonce: number | undefined
}

/** One change of what is stored of a chain's submissions. */
export type RelayStep =
  /** Puts queued submissions into a transaction, in this order. */
  | { readonly step: 'begin'; readonly nonce: number; readonly ids: readonly string[]; readonly attempt: RelayAttempt }
  /** @param attempts how many there were */
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
  /** Blocks with these transactions are gone. */
  | { readonly step: 'vanished'; readonly nonces: readonly number[] }
  /** These blocks, in which transactions are mined, stay. */
  | { readonly step: 'finalized'; readonly blocks: readonly { readonly nonce: number; readonly hash: Hex }[] }
  /** The nonce was used up without attesting; its submissions are queued again, or failed after so many transactions. */
  | { readonly step: 'lost'; readonly nonce: number; readonly maxAttempts: number; readonly error: string }
  /** Submissions that cannot be attested, and never were in a transaction that may still count. */
  | { readonly step: 'failed'; readonly ids: readonly string[]; readonly error: string }
  /** Forgets what is over since so long. */
  | { readonly step: 'forget'; readonly beforeMs: number }

export interface RelayAccount {
  readonly chainId: number
  readonly sender: Hex
}

/** Submissions of one chain in one state. */
export interface SubmissionCount {
  readonly chainId: number
  readonly status: SubmissionStatus
  readonly count: number
  /** When the oldest of them was taken, in milliseconds since the epoch. */
  readonly oldestMs: number
}

/** What the store is asked of submissions: part of `StoreOperations`. */
export interface SubmissionOperations {
  /** In one transaction. */
  submit: {
    argument: {
      readonly submissions: readonly NewSubmission[]
      readonly maxQueued: number
      readonly gasPerDay: number
      readonly nowMs: number
    }
    /** In the order of the submissions. */
    result: readonly SubmitOutcome[]
  }
  /** Those of the ids that exist. */
  submissions: { argument: readonly string[]; result: readonly Submission[] }
  /** Of one account; chains and statuses without any are left out. */
  submissionCounts: {
    argument: {
      readonly sender: Hex
      readonly chainIds: readonly number[]
      readonly statuses: readonly SubmissionStatus[]
    }
    result: readonly SubmissionCount[]
  }
  relayWork: { argument: RelayAccount & { readonly maxItems: number }; result: RelayWork }
  /** @returns false when the state was another one than the step expects: nothing was changed */
  relayStep: { argument: RelayAccount & { readonly change: RelayStep; readonly nowMs: number }; result: boolean }
}

/**
 * How the relay of a chain does. `waiting`: submissions are kept until what it says is over. `unfunded`: new ones are refused.
 */
export type RelayState =
  | { readonly state: 'ready' }
  | { readonly state: 'unknown' | 'waiting' | 'unfunded'; readonly reason: string }

/** Main to the relay, over a line of its own. */
export type RelayRequest =
  /** A line to the store, in the place of the one before. */
  | { readonly type: 'store'; readonly port: MessagePort }
  | { readonly type: 'signed'; readonly id: number; readonly result: RelaySigningResult }

/** The relay to main. */
export type RelayReply =
  | { readonly type: 'sign'; readonly id: number; readonly payload: RelayPayload }
  | { readonly type: 'state'; readonly chainId: number; readonly state: RelayState }
  /** For the log. */
  | { readonly type: 'note'; readonly event: string; readonly facts: RelayFacts }

export type RelayFacts = Readonly<Record<string, string | number>>
