/** Requests about evidence between main and the compute threads: plain data, as in `messages.ts`. */

import type { ComputeWorkerData, Hex } from './messages.ts'
import type { PackedBytes } from './packed-bytes.ts'
import type { ProblemData } from './problem.ts'

/** One request about evidence on its way to a compute thread. */
export interface VerifyTask {
  /**
   * What is asked: to judge a stamp or a proof, also in the shape of the older generation; the hash of a
   * proof alone; or to judge a proof that came back again, as of the time it was judged first, and to compare with the attested `data` and the `credibility` beside it.
   */
  readonly question: 'stamp' | 'proof' | 'older-stamp' | 'older-proof' | 'hash' | 'recheck'
  /** JSON. */
  readonly body: Uint8Array
  /** As of when. */
  readonly nowSeconds: number
}

/** Several of them in one message. */
export interface VerifyBatch {
  readonly bytes: PackedBytes
  readonly questions: readonly Omit<VerifyTask, 'body'>[]
}

/** What the answer to a proof is attested as. */
export interface ProofAttestationRequest {
  readonly chainId: number
  readonly recipient: Hex
  readonly submitOnchain: boolean
}

export type VerifyResult =
  | {
      readonly ok: true
      /** Members of the answer as JSON text, without braces around them. */
      readonly members: string
      /** keccak-256 of the canonical JSON of the proof, where only that was asked. */
      readonly proofHash?: Hex
      /** ABI-encoded `verify` data of a proof that was judged. */
      readonly data?: Hex
      /** Absent when nothing is to be signed. */
      readonly attest?: ProofAttestationRequest
    }
  | { readonly ok: false; readonly problem: ProblemData }

/** A key by which a subject of `did:web` makes statements. */
export interface DidKey {
  /** Names it within its document. */
  readonly fragment: string
  /** The address of a key on secp256k1, lower case, or `ed25519:` and hex. */
  readonly key: string
}

/** Keys by the DID without a fragment. */
export type DidKeys = ReadonlyMap<string, readonly DidKey[]>

/** What answers say of where and how proofs are evaluated. */
export interface Evaluation {
  readonly mode: 'local' | 'tee' | 'zk'
  /** Names the definitions of the measures. */
  readonly method: string
}

/** The evaluation that this program performs; any other value is the operator's claim (decision 130). */
export const OWN_EVALUATION: Evaluation = { mode: 'local', method: 'multifactor-v0' }

/** What to do about a verified proof that is refused. */
export const PROOF_HINT = 'send the answer of POST /verify/v0/proof unchanged, or without its attestation'

// ── Added kinds of evidence ─────────────────────────────────────────────────────────────────────────────────────

/** What a trial thread is told: load a module and describe it, or try it by the conformance kit. */
export interface PluginTrialData {
  /** File URL of the module. */
  readonly url: string
  readonly task: 'describe' | 'conformance'
  readonly limits: ComputeWorkerData['limits']
}

/** What a kind of evidence says of itself. */
export interface AddedPlugin {
  readonly name: string
  readonly version: string
  readonly environments: readonly string[]
  readonly description: string
}

/** One rule of the conformance kit; a note judges nothing. */
export interface Finding {
  readonly ok: boolean
  readonly rule: string
  readonly detail: string
  readonly isNote?: boolean
}

export type PluginTrialResult =
  | { readonly ok: true; readonly plugin: AddedPlugin; readonly findings: readonly Finding[] }
  | { readonly ok: false; readonly reason: string }
