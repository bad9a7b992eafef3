/**
 * Messages between the main thread and the signer. Messages between threads are plain data, because structured clone drops
 * classes. Errors are data too (`ProblemData`).
 */

import type { MessagePort } from 'node:worker_threads'
import type { ProblemData } from '../base/problem.ts'
import type { AttestationKind, Hex } from './values.ts'

/** @typeParam Data ABI-encoded attestation data, as hex or as bytes */
interface PayloadFields<Data extends Hex | Uint8Array> {
  readonly chainId: number
  /** Schema UID, lower case. */
  readonly schema: Hex
  /** 20 bytes, lower case. */
  readonly recipient: Hex
  readonly data: Data
}

/** A delegated EAS attestation. The signer adds the nonce and the deadline. */
export interface AttestationPayload<Data extends Hex | Uint8Array = Hex> extends PayloadFields<Data> {
  readonly kind: AttestationKind
}

/** A result to be signed without a nonce, for contracts other than EAS (decision 104). The signer adds the deadline. */
export interface ResultPayload extends PayloadFields<Hex | Uint8Array> {
  readonly kind: 'result'
  readonly dataKind: 'numeric' | 'boolean'
  /** 32 random bytes. They distinguish equal results that are signed in the same second. */
  readonly salt: Hex
}

/** Attestations for one chain that will be submitted together. They are signed with consecutive nonces (decision 102). */
export interface SequencePayload {
  readonly kind: 'sequence'
  readonly chainId: number
  /** At most `MAX_SEQUENCE` payloads for the same chain, in the order of submission. */
  readonly items: readonly AttestationPayload<Hex | Uint8Array>[]
}

/** Largest number of attestations in one EAS transaction (its gas is limited), and thus in one signed sequence. */
export const MAX_SEQUENCE = 40

/** A transaction from our account that calls `multiAttest` of the chain's EAS contract. The signer encodes it. */
export interface RelayPayload {
  readonly kind: 'relay-transaction'
  readonly chainId: number
  /** The account's transaction nonce, not the attester's nonce in EAS. */
  readonly nonce: number
  readonly gas: number
  /** Wei per unit of gas. */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /**
   * At most `MAX_SEQUENCE` payloads, in the order in which they are attested. An empty list uses up the nonce without attesting.
   */
  readonly items: readonly AttestationPayload[]
}

/** A payload that main sends to the signer. It is never a digest, always the data and its kind. */
export type SigningPayload = AttestationPayload<Hex | Uint8Array> | ResultPayload | SequencePayload | RelayPayload

/** Source of the nonce (decision 100): read from the chain now, the last known value, or 0 because no value is known. */
export type NonceSource = 'chain' | 'cache' | 'default'

export interface SignedResult {
  readonly ok: true
  /** 65 bytes r‖s‖v, v 27 or 28. */
  readonly signature: Hex
  readonly deadlineSeconds: number
}

export interface SignedAttestation extends SignedResult {
  readonly nonce: number
  readonly nonceSource: NonceSource
}

export interface SigningFailure {
  readonly ok: false
  readonly problem: ProblemData
}

/** The signer's reply to an attestation payload. */
export type SigningResult = SignedAttestation | SigningFailure
/** The signer's reply to a result payload. */
export type ResultSigningResult = SignedResult | SigningFailure
/** The signer's reply to a sequence, which is signed as a whole or not at all. */
export type SequenceSigningResult = { readonly ok: true; readonly items: readonly SignedAttestation[] } | SigningFailure
/** A signed transaction: its bytes, ready for a node, and its hash. */
export type RelaySigningResult = { readonly ok: true; readonly raw: Hex; readonly hash: Hex } | SigningFailure
export type AnySigningResult = SigningResult | ResultSigningResult | SequenceSigningResult | RelaySigningResult

export type SigningKeyKind = 'private-key' | 'mnemonic' | 'keystore' | 'development'

/** Payload kinds without a byte encoding; they are rare. */
export type UnpackedPayload = SequencePayload | RelayPayload

/** From main to the signer. Replies carry the same IDs. */
export type SignerRequest =
  | {
      readonly type: 'sign'
      /** Payload records of attestations and results, joined by `joinRecords`. */
      readonly records: Uint8Array
      /** The same for items of batches. They are not urgent one by one, so their results come back together. */
      readonly bulk: Uint8Array
      readonly others: readonly (readonly [id: number, payload: UnpackedPayload])[]
    }
  /** A port to the sync thread, so that nonces do not pass through main. */
  | { readonly type: 'nonces'; readonly port: MessagePort }
  /** The thread handles all earlier messages, then ends. */
  | { readonly type: 'close' }

/** From the signer to main. */
export type SignerReply =
  | {
      readonly type: 'ready'
      readonly address: string
      readonly keyKind: SigningKeyKind
      /** True if the system still shows the key in the environment of the process. */
      readonly isKeyVisible: boolean
      readonly backend: string
    }
  /** The signer cannot start until the operator changes a setting. The thread ends. */
  | { readonly type: 'refused'; readonly reason: string }
  | {
      readonly type: 'signed'
      /** Signed records, one after the other, as `putSigned` writes them. */
      readonly signed: Uint8Array
      /** Results without a byte encoding. */
      readonly others: readonly (readonly [id: number, result: AnySigningResult])[]
      /** True once for each `sign` message. Results that still wait for a nonce follow in later messages. */
      readonly isBatchEnd: boolean
    }
  /** A bug in the signer, for the log. */
  | { readonly type: 'fault'; readonly reason: string }
