/**
 * A Merkle tree over many results, so that one signature and one attestation cover all of them (decision 103).
 *
 * A leaf is keccak256(keccak256(abi.encode(bytes32 schema, address recipient, bytes32 keccak256(data)))). It is hashed twice so
 * that no leaf can pass for an inner node, whose preimage has 64 bytes. A node is the keccak256 of its two children, the smaller
 * first, so a proof is a list of siblings without sides.
 *
 * The tree is the one that OpenZeppelin's `StandardMerkleTree` builds over ['bytes32', 'address', 'bytes32']: sorted leaves, a
 * complete binary tree in one array, the children of node i at 2i + 1 and 2i + 2. No odd node is duplicated or carried up: when
 * the number of leaves is not a power of two, some leaves are one level higher, and their proofs are one node shorter.
 */
import type { Keccak } from '../crypto/primitives.ts'
import type { Hex } from '../wire/values.ts'
import { createLeafHasher, type MerkleItem } from './merkle-proof.ts'

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
 * @throws {RangeError} without leaves: an empty tree has nothing to vouch for
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

export function siblingIndex(node: number): number {
  return node % 2 === 0 ? node - 1 : node + 1
}

export function parentIndex(node: number): number {
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

/** Compares two nodes of one buffer by their bytes. The first four bytes decide all but one case in 2³². */
function compareNodes(bytes: Buffer, a: number, b: number): number {
  const difference = bytes.readUInt32BE(a) - bytes.readUInt32BE(b)
  return difference !== 0 ? difference : bytes.compare(bytes, b, b + 32, a, a + 32)
}
