import type { GeometryLike } from '../../geometry/geometry-like.ts'
import type { MerkleAttestation } from '../../types/generated.ts'
import type { Issuer } from '../answers.ts'
import type { InputLike } from '../forms.ts'

/** The outcome of `verifyResult`: a list of checks. */

/** `skip` means not checked; `detail` says why. It counts neither for nor against the response. */
export type CheckStatus = 'pass' | 'fail' | 'skip'

export interface Check {
  /** Stable short name: `form`, `chain`, `signer`, `signature`, `schema`, `data`, `values`, `deadline` … */
  readonly id: string
  readonly status: CheckStatus
  /** A message for people. */
  readonly detail: string
}

export type ResponseKind =
  | 'compute'
  /** A result whose only signature has no nonce, such as a result of a job. */
  | 'signed-result'
  | 'attestation'
  | 'merkle-item'
  | 'merkle-root'
  | 'batch'
  | 'verified-proof'
  | 'stamp'
  | 'unknown'

export interface Verdict {
  readonly kind: ResponseKind
  /** True when a signature was verified and no check failed. Skipped checks do not count: see `checks`. */
  readonly ok: boolean
  readonly checks: readonly Check[]
  /** The signed data in words, if it could be decoded. Trust it only when `ok` is true. */
  readonly statement?: string
  /** Address of the signer, recovered from the signature; checksummed. */
  readonly signer?: string
  /** The chain for which the response was signed. */
  readonly chainId?: number
}

/** Collects checks in the order in which they are made. */
export class CheckList {
  readonly checks: Check[] = []

  pass(id: string, detail: string): void {
    this.checks.push({ id, status: 'pass', detail })
  }

  fail(id: string, detail: string): void {
    this.checks.push({ id, status: 'fail', detail })
  }

  skip(id: string, detail: string): void {
    this.checks.push({ id, status: 'skip', detail })
  }

  /**
   * Adds a check that passes with `passDetail` when there are no faults, and fails with the faults otherwise.
   *
   * @returns whether it passed
   */
  judge(id: string, faults: readonly string[], passDetail: string): boolean {
    if (faults.length === 0) this.pass(id, passDetail)
    else this.fail(id, faults.slice(0, MAX_FAULTS).join('; '))
    return faults.length === 0
  }

  has(id: string, status: CheckStatus): boolean {
    return this.checks.some((check) => check.id === id && check.status === status)
  }

  verdict(kind: ResponseKind, facts: Pick<Verdict, 'statement' | 'signer' | 'chainId'> = {}): Verdict {
    const ok = this.has('signature', 'pass') && this.checks.every(({ status }) => status !== 'fail')
    return { kind, ok, checks: this.checks, ...facts }
  }
}

/** Maximum number of faults that a detail lists. */
const MAX_FAULTS = 5

/**
 * Runs an operation again; `createRecompute` of `trigpoint/client/recompute` creates such a function.
 *
 * @param operation as signed, e.g. `within:50000`
 * @returns centimetres, square centimetres or a boolean; a reason when the inputs are rejected. `isTooComplex`: they need more work than
 *   this computation does, which says nothing about the result
 */
export type Recompute = (
  operation: string,
  inputs: readonly GeometryLike[],
) =>
  | { readonly ok: true; readonly result: bigint | boolean }
  | { readonly ok: false; readonly reason: string; readonly isTooComplex?: boolean }

/** The Merkle proof of an operation of a job. */
export interface JobProof {
  /** Index of the operation in the job. */
  readonly operation: number
  readonly leaf: string
  readonly root: string
  readonly proof: readonly string[]
}

export interface VerifyResultOptions {
  /** The chain that the response should be signed for. By default, each known chain is tried; the signature fits only one. */
  readonly chainId?: number | undefined
  /** Trusted signers: one address or several. Without it and without `issuer`, any signer is accepted. */
  readonly attester?: string | readonly string[] | undefined
  /** Your copy of `/.well-known/attester.json`: addresses, chains and schemas. `attester` takes precedence over its addresses. */
  readonly issuer?: Issuer | undefined
  /** The inputs of the request, in the order of `inputRefs`; their references are recomputed and compared. */
  readonly inputs?: readonly InputLike[] | undefined
  /** Computes the result again, to compare it; from `trigpoint/client/recompute`. Needs `inputs`. */
  readonly recompute?: Recompute | undefined
  /**
   * The root above an item of a batch or a line of a job: the response to the batch, the answer of `GET …/jobs/{id}/attestation`, the member
   * `merkle` of either, or what `client.jobs.attestation` returns.
   */
  readonly merkle?: MerkleAttestation | { readonly merkle?: MerkleAttestation | null } | null | undefined
  /** The Merkle proof of a line of a job: the answer of `GET …/jobs/{id}/results/{n}/proof`, which `client.jobs.proof` returns. */
  readonly proof?: JobProof | undefined
  /**
   * RPC of the chain, to compare with it: contract, schema and nonce, and whether EAS would accept the attestation; or the attestation
   * with the UID of `submission`, which then needs neither nonce nor deadline.
   */
  readonly rpcUrl?: string | undefined
  /** Time limit of each RPC call in milliseconds; default 10,000. */
  readonly rpcTimeoutMs?: number | undefined
  /** When true, a deadline that has passed is not a failure. */
  readonly allowExpired?: boolean | undefined
  /** Current time in Unix seconds; by default the time of the system clock. */
  readonly nowSeconds?: number | undefined
  /** Used instead of the global `fetch` for RPC calls. */
  readonly fetch?: typeof fetch | undefined
}
