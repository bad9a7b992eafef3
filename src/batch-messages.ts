/** What crosses a thread border of a caller's batch; as in `messages.ts`, plain data. */
import type { ComputeResult, Hex, ResolvedInput } from './messages.ts'
import type { PackedBytes } from './packed-bytes.ts'
import type { ProblemData } from './problem.ts'

/** Whether each result of a batch is signed. */
export type BatchAttest = 'each' | 'merkle' | 'none'

/** Items of a batch for one thread: each is parsed, computed and refused by itself. */
export interface ComputeChunk {
  readonly items: PackedBytes
  /** Index of the first one in the batch; undefined in a stream of lines, whose places begin at the line. */
  readonly firstIndex: number | undefined
  /** For items that name none. */
  readonly chainId: number | undefined
  readonly recipient: string | undefined
  readonly attest: BatchAttest
  /** The first of them that the caller's limit still allows to be computed: of the others only the `id` is read. */
  readonly granted: number
  /** What the others are told. */
  readonly refusal: ProblemData
  readonly maxItemBytes: number
  /** UIDs that stand in leaves where an item names none. */
  readonly schemas: Readonly<Record<'numeric' | 'boolean', Hex>>
  /** Who will sign each result by itself, checksummed; undefined: nobody, or main wants to look at them. */
  readonly attester: string | undefined
  /** By item, where main resolved its inputs; empty at first. */
  readonly resolved: readonly (readonly ResolvedInput[])[]
  readonly timestampSeconds: number
}

/**
 * What became of one item. Text is cheap to send, objects are not: without a signature it is the finished answer, under a
 * Merkle root the answer before its proof (`{"result":…,"data":"0x…"`), unless main has to look at the item.
 */
export type ChunkItem = string | OpenItem

/** An item that main has to look at. */
export interface OpenItem {
  /** `"id":…,` as JSON text, empty when the item had none. */
  readonly id: string
  readonly result: ComputeResult
  /** 32 bytes, of a result that goes under a Merkle root. */
  readonly leaf?: Uint8Array
}

export interface ItemsResult {
  readonly items: readonly ChunkItem[]
  /** 32 bytes for each item that came as text, in order, when they go under a Merkle root; else empty. */
  readonly leaves: Uint8Array
}

/**
 * Items that are text alone, as UTF-8: nobody makes strings of them again. Each has one more byte behind it, a comma or, in a
 * stream, a line feed.
 */
export interface TextsResult {
  readonly texts: PackedBytes
  /** As in `ItemsResult`. */
  readonly leaves: Uint8Array
}

/** Items that will be signed one by one, main having to look at none of them. */
export interface UnsignedResult {
  /** The answers up to their signature, as UTF-8. */
  readonly unsigned: PackedBytes
  /** Bytes of `"id":…,` behind the first brace of each; 0 when the item had none. */
  readonly idLengths: Uint32Array
  /** As `putPayload` writes them. */
  readonly payloads: PackedBytes
}

export type ChunkResult = ItemsResult | TextsResult | UnsignedResult

/** The items of a batch in their order, for the thread that builds the tree over those that have leaves. */
export interface MerkleTask {
  /** Each with a leaf for every text, or with none. */
  readonly pieces: readonly TextsResult[]
}

export interface MerkleResult {
  readonly root: Hex
  /** The items with their proofs and commas between them: one text, to be written piece by piece. */
  readonly items: readonly Uint8Array[]
}
