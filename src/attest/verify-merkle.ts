import type { ProofDelegation } from '../types/generated.ts'
import type { Hex } from '../wire/messages.ts'
import { authenticateSignature, type SignatureOptions, type SignedFields } from './authenticate.ts'
import { decodeMerkleRoot } from './decode.ts'
import { type MerkleItem, verifyMerkleProof } from './merkle-proof.ts'

/** A result of a batch with its proof and the attestation of its root. */
export interface MerkleEvidence {
  readonly item: MerkleItem
  readonly proof: readonly string[]
  /** The attestation of the root; hex of the right lengths, integers up to 2⁴⁸−1. */
  readonly attestation: SignedFields
  readonly delegatedAttestation: Readonly<ProofDelegation>
}

export interface MerkleVerification extends SignatureOptions {
  /** UID of the Merkle root schema, lower case. */
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
 * Checks whether one of our attesters vouched for a result with a Merkle root: the same checks as `GeoMerkle.sol` makes on a
 * chain, but offline. It does not check whether the deadline has passed or whether the attestation was revoked on the chain.
 *
 * @returns ok, or the first check that fails
 * @throws {RangeError} on an item with a field that is not hex of its length
 */
export function verifyMerkleAttestation(evidence: MerkleEvidence, options: MerkleVerification): MerkleVerdict {
  const { item, proof, attestation } = evidence
  if (attestation.schema.toLowerCase() !== options.merkleSchema) {
    return { ok: false, check: 'schema', reason: 'schema is not the Merkle root schema' }
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
