/** Messages between threads about a client's batch. */

import type { PackedBytes } from '../base/bytes.ts'
import type { ProblemData } from '../base/problem.ts'
import type { ComputeResult, ResolvedInput } from './compute-messages.ts'
import type { Hex } from './values.ts'

/** How the results of a batch are signed: each of them, only their Merkle root, or none. */
export type BatchAttest = 'each' | 'merkle' | 'none'

/** Items of a batch that go to one thread. Each is parsed, computed and rejected independently. */
export interface ComputeChunk {
  readonly type: 'chunk'
  readonly items: PackedBytes
  /** Index of the first item in the batch. Undefined in a stream of lines, where pointers are relative to the line. */
  readonly firstIndex: number | undefined
  /** Default for items without a chain ID. */
  readonly chainId: number | undefined
  /** Default for items without a recipient. */
  readonly recipient: string | undefined
  readonly attest: BatchAttest
  /** The number of items, from the first, that the client's quota still covers. Of the other items only the `id` is read. */
  readonly itemsInQuota: number
  /** The problem that the other items get. */
  readonly quotaProblem: ProblemData
  readonly maxItemBytes: number
  /** Schema UIDs for the leaves of items that name no schema. */
  readonly schemas: Readonly<Record<'numeric' | 'boolean', Hex>>
  /**
   * Checksummed address that will sign each result. Undefined if results are not signed, or if main has to look at them first.
   */
  readonly attester: string | undefined
  /** Inputs that main resolved, by item. Empty at first. */
  readonly resolved: readonly (readonly ResolvedInput[])[]
  readonly timestampSeconds: number
}

/**
 * The outcome of one item. It is a string unless main has to look at the item, because strings are cheaper to send than
 * objects. Without a signature the string is the finished response; under a Merkle root it is the response up to its proof
 * (`{"result":…,"data":"0x…"`).
 */
export type ChunkItem = string | OpenItem

/** An item that main has to look at. */
export interface OpenItem {
  /** `"id":…,` as JSON; empty if the item had no `id`. */
  readonly id: string
  readonly result: ComputeResult
  /** 32 bytes. Only for a result under a Merkle root. */
  readonly leaf?: Uint8Array
}

export interface ItemsResult {
  readonly type: 'items'
  readonly items: readonly ChunkItem[]
  /** 32 bytes for each string in `items`, in order, if they go under a Merkle root; otherwise empty. */
  readonly leaves: Uint8Array
}

/**
 * Items that are all strings, as UTF-8, so that the main thread can write them without decoding them. One more byte follows each
 * item: a comma or, in a stream, a line feed.
 */
export interface TextsResult {
  readonly type: 'texts'
  readonly texts: PackedBytes
  /** As in `ItemsResult`. */
  readonly leaves: Uint8Array
}

/** Items that will be signed one by one, none of which main has to look at. */
export interface UnsignedResult {
  readonly type: 'unsigned'
  /** The responses up to their signatures, as UTF-8. */
  readonly unsigned: PackedBytes
  /** For each item, the length in bytes of `"id":…,` after the first brace; 0 if the item had no `id`. */
  readonly idLengths: Uint32Array
  /** Payload records as `putPayload` writes them. */
  readonly payloads: PackedBytes
}

export type ChunkResult = ItemsResult | TextsResult | UnsignedResult

/** All items of a batch, in order, for the thread that builds the Merkle tree over those with leaves. */
export interface MerkleTask {
  readonly type: 'merkle'
  /** Each piece has a leaf for every text, or no leaves. */
  readonly pieces: readonly TextsResult[]
}

export interface MerkleResult {
  readonly type: 'merkle'
  readonly root: Hex
  /** The items with their proofs, joined with commas: one JSON text in pieces, to be written in order. */
  readonly items: readonly Uint8Array[]
}
