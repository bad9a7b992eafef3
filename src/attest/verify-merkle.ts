import type { Hex } from '../messages.ts'
import type { ProofDelegation } from '../types/generated.ts'
import { authenticateSignature, type SignatureOptions, type SignedFields } from './authenticate.ts'
import { decodeMerkleRoot } from './decode.ts'
import { type MerkleItem, verifyMerkleProof } from './merkle-proof.ts'

/** A result out of a batch with everything that vouches for it. */
export interface MerkleEvidence {
  readonly item: MerkleItem
  readonly proof: readonly string[]
  /** Of the root. Hex of the right lengths, integers up to 2⁴⁸−1. */
  readonly attestation: SignedFields
  readonly delegatedAttestation: Readonly<ProofDelegation>
}

export interface MerkleVerification extends SignatureOptions {
  /** UID of the schema of Merkle roots, lower case. */
  readonly merkleSchema: string
}

export type MerkleVerdict =
  | { readonly ok: true; readonly leafCount: number; readonly timestampSeconds: number }
  | {
      readonly ok: false
      readonly check: 'schema' | 'data' | 'attester' | 'signature' | 'proof'
      readonly reason: string
    }

/**
 * Whether an attester of ours vouched for a result by a Merkle root: what `GeoMerkle.sol` checks on a chain, done with
 * the signed answer alone. A deadline that has passed and an attestation that was revoked on the chain are not seen.
 *
 * @returns the first check that fails
 * @throws {RangeError} on an item whose fields are no hex of their lengths
 */
export function verifyMerkleAttestation(evidence: MerkleEvidence, options: MerkleVerification): MerkleVerdict {
  const { item, proof, attestation } = evidence
  if (attestation.schema.toLowerCase() !== options.merkleSchema) {
    return { ok: false, check: 'schema', reason: 'schema is not that of Merkle roots' }
  }
  const decoded = decodeMerkleRoot(attestation.data as Hex)
  if (!decoded.ok) return { ok: false, check: 'data', reason: `data ${decoded.reason}` }
  const authenticated = authenticateSignature(evidence, options)
  if (!authenticated.ok) return authenticated
  const { merkleRoot, leafCount, timestampSeconds } = decoded.value
  if (!verifyMerkleProof(item, proof, merkleRoot, options.keccak)) {
    return { ok: false, check: 'proof', reason: 'the item is not under the attested root' }
  }
  return { ok: true, leafCount, timestampSeconds }
}
