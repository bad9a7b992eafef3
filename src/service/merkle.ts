import { encodeMerkleRoot } from '../attest/encode.ts'
import type { MerkleTree } from '../attest/merkle.ts'
import type { Hex } from '../messages.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import { type Attested, attest } from './attest.ts'
import type { ChainPolicy } from './chain-policy.ts'

export interface MerkleRootRequest {
  /** Supported: `ChainPolicy.require` has seen it. */
  readonly chainId: number
  /** Of the root's attestation; each leaf has its own. Lower case. */
  readonly recipient: Hex
  /** When the results were computed. */
  readonly timestampSeconds: number
  readonly tree: Pick<MerkleTree, 'root' | 'leafCount'>
}

/**
 * One delegated attestation that stands for every leaf of a tree (decision 103).
 *
 * The signer sees the root alone, so whoever builds the tree answers for its leaves: each is a result of ours, its schema
 * passed by `ChainPolicy.requireSchema` for the kind of its data.
 *
 * @throws {ProblemError} what the signer refuses it for
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
