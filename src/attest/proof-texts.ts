import { type MerkleTree, parentOf, siblingOf } from './merkle.ts'

/** `"0x…",` of one node. */
const NODE_BYTES = 69
const NOTHING = '[]'

/**
 * The proofs of a tree as JSON arrays, written where they are needed. Of a leaf's proof all but its first node is the proof of
 * the leaf's parent: so the proof of every inner node is kept as text, and that of a leaf is two copies.
 */
export interface ProofTexts {
  /** Room that `layOut` fills, and `write` copies from. */
  readonly scratchBytes: number
  /** Lays the texts of nodes out in [start, start + scratchBytes) of `bytes`. */
  layOut(bytes: Buffer, start: number): void
  /** Length of the proof of leaf `index`. */
  sizeOf(index: number): number
  /** Writes the proof of leaf `index`; @returns where it ends */
  write(bytes: Buffer, at: number, index: number): number
}

/** @param tree every node of which is 32 bytes */
export function createProofTexts(tree: MerkleTree): ProofTexts {
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

  /** Siblings from `node` up, each with a comma after it. */
  function copyProof(bytes: Buffer, at: number, node: number): number {
    if (node === 0) return at
    const sibling = base + siblingOf(node) * NODE_BYTES
    bytes.copyWithin(at, sibling, sibling + NODE_BYTES)
    const parent = parentOf(node)
    const rest = base + starts[parent]!
    const restBytes = depthOf(parent) * NODE_BYTES
    bytes.copyWithin(at + NODE_BYTES, rest, rest + restBytes)
    return at + NODE_BYTES + restBytes
  }

  return {
    scratchBytes,
    layOut(bytes, start) {
      base = start
      bytes.write(nodes.toString('hex'), start, 'latin1')
      // From the last to the first, for the digits of the others still lie before.
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
    sizeOf(index) {
      const depth = depthOf(tree.positionOf(index))
      return depth === 0 ? NOTHING.length : depth * NODE_BYTES + 1
    },
    write(bytes, at, index) {
      const node = tree.positionOf(index)
      if (node === 0) return at + bytes.write(NOTHING, at, 'latin1')
      bytes[at] = OPEN
      const end = copyProof(bytes, at + 1, node)
      bytes[end - 1] = CLOSE // instead of the last comma
      return end
    },
  }
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN = 0x5b
const CLOSE = 0x5d

/** Of node 0 it is 0. */
function depthOf(node: number): number {
  return 31 - Math.clz32(node + 1)
}
