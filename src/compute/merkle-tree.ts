import { createLeafHasher, type MerkleItem } from '../attest/merkle-proof.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { LeavesResult, LeavesTask, MerklePiece, MerkleResult, MerkleTask } from '../wire/batch-messages.ts'
import type { Hex } from '../wire/values.ts'

const PROOF = Buffer.from(',"proof":')
const CLOSE_BRACE = 0x7d
const PIECE_BYTES = 262_144
/** The largest buffer that this thread reuses for the next tree. */
const MAX_REUSED_BYTES = 8 * 1_048_576
let reused = Buffer.alloc(0)

/** Builds the tree over the leaves of a batch and writes the items with their proofs. Runs on a compute thread. */
export function runMerkleTask({ pieces }: MerkleTask, keccak: Keccak): MerkleResult {
  const leaves = pieces.flatMap((piece) => Array.from({ length: piece.leaves.length / 32 }, (_, i) => leafAt(piece, i)))
  const tree = createMerkleTree(leaves, keccak)
  const proofs = createProofWriter(tree)
  const textBytes = pieces.reduce((sum, { texts }) => sum + texts.buffer.byteLength, 0)
  const itemsBytes = textBytes + proofBytes(proofs, tree) + tree.leafCount * (PROOF.length + 1)
  // Input and output share one buffer, because copying within a buffer is fastest.
  const bytes = bufferFor(itemsBytes + textBytes + proofs.scratchBytes)
  proofs.prepare(bytes, itemsBytes + textBytes)
  const end = writeItems(pieces, proofs, bytes, itemsBytes)
  return { type: 'merkle', root: tree.root, items: splitIntoPieces(bytes.subarray(0, end - 1)) }
}

/** Builds the tree over leaves of a job, and the proof of one of them. Runs on a compute thread. */
export function runLeavesTask({ leaves, proofOf }: LeavesTask, keccak: Keccak): LeavesResult {
  const present: Uint8Array[] = []
  let proofIndex = -1
  for (let index = 0; 32 * index < leaves.length; index++) {
    const leaf = leaves.subarray(32 * index, 32 * index + 32)
    if (index === proofOf) proofIndex = present.length
    if (leaf.some((byte) => byte !== 0)) present.push(leaf)
  }
  const tree = createMerkleTree(present, keccak)
  return { type: 'leaves', root: tree.root, proof: proofOf === undefined ? [] : tree.proof(proofIndex) }
}

/** Splits the bytes into pieces. Copies them, because the next tree reuses the buffer. */
function splitIntoPieces(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, index) => {
    const start = index * PIECE_BYTES
    return new Uint8Array(bytes.subarray(start, start + PIECE_BYTES))
  })
}

function leafAt({ leaves }: MerklePiece, index: number): Uint8Array {
  return leaves.subarray(32 * index, 32 * index + 32)
}

function proofBytes(proofs: ProofWriter, { leafCount }: MerkleTree): number {
  let bytes = 0
  for (let index = 0; index < leafCount; index++) bytes += proofs.byteLength(index)
  return bytes
}

function bufferFor(bytes: number): Buffer {
  if (bytes <= reused.length) return reused
  const buffer = Buffer.allocUnsafeSlow(bytes)
  if (bytes <= MAX_REUSED_BYTES) reused = buffer
  return buffer
}

/**
 * Writes each item with its proof and a comma after it.
 *
 * @param source offset in `bytes`, after the space for the items, to which the input texts are copied
 * @returns the offset after the last comma
 */
function writeItems(pieces: readonly MerklePiece[], proofs: ProofWriter, bytes: Buffer, source: number): number {
  let at = 0
  let leaf = 0
  let base = source
  for (const { texts, leaves } of pieces) {
    const { buffer, offsets } = texts
    bytes.set(new Uint8Array(buffer), base)
    for (let index = 0; index + 1 < offsets.length; index++) {
      const start = base + offsets[index]!
      const end = base + offsets[index + 1]! - 1 // without the separator
      bytes.copyWithin(at, start, end)
      at += end - start
      if (leaves.length > 0) {
        bytes.set(PROOF, at)
        at = proofs.write(bytes, at + PROOF.length, leaf++)
        bytes[at++] = CLOSE_BRACE
      }
      bytes[at++] = COMMA
    }
    base += buffer.byteLength
  }
  return at
}

/** Length of `"0x…",` for one node. */
const NODE_BYTES = 69
const EMPTY_PROOF = '[]'

/**
 * Writes the proofs of a tree as JSON arrays. A leaf's proof is its sibling followed by the proof of its parent. So the proofs
 * of all inner nodes are first written as text, and writing a leaf's proof then takes only two copies.
 */
interface ProofWriter {
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
      // Backwards, so that no node overwrites the digits of an earlier node before they are copied.
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
      bytes[at] = OPEN_BRACKET
      const end = copyProof(bytes, at + 1, node)
      bytes[end - 1] = CLOSE_BRACKET // replaces the last comma
      return end
    },
  }
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** Returns the depth of a node; the root, node 0, has depth 0. */
function depthOf(node: number): number {
  return 31 - Math.clz32(node + 1)
}

/**
 * A Merkle tree over many results, so that one signature and one attestation cover all of them (decision 103).
 *
 * A leaf is keccak256(keccak256(abi.encode(bytes32 schema, address recipient, bytes32 keccak256(data)))). It is hashed twice so
 * that no leaf can be mistaken for an inner node, whose preimage has 64 bytes. A node is the keccak256 of its two children, the smaller
 * first, so a proof is a list of siblings without sides.
 *
 * The tree is the one that OpenZeppelin's `StandardMerkleTree` builds over ['bytes32', 'address', 'bytes32']: sorted leaves, a
 * complete binary tree in one array, the children of node i at 2i + 1 and 2i + 2. No odd node is duplicated or carried up: when
 * the number of leaves is not a power of two, some leaves are one level higher, and their proofs are one node shorter.
 */
export interface MerkleTree {
  readonly root: Hex
  readonly leafCount: number
  /**
   * Returns the siblings of leaf `index` (in the order in which the leaves were given), from the bottom up; empty for a tree of
   * one leaf.
   *
   * @throws {RangeError} when there is no such leaf
   */
  proof(index: number): Hex[]
  /** 32 bytes per node, the root first. */
  readonly nodes: Buffer
  /** Returns the index of leaf `index` in `nodes`. @throws {RangeError} when there is no such leaf */
  nodeIndex(index: number): number
}

/** Builds the tree over the leaves of `items`. */
export function buildMerkleTree(items: readonly MerkleItem[], keccak: Keccak): MerkleTree {
  const hashLeaf = createLeafHasher(keccak)
  return createMerkleTree(
    items.map((item) => hashLeaf(item)),
    keccak,
  )
}

/**
 * Builds the tree over leaves.
 *
 * @param leaves 32 bytes each, as `createLeafHasher` makes them
 * @throws {RangeError} without leaves: an empty tree proves nothing
 */
export function createMerkleTree(leaves: readonly Uint8Array[], keccak: Keccak): MerkleTree {
  const leafCount = leaves.length
  if (leafCount === 0) throw new RangeError('a Merkle tree needs at least one leaf')
  const nodeCount = 2 * leafCount - 1
  const nodes = Buffer.alloc(nodeCount * 32)
  const positions = writeLeaves(leaves, nodes)
  const pair = Buffer.alloc(64)
  for (let index = leafCount - 2; index >= 0; index--) {
    const left = (2 * index + 1) * 32
    const right = left + 32
    const isInOrder = compareNodes(nodes, left, right) <= 0
    nodes.copy(pair, isInOrder ? 0 : 32, left, right)
    nodes.copy(pair, isInOrder ? 32 : 0, right, right + 32)
    keccak.hashInto(pair, nodes, index * 32)
  }
  return {
    root: nodeHex(0),
    leafCount,
    nodes,
    nodeIndex: positionOf,
    proof: (index) => listSiblings(positionOf(index)).map(nodeHex),
  }

  function positionOf(index: number): number {
    const position = positions[index]
    if (position === undefined) throw new RangeError(`no leaf ${index} among ${leafCount}`)
    return position
  }

  function nodeHex(node: number): Hex {
    return `0x${nodes.toString('hex', node * 32, node * 32 + 32)}`
  }
}

/** Lists the siblings on the path from a node to the root, from the bottom up. */
function listSiblings(position: number): number[] {
  const siblings: number[] = []
  for (let node = position; node > 0; node = parentIndex(node)) siblings.push(siblingIndex(node))
  return siblings
}

function siblingIndex(node: number): number {
  return node % 2 === 0 ? node - 1 : node + 1
}

function parentIndex(node: number): number {
  return (node - 1) >> 1
}

/** Writes the leaves in descending order after the inner nodes; returns the node index of each leaf. */
function writeLeaves(leaves: readonly Uint8Array[], nodes: Buffer): Uint32Array {
  const leafCount = leaves.length
  const unsorted = Buffer.concat(leaves as Uint8Array[], leafCount * 32)
  const order = Uint32Array.from(leaves.keys())
  order.sort((a, b) => compareNodes(unsorted, b * 32, a * 32))
  const positions = new Uint32Array(leafCount)
  for (let rank = 0; rank < leafCount; rank++) {
    const leaf = order[rank]!
    const position = leafCount - 1 + rank
    unsorted.copy(nodes, position * 32, leaf * 32, leaf * 32 + 32)
    positions[leaf] = position
  }
  return positions
}

/** Compares two nodes of one buffer by their bytes. The first four bytes differ in all but one of 2³² pairs. */
function compareNodes(bytes: Buffer, a: number, b: number): number {
  const difference = bytes.readUInt32BE(a) - bytes.readUInt32BE(b)
  return difference !== 0 ? difference : bytes.compare(bytes, b, b + 32, a, a + 32)
}
