/**
 * One root over many results, so that one signature and one attestation stand for all of them (decision 103).
 *
 * A leaf is keccak256(keccak256(abi.encode(bytes32 schema, address recipient, bytes32 keccak256(data)))). Hashed twice,
 * no leaf can be taken for an inner node, whose preimage has 64 bytes. A node is the keccak256 of its two children,
 * the smaller first: a proof is a list of siblings without sides.
 *
 * The tree is the one OpenZeppelin's `StandardMerkleTree` builds over ['bytes32', 'address', 'bytes32']: leaves sorted,
 * a complete binary tree in one array, node i above 2i + 1 and 2i + 2. There is no odd node to be doubled or carried
 * up: with a number of leaves that is no power of two, some stand one level higher and have a proof shorter by one.
 */
import type { Keccak } from '../crypto/keccak.ts'
import type { Hex } from '../messages.ts'
import { createLeafHasher, type MerkleItem } from './merkle-proof.ts'

export interface MerkleTree {
  readonly root: Hex
  readonly leafCount: number
  /**
   * Siblings of leaf `index` (in the order the leaves were given) from the bottom up; empty for a lone leaf.
   *
   * @throws {RangeError} on an index that is none
   */
  proof(index: number): Hex[]
  /** 32 bytes a node, the root first. */
  readonly nodes: Buffer
  /** Where leaf `index` stands among the nodes. @throws as `proof` */
  positionOf(index: number): number
}

/** The tree over the leaves of `items`. */
export function merkleTreeOf(items: readonly MerkleItem[], keccak: Keccak): MerkleTree {
  const leafOf = createLeafHasher(keccak)
  return createMerkleTree(
    items.map((item) => leafOf(item)),
    keccak,
  )
}

/**
 * @param leaves 32 bytes each, as `createLeafHasher` makes them
 * @throws {RangeError} without leaves: a root over nothing would vouch for nothing
 */
export function createMerkleTree(leaves: readonly Uint8Array[], keccak: Keccak): MerkleTree {
  const leafCount = leaves.length
  if (leafCount === 0) throw new RangeError('a Merkle tree needs a leaf')
  const nodeCount = 2 * leafCount - 1
  const nodes = Buffer.alloc(nodeCount * 32)
  const positions = placeLeaves(leaves, nodes)
  const pair = Buffer.alloc(64)
  for (let index = leafCount - 2; index >= 0; index--) {
    const left = (2 * index + 1) * 32
    const right = left + 32
    const isInOrder = compareNodes(nodes, left, right) <= 0
    nodes.copy(pair, isInOrder ? 0 : 32, left, right)
    nodes.copy(pair, isInOrder ? 32 : 0, right, right + 32)
    keccak.hashInto(pair, nodes, index * 32)
  }
  return { root: hexOf(0), leafCount, nodes, positionOf, proof: (index) => siblingsOf(positionOf(index)).map(hexOf) }

  function positionOf(index: number): number {
    const position = positions[index]
    if (position === undefined) throw new RangeError(`no leaf ${index} among ${leafCount}`)
    return position
  }

  function hexOf(node: number): Hex {
    return `0x${nodes.toString('hex', node * 32, node * 32 + 32)}`
  }
}

/** From the bottom up. */
function siblingsOf(position: number): number[] {
  const siblings: number[] = []
  for (let at = position; at > 0; at = parentOf(at)) siblings.push(siblingOf(at))
  return siblings
}

export function siblingOf(node: number): number {
  return node % 2 === 0 ? node - 1 : node + 1
}

export function parentOf(node: number): number {
  return (node - 1) >> 1
}

/** Writes the leaves in falling order behind the inner nodes; returns where each of them stands. */
function placeLeaves(leaves: readonly Uint8Array[], nodes: Buffer): Uint32Array {
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

/** Byte order of two nodes in one buffer. Their first four bytes decide all but one case in 2³². */
function compareNodes(bytes: Buffer, a: number, b: number): number {
  const difference = bytes.readUInt32BE(a) - bytes.readUInt32BE(b)
  return difference !== 0 ? difference : bytes.compare(bytes, b, b + 32, a, a + 32)
}
