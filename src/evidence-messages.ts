/** Requests about evidence between main and the compute threads: plain data, as in `messages.ts`. */

import type { Hex } from './messages.ts'
import type { PackedBytes } from './packed-bytes.ts'
import type { ProblemData } from './problem.ts'

/** One request about evidence on its way to a compute thread. */
export interface VerifyTask {
  readonly question: 'stamp' | 'proof'
  readonly body: Uint8Array
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
      /** ABI-encoded `verify` data; of a proof alone. */
      readonly data: Hex | undefined
      /** Undefined when nothing is to be signed. */
      readonly attest: ProofAttestationRequest | undefined
    }
  | { readonly ok: false; readonly problem: ProblemData }
