/** What crosses a thread border: plain data, which structured clone keeps. An error is data too (`ProblemData`). */

import type { MessagePort } from 'node:worker_threads'
import type { DidKeys, Evaluation } from './evidence-messages.ts'
import type { PackedBytes } from './packed-bytes.ts'
import type { ProblemData } from './problem.ts'
import type { RelayPayload, RelaySigningResult } from './relay-messages.ts'
import type { Geometry, VerifiedLocationProof } from './types/generated.ts'

/** `0x` and hex digits. */
export type Hex = `0x${string}`

// ── Signing ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** The kinds of attested data the signer knows the layout of; it signs no other (decision 95). */
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

/** A delegated EAS attestation. The signer adds nonce and deadline. */
export interface AttestationPayload extends PayloadFields {
  readonly kind: AttestationKind
}

/** A result signed for contracts of others, without a nonce (decision 104). The signer adds the deadline. */
export interface ResultPayload extends PayloadFields {
  readonly kind: 'result'
  readonly dataKind: 'numeric' | 'boolean'
  /** 32 random bytes: equal results signed in one second stay two. */
  readonly salt: Hex
}

/** Attestations of one chain that will be submitted together: signed with consecutive nonces (decision 102). */
export interface SequencePayload {
  readonly kind: 'sequence'
  readonly chainId: number
  /** In the order of submission, at most `MAX_SEQUENCE`, each of the same chain. */
  readonly items: readonly AttestationPayload[]
}

/** What EAS takes in one transaction without running out of gas, and what one caller may have signed ahead of the nonce. */
export const MAX_SEQUENCE = 40

/** What main sends to the signer: never a digest, always the data with its kind. */
export type SigningPayload = AttestationPayload | ResultPayload | SequencePayload | RelayPayload

/** How the nonce was found (decision 100): read from the chain now, last known value, or 0 because nothing is known. */
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

export interface SigningRefusal {
  readonly ok: false
  readonly problem: ProblemData
}

/** What becomes of an attestation payload. */
export type SigningResult = SignedAttestation | SigningRefusal
/** What becomes of a result payload. */
export type ResultSigningResult = SignedResult | SigningRefusal
/** What becomes of a sequence: all of it or nothing. */
export type SequenceSigningResult = { readonly ok: true; readonly items: readonly SignedAttestation[] } | SigningRefusal
export type AnySigningResult = SigningResult | ResultSigningResult | SequenceSigningResult | RelaySigningResult

export type SigningKeyKind = 'private-key' | 'mnemonic' | 'keystore' | 'development'

/** What has no record: it is asked for seldom. */
export type UnpackedPayload = SequencePayload | RelayPayload

/** Main to signer. IDs come back with the results. */
export type SignerRequest =
  | {
      readonly type: 'sign'
      /** Attestations and results, as `joinRecords` joins them. */
      readonly records: Uint8Array
      /** Of batches: nobody waits for one of them alone, so their results come back together. */
      readonly bulk: Uint8Array
      readonly others: readonly (readonly [id: number, payload: UnpackedPayload])[]
    }
  /** The line to the chain thread: nonces never pass through main. */
  | { readonly type: 'nonces'; readonly port: MessagePort }
  /** The thread ends itself, after what came before. */
  | { readonly type: 'close' }

/** Signer to main. */
export type SignerReply =
  | { readonly type: 'ready'; readonly address: string; readonly keyKind: SigningKeyKind; readonly backend: string }
  /** The thread ends: the operator has to change something. */
  | { readonly type: 'refused'; readonly reason: string }
  | {
      readonly type: 'signed'
      /** One after the other, as `putSigned` writes them. */
      readonly signed: Uint8Array
      /** What has no such bytes. */
      readonly others: readonly (readonly [id: number, result: AnySigningResult])[]
      /** True once a `sign` message: the rest of its results, which wait for a nonce, come alone. */
      readonly isBatchEnd: boolean
    }
  /** A bug of ours, for the log. */
  | { readonly type: 'fault'; readonly reason: string }

// ── Chain access ────────────────────────────────────────────────────────────────────────────────────────────────

/** An EAS attestation as read from a chain; integers that fit are numbers. */
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

/** Whether a chain's contracts are the ones we sign for: compared, not reachable so far, or others. */
export type ChainState =
  | { readonly state: 'ok' }
  | { readonly state: 'unverified'; readonly reason: string }
  | { readonly state: 'refused'; readonly reason: string }

/** What a look-up found; `value` is undefined when the chain has no such thing. `wrong`: an answer that cannot be true. */
export type ChainResult<T> =
  | { readonly ok: true; readonly value: T | undefined }
  | { readonly ok: false; readonly reason: string; readonly cause: 'unreachable' | 'wrong' }

// ── Inputs ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** One checked input of a compute request, told apart by the member that names its form. */
export type Input = { readonly path: readonly (string | number)[] } & (
  | { readonly form: 'geometry'; readonly geometry: Geometry }
  | { readonly form: 'onchain'; readonly uid: string }
  | { readonly form: 'proof'; readonly verifiedProof: VerifiedLocationProof }
)

// ── Compute ─────────────────────────────────────────────────────────────────────────────────────────────────────

export type OperationName = 'distance' | 'area' | 'length' | 'contains' | 'within' | 'intersects'

/** An input that main resolved (a `{uid}` or a verified proof): its reference and its geometry as text. */
export interface ResolvedInput {
  readonly field: string
  readonly ref: Hex
  readonly geometry: string
  /** As attested; of a proof only where its location is text. */
  readonly locationType?: string | undefined
}

/** One request on its way to a compute thread. Bytes, because cloning the parsed object costs as much as parsing it. */
export interface ComputeTask {
  readonly operation: OperationName
  readonly body: Uint8Array
  readonly resolved: readonly ResolvedInput[]
  readonly timestampSeconds: number
}

/** Several tasks in one message: their bodies packed and transferred, the rest cloned. */
export interface ComputeBatch {
  readonly bytes: PackedBytes
  readonly heads: readonly Omit<ComputeTask, 'body'>[]
}

/** What an operator decides about devices. Plain data: it travels to the compute threads. */
export interface DeviceTrust {
  /** PEM certificates or public keys trusted beside Google's root of key attestation. */
  readonly androidRoots: readonly string[]
  /** The same beside Apple's root of App Attest. */
  readonly appleRoots: readonly string[]
  /** Serial numbers, lower-case hex without leading zeros. */
  readonly revokedSerials: readonly string[]
  /** Android packages whose attestation counts; any when empty. */
  readonly androidPackages: readonly string[]
  /** SHA-256 of the certificates that sign those packages, lower-case hex; anybody's when empty. */
  readonly androidSigners: readonly string[]
  /** `TEAMID.bundle.identifier` of the apps whose attestation counts; none when empty: App Attest names an app or nothing. */
  readonly appleAppIds: readonly string[]
  /** Apps built for development are attested by Apple too. */
  readonly allowDevelopmentApps: boolean
  /** OpenPGP keys that count, upper-case hex; any when empty. */
  readonly pgpFingerprints: readonly string[]
}

/** What a compute thread is told once, at its start. */
export interface ComputeWorkerData {
  readonly limits: {
    readonly maxVertices: number
    readonly maxParts: number
    readonly maxCollectionDepth: number
    readonly maxJsonDepth: number
    readonly maxDistanceSolves: number
    /** Bytes of geometries met before that a thread keeps. */
    readonly maxPreparedBytes: number
    /** Chains that are supported at all. */
    readonly chainIds: readonly number[]
  }
  /** The `mock` plugin answers too. */
  readonly allowMock: boolean
  /** Addresses and Ed25519 keys of latency witnesses that are believed: 0x and lower case; anybody's when undefined. */
  readonly witnesses: readonly string[] | undefined
  /** Which devices and apps count; the pinned roots of their makers alone when undefined. */
  readonly deviceTrust: DeviceTrust | undefined
  /** Keys of signers by `did:web`; their signatures count for nothing when undefined. */
  readonly didKeys: DidKeys | undefined
  readonly evaluation: Evaluation
  /** Modules with kinds of evidence that the operator adds, as file URLs. */
  readonly pluginUrls: readonly string[]
  /** True in the large lane: the thread asks the system to be scheduled after the others. */
  readonly lowPriority: boolean
}

/** A reference that a compute thread met in a large body and cannot resolve itself. */
export interface UnresolvedInput {
  readonly field: string
  /** The checked input, `onchain` or `proof`. */
  readonly input: Input
}

export type ComputeResult =
  | {
      readonly ok: true
      readonly kind: 'numeric' | 'boolean'
      /** What the answer says of it, as `resultMembers` writes it: text, for that is cheap to send. */
      readonly members: string
      readonly data: Hex
      readonly chainId: number
      readonly schema: Hex | undefined
      readonly recipient: Hex
    }
  | { readonly ok: false; readonly problem: ProblemData }
  | { readonly ok: 'unresolved'; readonly chainId: number; readonly inputs: readonly UnresolvedInput[] }
