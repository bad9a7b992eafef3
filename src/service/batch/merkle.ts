import { encodeMerkleRoot } from '../../attest/encode.ts'
import type { MerkleTree } from '../../attest/merkle.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import type { Hex } from '../../wire/messages.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import { type Attested, attest } from '../compute/attest.ts'

export interface MerkleRootRequest {
  /** Must have passed `ChainPolicy.require`. */
  readonly chainId: number
  /** Recipient of the root's attestation, lower case. Each leaf has its own recipient. */
  readonly recipient: Hex
  /** Time at which the results were computed. */
  readonly timestampSeconds: number
  readonly tree: Pick<MerkleTree, 'root' | 'leafCount'>
}

/**
 * Makes one delegated attestation that covers every leaf of a tree (decision 103).
 *
 * The signer sees only the root. The caller must therefore make sure that each leaf is a result of this service, and that its
 * schema passed `ChainPolicy.requireSchema` for the kind of its data.
 *
 * @throws {ProblemError} if the signer does not sign it
 */
export function attestMerkleRoot(
  { chainId, recipient, timestampSeconds, tree }: MerkleRootRequest,
  parts: {
    readonly signer: Pick<SignerClient, 'address' | 'sign'>
    readonly chains: Pick<ChainPolicy, 'defaultSchema'>
  },
): Promise<Attested> {
  const data = encodeMerkleRoot({ merkleRoot: tree.root, leafCount: tree.leafCount, timestampSeconds })
  const schema = parts.chains.defaultSchema('merkle-root')
  return attest({ kind: 'merkle-root', chainId, schema, recipient, data }, parts.signer)
}
