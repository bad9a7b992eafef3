import { concat, encodeAbiParameters, keccak256, parseAbiParameters } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  createLeafHasher,
  MAX_PROOF_LENGTH,
  type MerkleItem,
  verifyMerkleProof,
} from '../../src/attest/merkle-proof.ts'
import { buildMerkleTree, createMerkleTree, createProofWriter, type MerkleTree } from '../../src/compute/merkle-tree.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak } from '../../src/crypto/primitives.ts'
import type { Hex } from '../../src/wire/values.ts'
import fc from '../seeded.ts'
import vectors from '../vectors/merkle-tree.json' with { type: 'json' }

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

/** Builds the items of the vectors file. */
function item(index: number): MerkleItem {
  return {
    schema: `0x${(index % 3 === 0 ? 'a1' : 'b2').repeat(32)}`,
    recipient: index % 2 === 0 ? '0x00112233445566778899aabbccddeeff00112233' : `0x${'0'.repeat(40)}`,
    data: `0x${index
      .toString(16)
      .padStart(64, '0')
      .repeat((index % 5) + 1)}`,
  }
}
const items = (count: number) => Array.from({ length: count }, (_, index) => item(index))

/** Writes a proof as a batch does, with other bytes before and after it, and returns its text. */
function proofText(tree: MerkleTree, index: number): string {
  const proofs = createProofWriter(tree)
  const bytes = Buffer.alloc(4096 + proofs.scratchBytes, '-')
  proofs.prepare(bytes, 4096)
  const end = proofs.write(bytes, 7, index)
  expect(end - 7).toBe(proofs.byteLength(index))
  expect(bytes.toString('latin1', 0, 7) + bytes.toString('latin1', end, 4096)).toBe('-'.repeat(4096 - end + 7))
  return bytes.toString('latin1', 7, end)
}

describe('a Merkle tree of results', () => {
  it('hashes a leaf by the published formula', () => {
    const { schema, recipient, data } = item(3)
    const inner = keccak256(
      encodeAbiParameters(parseAbiParameters('bytes32, address, bytes32'), [
        schema as Hex,
        recipient as Hex,
        keccak256(data as Hex),
      ]),
    )
    expect(Buffer.from(createLeafHasher(keccak)(item(3))).toString('hex')).toBe(keccak256(inner).slice(2))
  })

  it.each(vectors.trees)('of $leafCount leaves matches the OpenZeppelin tree', ({ leafCount, root, proofs }) => {
    const tree = buildMerkleTree(items(leafCount), keccak)
    expect(tree.root).toBe(root)
    expect(tree.leafCount).toBe(leafCount)
    for (const [index, proof] of Object.entries(proofs)) {
      expect(tree.proof(Number(index))).toEqual(proof)
      expect(proofText(tree, Number(index))).toBe(JSON.stringify(proof))
      expect(verifyMerkleProof(item(Number(index)), proof, root, keccak)).toBe(true)
    }
  })

  it('proves every leaf of trees up to 70 leaves, and no other leaf', () => {
    for (let count = 1; count <= 70; count++) {
      const tree = buildMerkleTree(items(count), keccak)
      for (let index = 0; index < count; index++) {
        const proof = tree.proof(index)
        expect(proofText(tree, index)).toBe(JSON.stringify(proof))
        // A complete binary tree: ⌊log2⌋ or ⌈log2⌉.
        expect(proof.length).toBeGreaterThanOrEqual(Math.floor(Math.log2(count)))
        expect(proof.length).toBeLessThanOrEqual(Math.ceil(Math.log2(count)))
        expect(verifyMerkleProof(item(index), proof, tree.root, keccak)).toBe(true)
        expect(verifyMerkleProof(item((index + 1) % 71), proof, tree.root, keccak)).toBe(false)
      }
    }
  })

  it('does not depend on the order of its leaves', () => {
    const forward = buildMerkleTree(items(37), keccak)
    const backward = buildMerkleTree(items(37).reverse(), keccak)
    expect(backward.root).toBe(forward.root)
    expect(backward.proof(36)).toEqual(forward.proof(0))
  })

  it('proves each of several equal results', () => {
    const tree = buildMerkleTree([item(1), item(1), item(2), item(1)], keccak)
    for (const [index, one] of [item(1), item(1), item(2), item(1)].entries()) {
      expect(verifyMerkleProof(one, tree.proof(index), tree.root, keccak)).toBe(true)
    }
  })

  it('sorts leaves with equal leading bytes by the remaining bytes', () => {
    const leaf = (last: number) => Buffer.concat([Buffer.alloc(31, 0xff), Buffer.from([last])])
    const trees = [
      [1, 2, 3],
      [3, 1, 2],
      [2, 3, 1],
    ].map((order) => createMerkleTree(order.map(leaf), keccak))
    expect(new Set(trees.map(({ root }) => root)).size).toBe(1)
    // The two smallest leaves form a pair; the greatest is its sibling.
    const pair = keccak256(concat([`0x${leaf(1).toString('hex')}`, `0x${leaf(2).toString('hex')}`]))
    const [low, high] = [pair, `0x${leaf(3).toString('hex')}` as Hex].sort()
    expect(trees[0]!.root).toBe(keccak256(concat([low!, high!])))
  })

  it('does not accept an inner node as a leaf', () => {
    const tree = buildMerkleTree(items(8), keccak)
    const [sibling, ...above] = tree.proof(0)
    const leaf: Hex = `0x${Buffer.from(createLeafHasher(keccak)(item(0))).toString('hex')}`
    const children = [leaf, sibling!].sort()
    // The preimage of the node over leaf 0 has 64 bytes. Offered as the data of any item, it hashes to something else.
    for (const data of [concat(children as Hex[]), keccak256(concat(children as Hex[])), leaf]) {
      expect(verifyMerkleProof({ ...item(0), data }, above, tree.root, keccak)).toBe(false)
      expect(verifyMerkleProof({ ...item(0), data }, [sibling!, ...above], tree.root, keccak)).toBe(false)
    }
    expect(verifyMerkleProof(item(0), above, tree.root, keccak)).toBe(false)
    expect(verifyMerkleProof(item(0), [], tree.root, keccak)).toBe(false)
  })

  it('leaves no trace of an invalid item in the next leaf', () => {
    const hashLeaf = createLeafHasher(keccak)
    const expected = createLeafHasher(keccak)(item(0))
    expect(hashLeaf(item(0))).toEqual(expected)
    for (const broken of [
      { ...item(0), schema: `0x${'zz'.repeat(32)}` },
      { ...item(0), recipient: `0x${'11'.repeat(32)}` },
      { ...item(0), recipient: `0x${'1z'.repeat(20)}` },
      { ...item(0), schema: '0x11' },
      { ...item(0), data: '0x1' },
      { ...item(0), data: '0x11zz' },
    ]) {
      expect(() => hashLeaf(broken)).toThrow(RangeError)
      expect(hashLeaf(item(0))).toEqual(expected)
    }
  })

  it('throws for an empty tree and for a leaf index out of range', () => {
    expect(() => createMerkleTree([], keccak)).toThrow(RangeError)
    for (const index of [-1, 3, 0.5, Number.NaN]) expect(() => buildMerkleTree(items(3), keccak).proof(index)).toThrow()
  })

  it('rejects malformed and incorrect proofs', () => {
    const tree = buildMerkleTree(items(5), keccak)
    const proof = tree.proof(2)
    expect(
      verifyMerkleProof(
        item(2),
        proof.map((word) => `0x${word.slice(2).toUpperCase()}`),
        tree.root,
        keccak,
      ),
    ).toBe(true)
    const bad: unknown[][] = [
      [...proof, '0x'],
      [...proof, proof[0]],
      proof.slice(1),
      [...proof].reverse(),
      proof.map((word) => word.slice(0, -2)),
      proof.map((word) => `${word}00`),
      [null],
      [{}],
      Array.from({ length: MAX_PROOF_LENGTH + 1 }, () => proof[0]),
    ]
    for (const words of bad) expect(verifyMerkleProof(item(2), words as string[], tree.root, keccak)).toBe(false)
    for (const root of ['', '0x', `${tree.root}00`, tree.root.slice(2)]) {
      expect(verifyMerkleProof(item(2), proof, root, keccak)).toBe(false)
    }
  })

  it('proves random results in any number', () => {
    const hex = (bytes: number) =>
      fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => `0x${Buffer.from(value).toString('hex')}`)
    const data = fc.uint8Array({ maxLength: 200 }).map((value) => `0x${Buffer.from(value).toString('hex')}`)
    const anyItem = fc.record({ schema: hex(32), recipient: hex(20), data })
    fc.assert(
      fc.property(fc.array(anyItem, { minLength: 1, maxLength: 40 }), fc.nat(), (list, seed) => {
        const tree = buildMerkleTree(list, keccak)
        const index = seed % list.length
        expect(verifyMerkleProof(list[index]!, tree.proof(index), tree.root, keccak)).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})
