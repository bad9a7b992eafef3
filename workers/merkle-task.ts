import { createMerkleTree, type MerkleTree } from '../src/attest/merkle.ts'
import { createProofTexts, type ProofTexts } from '../src/attest/proof-texts.ts'
import type { MerkleResult, MerkleTask, TextsResult } from '../src/batch-messages.ts'
import type { Keccak } from '../src/crypto/keccak.ts'

const PROOF = Buffer.from(',"proof":')
const CLOSE = 0x7d
const COMMA = 0x2c
const PIECE_BYTES = 262_144
/** Room of a thread that is kept from one tree to the next. */
const MOST_KEPT_BYTES = 8 * 1_048_576
let kept = Buffer.alloc(0)

/** The tree over the leaves of a batch and the items with their proofs, where it delays nobody. */
export function runMerkleTask({ pieces }: MerkleTask, keccak: Keccak): MerkleResult {
  const leaves = pieces.flatMap((piece) => Array.from({ length: piece.leaves.length / 32 }, (_, i) => leafAt(piece, i)))
  const tree = createMerkleTree(leaves, keccak)
  const proofs = createProofTexts(tree)
  const textBytes = pieces.reduce((sum, { texts }) => sum + texts.buffer.byteLength, 0)
  const itemsBytes = textBytes + proofBytes(proofs, tree) + tree.leafCount * (PROOF.length + 1)
  // Everything in one buffer: copies within it are the quickest.
  const bytes = roomFor(itemsBytes + textBytes + proofs.scratchBytes)
  proofs.layOut(bytes, itemsBytes + textBytes)
  const end = writeItems(pieces, proofs, bytes, itemsBytes)
  return { root: tree.root, items: piecesOf(bytes.subarray(0, end - 1)) }
}

/** Copies, for the room serves the next tree. */
function piecesOf(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, index) => {
    const start = index * PIECE_BYTES
    return new Uint8Array(bytes.subarray(start, start + PIECE_BYTES))
  })
}

function leafAt({ leaves }: TextsResult, index: number): Uint8Array {
  return leaves.subarray(32 * index, 32 * index + 32)
}

function proofBytes(proofs: ProofTexts, { leafCount }: MerkleTree): number {
  let bytes = 0
  for (let index = 0; index < leafCount; index++) bytes += proofs.sizeOf(index)
  return bytes
}

function roomFor(bytes: number): Buffer {
  if (bytes <= kept.length) return kept
  const room = Buffer.allocUnsafeSlow(bytes)
  if (bytes <= MOST_KEPT_BYTES) kept = room
  return room
}

/**
 * Each item with a comma after it.
 *
 * @param source where the texts are laid that they are made of
 */
function writeItems(pieces: readonly TextsResult[], proofs: ProofTexts, bytes: Buffer, source: number): number {
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
        bytes[at++] = CLOSE
      }
      bytes[at++] = COMMA
    }
    base += buffer.byteLength
  }
  return at
}
