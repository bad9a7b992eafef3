import type { Geometry, MerkleAttestation } from '../types/generated.ts'
import type { Issuer } from './answers.ts'
import type { InputLike } from './inputs.ts'

/**
 * Runs an operation again, as `createRecompute` of `trigpoint/client/recompute` does.
 *
 * @param operation as signed, e.g. `within:50000`
 * @returns centimetres, square centimetres or a truth value; a reason when the inputs are refused
 */
export type Recompute = (
  operation: string,
  inputs: readonly Geometry[],
) => { readonly ok: true; readonly result: bigint | boolean } | { readonly ok: false; readonly reason: string }

export interface VerifyResultOptions {
  /** The chain it should be signed for. Without it each known chain is tried: the signature tells which one it was. */
  readonly chainId?: number | undefined
  /** Who should have signed: one address or several. Without it and without `issuer` anybody may have. */
  readonly attester?: string | readonly string[] | undefined
  /** `/.well-known/attester.json`, kept by you: its addresses, chains and schemas. An `attester` beside it counts alone. */
  readonly issuer?: Issuer | undefined
  /** What was asked, in the order of `inputRefs`: the references are recomputed from it. */
  readonly inputs?: readonly InputLike[] | undefined
  /** From `trigpoint/client/recompute`: computes the result again. Needs `inputs`. */
  readonly recompute?: Recompute | undefined
  /** The member `merkle` of the batch that an item with a proof came from. */
  readonly merkle?: MerkleAttestation | null | undefined
  /** Asks the chain too: contract, schema, nonce, and whether EAS would take it. */
  readonly rpcUrl?: string | undefined
  /** Each call of the chain; 10,000. */
  readonly rpcTimeoutMs?: number | undefined
  /** A deadline that has passed is no failure. */
  readonly allowExpired?: boolean | undefined
  /** Unix seconds; the clock's when absent. */
  readonly nowSeconds?: number | undefined
  /** In place of the global `fetch`, for the chain. */
  readonly fetch?: typeof fetch | undefined
}
