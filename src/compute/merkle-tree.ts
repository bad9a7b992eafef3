import { createMerkleTree, type MerkleTree } from '../attest/merkle.ts'
import { createProofWriter, type ProofWriter } from '../attest/proof-texts.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { MerkleResult, MerkleTask, TextsResult } from '../wire/batch-messages.ts'

const PROOF = Buffer.from(',"proof":')
const CLOSE = 0x7d
const COMMA = 0x2c
const PIECE_BYTES = 262_144
/** The largest buffer that this thread reuses for the next tree. */
const MAX_REUSED_BYTES = 8 * 1_048_576
let reused = Buffer.alloc(0)

/**
 * Builds the tree over the leaves of a batch and writes the items with their proofs. Runs where it delays no other
 * request.
 */
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

/** Splits the bytes into pieces. Copies them, because the next tree reuses the buffer. */
function splitIntoPieces(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, index) => {
    const start = index * PIECE_BYTES
    return new Uint8Array(bytes.subarray(start, start + PIECE_BYTES))
  })
}

function leafAt({ leaves }: TextsResult, index: number): Uint8Array {
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
 * @param source offset in `bytes`, behind the space for the items, to which the input texts are copied
 * @returns the offset behind the last comma
 */
function writeItems(pieces: readonly TextsResult[], proofs: ProofWriter, bytes: Buffer, source: number): number {
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
