/** Leaves and proofs of the trees in `merkle.ts`: what those need who check one result. */
import { bytesToHex, compareBytes, hexToBytes } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/keccak.ts'
import { putHex } from './words.ts'

/** A result as its leaf covers it. */
export interface MerkleItem {
  /** Schema UID. */
  readonly schema: string
  readonly recipient: string
  /** ABI-encoded data, as `0x` and digits or as it is. */
  readonly data: Uint8Array | string
}

/** No tree with a `uint32` number of leaves is higher. */
export const MAX_PROOF_LENGTH = 32

/**
 * The leaf function with its buffers. One a thread: a leaf can be made where the data is, the tree somewhere else.
 *
 * @returns a function that gives 32 bytes, written to a target where there is one, and throws {RangeError} on a field that is
 *   no hex of its length
 */
export function createLeafHasher(keccak: Keccak): (item: MerkleItem, target?: Uint8Array, at?: number) => Uint8Array {
  const words = new Uint8Array(3 * 32)
  const inner = new Uint8Array(32)
  let head = { schema: '', recipient: '' }
  return ({ schema, recipient, data }, target = new Uint8Array(32), at = 0) => {
    const bytes = typeof data === 'string' ? hexToBytes(data) : data
    if (bytes === undefined) throw new RangeError('data is not pairs of hex digits')
    // The items of a batch mostly share both.
    if (schema !== head.schema || recipient !== head.recipient) {
      if (schema.length !== 66 || recipient.length !== 42) throw new RangeError('not a schema UID and an address')
      head = { schema: '', recipient: '' } // until both are written: what throws in between leaves neither behind
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
 * Whether `item` is a leaf under `root`.
 *
 * Says nothing of who stands behind the root: `verifyMerkleAttestation` does.
 *
 * @param proof hex from anywhere; what is no list of 32-byte words proves nothing
 */
export function verifyMerkleProof(item: MerkleItem, proof: readonly string[], root: string, keccak: Keccak): boolean {
  if (proof.length > MAX_PROOF_LENGTH || !proof.every(isBytes32) || !isBytes32(root)) return false
  let node = createLeafHasher(keccak)(item)
  const pair = new Uint8Array(64)
  for (const sibling of proof) {
    const other = hexToBytes(sibling)!
    const isFirst = compareBytes(node, other) <= 0
    pair.set(node, isFirst ? 0 : 32)
    pair.set(other, isFirst ? 32 : 0)
    node = keccak.hash(pair)
  }
  return bytesToHex(node) === root.slice(2).toLowerCase()
}

function isBytes32(text: unknown): boolean {
  return typeof text === 'string' && /^0x[0-9a-fA-F]{64}$/.test(text)
}
