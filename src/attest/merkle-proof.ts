/** Hashes leaves and checks proofs of the Merkle trees that `compute/merkle-tree.ts` builds. */

import { bytesToHex, compareBytes, hexToBytes } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { ProofDelegation } from '../types/generated.ts'
import type { Hex } from '../wire/values.ts'
import { putHex } from './abi.ts'
import { authenticateSignature, type SignatureOptions, type SignedFields } from './authenticate.ts'
import { decodeMerkleRoot } from './data.ts'

/** The fields of a result that its leaf covers. */
export interface MerkleItem {
  /** Schema UID. */
  readonly schema: string
  readonly recipient: string
  /** ABI-encoded data: bytes, or `0x` and hex digits. */
  readonly data: Uint8Array | string
}

/** The height of the largest tree, because `leafCount` is a `uint32`. */
export const MAX_PROOF_LENGTH = 32

/**
 * Creates the leaf function, which reuses its buffers. One instance per thread: leaves can be hashed in the threads that have
 * the data, and the tree built in another one.
 *
 * @returns a function that hashes an item into 32 bytes, written to `target` from `at` on if given; it throws {RangeError} on a
 *   field that is not hex of its length
 */
export function createLeafHasher(keccak: Keccak): (item: MerkleItem, target?: Uint8Array, at?: number) => Uint8Array {
  const words = new Uint8Array(3 * 32)
  const inner = new Uint8Array(32)
  let head = { schema: '', recipient: '' }
  return ({ schema, recipient, data }, target = new Uint8Array(32), at = 0) => {
    const bytes = typeof data === 'string' ? hexToBytes(data) : data
    if (bytes === undefined) throw new RangeError('data is not pairs of hex digits')
    // Most items of a batch have the same schema and recipient.
    if (schema !== head.schema || recipient !== head.recipient) {
      if (schema.length !== 66 || recipient.length !== 42) throw new RangeError('not a schema UID and an address')
      head = { schema: '', recipient: '' } // reset until both are written, in case `putHex` throws halfway
      putHex(words, 0, schema)
      putHex(words, 1, recipient)
      head = { schema, recipient }
    }
    keccak.hashInto(bytes, words, 2 * 32)
    keccak.hashInto(words, inner, 0)
    keccak.hashInto(inner, target, at)
    return target
  }
}

/**
 * Checks whether `item` is a leaf under `root`.
 *
 * This does not check who signed the root; `verifyMerkleAttestation` does.
 *
 * @param proof untrusted; anything but a list of 32-byte hex words gives false
 * @throws {RangeError} on an item with a field that is not hex of its length
 */
export function verifyMerkleProof(item: MerkleItem, proof: readonly string[], root: string, keccak: Keccak): boolean {
  if (proof.length > MAX_PROOF_LENGTH || !proof.every(isBytes32) || !isBytes32(root)) return false
  let node = createLeafHasher(keccak)(item)
  const pair = new Uint8Array(64)
  for (const sibling of proof) {
    const siblingBytes = hexToBytes(sibling)!
    const isFirst = compareBytes(node, siblingBytes) <= 0
    pair.set(node, isFirst ? 0 : 32)
    pair.set(siblingBytes, isFirst ? 32 : 0)
    node = keccak.hash(pair)
  }
  return bytesToHex(node) === root.slice(2).toLowerCase()
}

function isBytes32(text: unknown): boolean {
  return typeof text === 'string' && /^0x[0-9a-fA-F]{64}$/.test(text)
}

/** A result of a batch with its proof and the attestation of its root. */
interface MerkleEvidence {
  readonly item: MerkleItem
  readonly proof: readonly string[]
  /** The attestation of the root; hex of the right lengths, integers up to 2⁴⁸−1. */
  readonly attestation: SignedFields
  readonly delegatedAttestation: Readonly<ProofDelegation>
}

interface MerkleVerification extends SignatureOptions {
  /** UID of the Merkle root schema, lower case. */
  readonly merkleSchema: string
}

type MerkleVerdict =
  | { readonly ok: true; readonly leafCount: number; readonly timestampSeconds: number }
  | {
      readonly ok: false
      readonly check: 'schema' | 'data' | 'attester' | 'signature' | 'proof'
      readonly reason: string
    }

/**
 * Checks offline whether one of our attesters signed a Merkle root that covers a result. The checks are those that
 * `GeoMerkle.sol` makes on a chain. The deadline, and a revocation on the chain, are not checked.
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
