/** Messages between threads. They are plain data, because structured clone drops classes. Errors are data too (`ProblemData`). */

import type { MessagePort } from 'node:worker_threads'
import type { PackedBytes } from '../base/bytes.ts'
import type { ProblemData } from '../base/problem.ts'
import type { Geometry, VerifiedLocationProof } from '../types/generated.ts'
import type { DidKeys, Evaluation } from './evidence-messages.ts'
import type { RelayPayload, RelaySigningResult } from './relay-messages.ts'

/** `0x` and hex digits. */
export type Hex = `0x${string}`

// ── Signing ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** Kinds of attested data. The signer knows their layouts and signs nothing else (decision 95). */
export type AttestationKind = 'numeric' | 'boolean' | 'verify' | 'merkle-root'

interface PayloadFields {
  readonly chainId: number
  /** Schema UID, lower case. */
  readonly schema: Hex
  /** 20 bytes, lower case. */
  readonly recipient: Hex
  /** ABI-encoded attestation data. */
  readonly data: Hex
}

/** A delegated EAS attestation. The signer adds the nonce and the deadline. */
export interface AttestationPayload extends PayloadFields {
  readonly kind: AttestationKind
}

/** A result to be signed without a nonce, for contracts other than EAS (decision 104). The signer adds the deadline. */
export interface ResultPayload extends PayloadFields {
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
  readonly items: readonly AttestationPayload[]
}

/** How many attestations one EAS transaction has gas for; also how many one client may have signed ahead of the nonce. */
export const MAX_SEQUENCE = 40

/** A payload that main sends to the signer. It is never a digest, always the data and its kind. */
export type SigningPayload = AttestationPayload | ResultPayload | SequencePayload | RelayPayload

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
      /** The same for items of batches. No client waits for a single one of them, so their results come back together. */
      readonly bulk: Uint8Array
      readonly others: readonly (readonly [id: number, payload: UnpackedPayload])[]
    }
  /** A port to the sync thread, so that nonces do not pass through main. */
  | { readonly type: 'nonces'; readonly port: MessagePort }
  /** The thread handles all earlier messages, then ends. */
  | { readonly type: 'close' }

/** From the signer to main. */
export type SignerReply =
  | { readonly type: 'ready'; readonly address: string; readonly keyKind: SigningKeyKind; readonly backend: string }
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

// ── Chain access ────────────────────────────────────────────────────────────────────────────────────────────────

/** An EAS attestation as read from a chain. Integers that fit into a number are numbers. */
export interface ChainAttestation {
  readonly uid: Hex
  readonly schema: Hex
  readonly timeSeconds: number
  readonly expirationTimeSeconds: number
  readonly revocationTimeSeconds: number
  readonly refUID: Hex
  readonly recipient: Hex
  readonly attester: Hex
  readonly revocable: boolean
  readonly data: Hex
}

/** Whether a chain's contracts are the ones we sign for: they match, could not be read yet, or differ. */
export type ChainState =
  | { readonly state: 'ok' }
  | { readonly state: 'unverified'; readonly reason: string }
  | { readonly state: 'refused'; readonly reason: string }

/** Result of a lookup. `value` is undefined if the chain has none. `wrong`: the RPC response cannot be correct. */
export type ChainResult<T> =
  | { readonly ok: true; readonly value: T | undefined }
  | { readonly ok: false; readonly reason: string; readonly cause: 'unreachable' | 'wrong' }

// ── Inputs ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** One validated input of a compute request. `form` discriminates the union. */
export type Input = { readonly path: readonly (string | number)[] } & (
  | { readonly form: 'geometry'; readonly geometry: Geometry }
  | { readonly form: 'onchain'; readonly uid: string }
  | { readonly form: 'proof'; readonly verifiedProof: VerifiedLocationProof }
)

// ── Compute ─────────────────────────────────────────────────────────────────────────────────────────────────────

export type OperationName = 'distance' | 'area' | 'length' | 'contains' | 'within' | 'intersects'

/** An input that main resolved (a `{uid}` or a verified proof): its reference and its geometry as JSON. */
export interface ResolvedInput {
  readonly field: string
  readonly ref: Hex
  readonly geometry: string
  /** The attested location type. For a proof, set only if its location is text. */
  readonly locationType?: string | undefined
}

/** One request for a compute thread. The body stays bytes, because cloning the parsed object costs as much as parsing it. */
export interface ComputeTask {
  readonly operation: OperationName
  readonly body: Uint8Array
  readonly resolved: readonly ResolvedInput[]
  readonly timestampSeconds: number
}

/** Several tasks in one message. Their bodies are packed and transferred; the other members are cloned. */
export interface ComputeBatch {
  readonly bytes: PackedBytes
  readonly heads: readonly Omit<ComputeTask, 'body'>[]
}

/** The operator's decisions about devices. Plain data, because the compute threads get it. */
export interface DeviceTrust {
  /** PEM certificates or public keys that are trusted in addition to Google's key attestation root. */
  readonly androidRoots: readonly string[]
  /** The same, in addition to Apple's App Attest root. */
  readonly appleRoots: readonly string[]
  /** Serial numbers of revoked certificates, lower-case hex without leading zeros. */
  readonly revokedSerials: readonly string[]
  /** Android packages whose attestations are accepted; if empty, any. */
  readonly androidPackages: readonly string[]
  /** SHA-256 of the certificates that sign those packages, lower-case hex; if empty, any. */
  readonly androidSigners: readonly string[]
  /** `TEAMID.bundle.identifier` of accepted apps; if empty, none, because App Attest can only be checked against a named app. */
  readonly appleAppIds: readonly string[]
  /** True: attestations of development builds are accepted. Apple attests those too. */
  readonly allowDevelopmentApps: boolean
  /** Fingerprints of accepted OpenPGP keys, upper-case hex; if empty, any. */
  readonly pgpFingerprints: readonly string[]
}

/** The start data of a compute thread. */
export interface ComputeWorkerData {
  readonly limits: {
    readonly maxVertices: number
    readonly maxParts: number
    readonly maxCollectionDepth: number
    readonly maxJsonDepth: number
    readonly maxDistanceSolves: number
    /** Size of the thread's cache of prepared geometries. */
    readonly maxPreparedBytes: number
    /** All supported chains. */
    readonly chainIds: readonly number[]
  }
  /** True: the `mock` plugin is enabled. */
  readonly allowMock: boolean
  /** Addresses and Ed25519 keys of trusted latency witnesses, 0x and lower case. undefined: no witness is preferred. */
  readonly witnesses: readonly string[] | undefined
  /** Which devices and apps are trusted. undefined: only the pinned roots of their makers. */
  readonly deviceTrust: DeviceTrust | undefined
  /** Keys of `did:web` signers. undefined: their signatures do not count. */
  readonly didKeys: DidKeys | undefined
  readonly evaluation: Evaluation
  /** Modules of the plugins that the operator adds, as file URLs. */
  readonly pluginUrls: readonly string[]
  /** True in the large lane: the thread lowers its scheduling priority. */
  readonly lowPriority: boolean
}

/** A reference in a body that a compute thread cannot resolve itself. */
export interface UnresolvedInput {
  readonly field: string
  /** The validated input, `onchain` or `proof`. */
  readonly input: Input
}

export type ComputeResult =
  | {
      readonly ok: true
      readonly kind: 'numeric' | 'boolean'
      /** The members of the response, as JSON that `resultMembers` writes. A string, because strings are cheap to send. */
      readonly members: string
      readonly data: Hex
      readonly chainId: number
      readonly schema: Hex | undefined
      readonly recipient: Hex
    }
  | { readonly ok: false; readonly problem: ProblemData }
  | { readonly ok: 'unresolved'; readonly chainId: number; readonly inputs: readonly UnresolvedInput[] }
