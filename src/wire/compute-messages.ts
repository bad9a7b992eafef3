/** Messages between the main thread and the compute threads about compute requests. */

import type { PackedBytes } from '../base/bytes.ts'
import type { ProblemData } from '../base/problem.ts'
import type { Geometry, OffchainAttestation, VerifiedLocationProof } from '../types/generated.ts'
import type { StoredShape } from './stored-messages.ts'
import type { Hex, OperationName } from './values.ts'

/** 32 bytes that are hashed with an input, or `random` if the service draws them (decision 138). */
export type Salt = Hex | 'random'

/** One validated input of a compute request. `form` discriminates the union. */
export type Input = { readonly path: readonly (string | number)[]; readonly salt?: Salt } & (
  | { readonly form: 'geometry'; readonly geometry: Geometry }
  | { readonly form: 'onchain'; readonly uid: string }
  /** An off-chain attestation, whose shape is checked. `attestationPath`: its path, below which `signer` may stand too. */
  | {
      readonly form: 'attested'
      readonly attestation: OffchainAttestation
      readonly attestationPath: readonly (string | number)[]
      readonly signer: string
    }
  | { readonly form: 'proof'; readonly verifiedProof: VerifiedLocationProof }
  /** A stored geometry, by its hash in lower case. `isWhole`: the operation needs its text, not only its vertices. */
  | { readonly form: 'stored'; readonly ref: Hex; readonly isWhole?: boolean }
  /** An input of the batch's table, by its name there. */
  | { readonly form: 'named'; readonly name: string }
)

/** An input that main resolved (a `{uid}`, an off-chain attestation or a verified proof): its reference and its geometry as JSON. */
export interface ResolvedInput {
  readonly field: string
  readonly ref: Hex
  readonly geometry: string
  /** The attested location type. For a proof, set only if its location is text. */
  readonly locationType?: string | undefined
  /** The chain on which the attester may have revoked an off-chain attestation, if the service cannot ask it. */
  readonly uncheckedChainId?: number
}

/** One request for a compute thread. The body stays bytes, because cloning the parsed object costs as much as parsing it. */
export interface ComputeTask {
  readonly operation: OperationName
  readonly body: Uint8Array
  readonly resolved: readonly ResolvedInput[]
  /** Stored geometries that its client may name, among them those that the body names. */
  readonly stored?: readonly StoredShape[]
  readonly timestampSeconds: number
}

/** Several tasks in one message. Their bodies are packed and transferred; the other members are cloned. */
export interface ComputeBatch {
  readonly type: 'compute'
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

/** A key with which a `did:web` subject signs. */
export interface DidKey {
  /** The fragment that names the key within its DID document. */
  readonly fragment: string
  /** The address of a secp256k1 key, lower case, or `ed25519:` and the public key in hex. */
  readonly key: string
}

/** Keys by DID, without the fragment. */
export type DidKeys = ReadonlyMap<string, readonly DidKey[]>

/**
 * Where an operator may claim that proofs are evaluated: in this process, in a trusted execution environment, or in a
 * zero-knowledge proof.
 */
export const EVALUATION_MODES = ['local', 'tee', 'zk'] as const

export type EvaluationMode = (typeof EVALUATION_MODES)[number]

/** Where and how proofs are evaluated, as responses report it. */
export interface Evaluation {
  readonly mode: EvaluationMode
  /** The name of the definitions behind the credibility vector. */
  readonly method: string
}

/** The evaluation that this program performs; any other value is the operator's claim (decision 130). */
export const OWN_EVALUATION: Evaluation = { mode: 'local', method: 'multifactor-v0' }

/** The start data of a compute thread. */
export interface ComputeWorkerData {
  readonly limits: {
    readonly maxVertices: number
    readonly maxParts: number
    readonly maxCollectionDepth: number
    readonly maxJsonDepth: number
    readonly maxWork: number
    /** Size of the thread's cache of prepared geometries. */
    readonly maxPreparedBytes: number
    /** All supported chains. */
    readonly chainIds: readonly number[]
  }
  /** True: the `mock` plugin is enabled. */
  readonly allowMock: boolean
  /** Addresses and Ed25519 keys of trusted latency witnesses, 0x and lower case. undefined: every witness counts. */
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
  /** The share of the answers that an independent library checks; 0: none. */
  readonly crossCheckShare: number
}

/** An answer that was computed, with what is needed to compute it again. */
export interface AnswerSample {
  readonly operation: OperationName
  /** The operation as it is signed, e.g. `within:50000`. */
  readonly signedOperation: string
  readonly inputRefs: readonly Hex[]
  /**
   * The request or the item of a batch, as received. The check parses it with `JSON.parse`, so that it also checks how the
   * service reads coordinates. Undefined if no check is possible; the sample is then only counted.
   */
  readonly body: Uint8Array | undefined
  /** The path in the body of each input. */
  readonly paths: readonly (readonly (string | number)[])[]
  /** Inputs that the body only refers to. */
  readonly resolved: readonly ResolvedInput[]
  readonly answer: SampledAnswer
}

export type SampledAnswer =
  /** `measure`: metres or square metres before rounding. `integer`: the signed number. `scale`: its units in one unit of `measure`. */
  | { readonly kind: 'numeric'; readonly measure: number; readonly integer: bigint; readonly scale: number }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'matrix'; readonly matrix: string }
  | { readonly kind: 'geometry' }

/** What a compute thread returns: the result, and what it cost. */
export interface Worked<Result> {
  readonly result: Result
  /** For each request of a message in order, or for a chunk as a whole: milliseconds of work, then vertices. */
  readonly costs: readonly number[]
  /** Answers to check, if there are any. */
  readonly samples?: readonly AnswerSample[]
}

/** A reference in a body that a compute thread cannot resolve itself. */
export interface UnresolvedInput {
  readonly field: string
  /** The validated input, `onchain`, `attested`, `proof` or `stored`. */
  readonly input: Input
}

export type ComputeResult =
  | {
      readonly type: 'computed'
      readonly kind: 'numeric' | 'boolean'
      /** The members of the response, as JSON that `resultMembers` writes. A string, because strings are cheap to send. */
      readonly members: string
      /** ABI-encoded attestation data. */
      readonly data: Uint8Array
      readonly chainId: number
      readonly schema: Hex | undefined
      readonly recipient: Hex
      /** True if the service is to submit the result to its chain itself. */
      readonly submitOnchain?: boolean
    }
  /** A result that is never signed: a matrix or a geometry. */
  | { readonly type: 'unsigned'; readonly members: string; readonly chainId: number }
  | { readonly type: 'problem'; readonly problem: ProblemData }
  | { readonly type: 'unresolved'; readonly chainId: number; readonly inputs: readonly UnresolvedInput[] }
