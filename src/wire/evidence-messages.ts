/** Messages about evidence between the main thread and the compute threads. */

import type { PackedBytes } from '../base/bytes.ts'
import type { ProblemData } from '../base/problem.ts'
import type { ComputeWorkerData } from './compute-messages.ts'
import type { Hex } from './values.ts'

/** One request about evidence, as a compute thread gets it. */
export interface VerifyTask {
  /**
   * `stamp` and `proof` evaluate one; `older-stamp` and `older-proof` do so in the form of the older API. `hash` only
   * hashes a proof. `recheck` evaluates a proof again, as of the time of its first evaluation, and compares the outcome with
   * the attested `data` and the `credibility` sent with it.
   */
  readonly kind: 'stamp' | 'proof' | 'older-stamp' | 'older-proof' | 'hash' | 'recheck'
  /** JSON as UTF-8. */
  readonly body: Uint8Array
  /** The time as of which evidence is evaluated. */
  readonly nowSeconds: number
}

/** Several verify tasks in one message. */
export interface VerifyBatch {
  readonly type: 'verify'
  readonly bytes: PackedBytes
  readonly heads: readonly Omit<VerifyTask, 'body'>[]
}

/** How the response to a proof is to be attested. */
export interface ProofAttestationRequest {
  readonly chainId: number
  readonly recipient: Hex
  readonly submitOnchain: boolean
}

export type VerifyResult =
  | {
      readonly ok: true
      /** Members of the response as JSON, without the surrounding braces. */
      readonly members: string
      /** keccak-256 of the canonical JSON of the proof. Only for the task `hash`. */
      readonly proofHash?: Hex
      /** ABI-encoded `verify` data of an evaluated proof. */
      readonly data?: Hex
      /** Absent when nothing is to be signed. */
      readonly attest?: ProofAttestationRequest
    }
  | { readonly ok: false; readonly problem: ProblemData }

/** Hint for a verified proof that is rejected. */
export const PROOF_HINT = 'send the response of POST /verify/v0/proof unchanged, or without its attestation'

// ── Added plugins ───────────────────────────────────────────────────────────────────────────────────────────────

/** The start data of a trial thread, which loads a module and describes it, or runs the conformance kit on it. */
export interface PluginTrialData {
  /** File URL of the module. */
  readonly url: string
  readonly task: 'describe' | 'conformance'
  readonly limits: ComputeWorkerData['limits']
}

/** How a plugin describes itself. */
export interface AddedPlugin {
  readonly name: string
  readonly version: string
  readonly environments: readonly string[]
  readonly description: string
}

/** The outcome of one rule of the conformance kit. A note is neither a success nor a failure. */
export interface Finding {
  readonly ok: boolean
  readonly rule: string
  readonly detail: string
  readonly isNote?: boolean
}

export type PluginTrialResult =
  | { readonly ok: true; readonly plugin: AddedPlugin; readonly findings: readonly Finding[] }
  | { readonly ok: false; readonly reason: string }
