import type { Geometry, MerkleAttestation } from '../../types/generated.ts'
import type { Issuer } from '../answers.ts'
import type { InputLike } from '../inputs.ts'

/**
 * Runs an operation again; `createRecompute` of `trigpoint/client/recompute` creates such a function.
 *
 * @param operation as signed, e.g. `within:50000`
 * @returns centimetres, square centimetres or a boolean; a reason when the inputs are rejected
 */
export type Recompute = (
  operation: string,
  inputs: readonly Geometry[],
) => { readonly ok: true; readonly result: bigint | boolean } | { readonly ok: false; readonly reason: string }

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
  /** The member `merkle` of the batch response that contains the item; needed for an item with a proof. */
  readonly merkle?: MerkleAttestation | null | undefined
  /** RPC of the chain, to check contract, schema and nonce too, and whether EAS would accept the attestation. */
  readonly rpcUrl?: string | undefined
  /** Time limit of each RPC call; default 10,000. */
  readonly rpcTimeoutMs?: number | undefined
  /** When true, a deadline that has passed is not a failure. */
  readonly allowExpired?: boolean | undefined
  /** Present time in Unix seconds; by default that of the clock. */
  readonly nowSeconds?: number | undefined
  /** Used instead of the global `fetch` for RPC calls. */
  readonly fetch?: typeof fetch | undefined
}
