/** Attestations on their way to a chain, as they cross the borders of threads: plain data. */
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
