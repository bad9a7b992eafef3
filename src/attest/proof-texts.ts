import { checksumAddress } from '../crypto/address.ts'
import type { Hex } from '../wire/values.ts'
import { type MerkleTree, parentIndex, siblingIndex } from './merkle.ts'
import { ZERO_UID } from './uid.ts'

/** The fields of an attestation that vary, before it is signed. */
interface UnsignedAttestation {
  readonly schema: Hex
  /** Checksummed. */
  readonly attester: string
  /** Checksummed. */
  readonly recipient: string
  readonly data: Hex
}

/** The signature, its signer, and the fields that the signer added. */
interface AttestationSignature {
  readonly signature: Hex
  /** Checksummed. */
  readonly attester: string
  readonly deadlineSeconds: number
  readonly nonce: number
}

/**
 * Writes the members `attestation` and `delegatedAttestation` of a response as JSON without outer braces, up to the first
 * occurrence of the signature. A compute thread can write this part before the result is signed.
 */
export function attestationJsonHead({ schema, attester, recipient, data }: UnsignedAttestation): string {
  return (
    `"attestation":{"schema":"${schema}","attester":"${attester}","recipient":"${recipient}",` +
    `"data":"${data}","revocable":true,"refUID":"${ZERO_UID}","signature":"`
  )
}

/** Writes the remainder, from the signature on. */
export function attestationJsonTail({ signature, attester, deadlineSeconds, nonce }: AttestationSignature): string {
  return (
    `${signature}"},"delegatedAttestation":{"signature":"${signature}","attester":"${attester}",` +
    `"deadline":${deadlineSeconds},"nonce":${nonce}}`
  )
}

/** Writes the fields that a leaf covers as members of its result: JSON without the outer braces. */
export function leafJson(schema: Hex, recipient: Hex, data: Hex): string {
  return `"schema":"${schema}","recipient":"${checksumAddress(recipient)}","data":"${data}"`
}

/** Length of `"0x…",` for one node. */
const NODE_BYTES = 69
const EMPTY_PROOF = '[]'

/**
 * Writes the proofs of a tree as JSON arrays. A leaf's proof is its sibling followed by the proof of its parent. So the proofs
 * of all inner nodes are prepared as text, and a leaf's proof then takes only two copies.
 */
export interface ProofWriter {
  /** Size of the scratch area that `prepare` fills and `write` copies from. */
  readonly scratchBytes: number
  /** Writes the texts of all nodes and the proofs of inner nodes to [start, start + scratchBytes) of `bytes`. */
  prepare(bytes: Buffer, start: number): void
  /** Returns the length of the proof of leaf `index`, in bytes. */
  byteLength(index: number): number
  /** Writes the proof of leaf `index` at offset `at`. @returns the offset of its end */
  write(bytes: Buffer, at: number, index: number): number
}

/** @param tree its nodes are 32 bytes each */
export function createProofWriter(tree: MerkleTree): ProofWriter {
  const { nodes, leafCount } = tree
  const nodeCount = 2 * leafCount - 1
  const innerCount = leafCount - 1
  const starts = new Float64Array(innerCount)
  let scratchBytes = nodeCount * NODE_BYTES
  for (let node = 0; node < innerCount; node++) {
    starts[node] = scratchBytes
    scratchBytes += depthOf(node) * NODE_BYTES
  }
  let base = 0

  /** Copies the siblings from `node` up, each with a comma after it. @returns the offset of their end */
  function copyProof(bytes: Buffer, at: number, node: number): number {
    if (node === 0) return at
    const sibling = base + siblingIndex(node) * NODE_BYTES
    bytes.copyWithin(at, sibling, sibling + NODE_BYTES)
    const parent = parentIndex(node)
    const parentProof = base + starts[parent]!
    const parentProofBytes = depthOf(parent) * NODE_BYTES
    bytes.copyWithin(at + NODE_BYTES, parentProof, parentProof + parentProofBytes)
    return at + NODE_BYTES + parentProofBytes
  }

  return {
    scratchBytes,
    prepare(bytes, start) {
      base = start
      bytes.write(nodes.toString('hex'), start, 'latin1')
      // From last to first, because the digits of the earlier nodes still lie in front.
      for (let node = nodeCount - 1; node >= 0; node--) {
        const at = start + node * NODE_BYTES
        const digits = start + node * 64
        bytes.copyWithin(at + 3, digits, digits + 64)
        bytes[at] = QUOTE
        bytes[at + 1] = 0x30
        bytes[at + 2] = 0x78
        bytes[at + 67] = QUOTE
        bytes[at + 68] = COMMA
      }
      for (let node = 0; node < innerCount; node++) copyProof(bytes, base + starts[node]!, node)
    },
    byteLength(index) {
      const depth = depthOf(tree.nodeIndex(index))
      return depth === 0 ? EMPTY_PROOF.length : depth * NODE_BYTES + 1
    },
    write(bytes, at, index) {
      const node = tree.nodeIndex(index)
      if (node === 0) return at + bytes.write(EMPTY_PROOF, at, 'latin1')
      bytes[at] = OPEN
      const end = copyProof(bytes, at + 1, node)
      bytes[end - 1] = CLOSE // replaces the last comma
      return end
    },
  }
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN = 0x5b
const CLOSE = 0x5d

/** Returns the depth of a node; the root, node 0, has depth 0. */
function depthOf(node: number): number {
  return 31 - Math.clz32(node + 1)
}
