/** Messages between threads about a client's batch. */

import type { PackedBytes } from '../base/bytes.ts'
import type { ProblemData } from '../base/problem.ts'
import type { ComputeResult, ResolvedInput } from './compute-messages.ts'
import type { StoredShape } from './stored-messages.ts'
import type { Hex } from './values.ts'

/** How the results of a batch are signed: each of them, only their Merkle root, or none. */
export type BatchAttest = 'each' | 'merkle' | 'none'

/** An input that the items of a batch name. */
export interface NamedInput {
  /** JSON of an object whose only member is the input, under its name. In shared memory, so that a message does not copy it. */
  readonly json: Uint8Array
  /** The geometry, read and checked; undefined if the input is a reference or a proof. */
  readonly shape: StoredShape | undefined
}

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
  /** True if the results, or their root, will be submitted to the chain: items that cannot be submitted are rejected. */
  readonly submitOnchain?: boolean
  /** True if what is signed one by one are the results without a nonce (decision 104), not attestations. */
  readonly signsResults?: boolean
  /** The number of items, from the first, that the client's quota still covers. Of the other items only the `id` is read. */
  readonly itemsInQuota: number
  /** The problem that the other items get. */
  readonly quotaProblem: ProblemData
  readonly maxItemBytes: number
  /** Schema UIDs for the leaves of items that name no schema. */
  readonly schemas: Readonly<Record<'numeric' | 'boolean', Hex>>
  /**
   * Checksummed address that will sign each result; undefined if results are not signed one by one.
   */
  readonly attester: string | undefined
  /** True if main needs every result as an `UnfinishedItem`, not as bytes. */
  readonly returnsObjects: boolean
  /** Inputs that main resolved, by item. Empty at first. */
  readonly resolved: readonly (readonly ResolvedInput[])[]
  /** Stored geometries that the client may name, among them those that the items name. */
  readonly stored?: readonly StoredShape[]
  /** Inputs that the items may name. Undefined in a stream of lines and in a job, which have no names. */
  readonly named?: ReadonlyMap<string, NamedInput> | undefined
  readonly timestampSeconds: number
}

/** An item that main has to process further, for example because it names a schema. Its text and its payload are empty. */
export interface UnfinishedItem {
  /** `"id":…,` as JSON; empty if the item had no `id`. */
  readonly id: string
  readonly result: ComputeResult
  /** 32 bytes. Only for a result under a Merkle root. */
  readonly leaf?: Uint8Array
}

/** The results of a chunk, in order. They are bytes wherever possible, so that main can write them without decoding them. */
export interface ChunkResult {
  readonly type: 'chunk'
  /**
   * UTF-8. Results without a signature are finished and results under a Merkle root end before their proof; the separator follows
   * both: a comma or, in a stream, a line feed. Results that are signed one by one end before their signature.
   */
  readonly texts: PackedBytes
  /** 32 bytes for each text, in order, if they go under a Merkle root; otherwise empty. */
  readonly leaves: Uint8Array
  /** If results are signed one by one: for each text, the length in bytes of `"id":…,` after the first brace. Otherwise empty. */
  readonly idLengths: Uint32Array
  /**
   * If results are signed one by one: payload records as `putPayload` writes them; those of results have a salt
   * of zeros, which main replaces. Otherwise empty.
   */
  readonly payloads: PackedBytes
  /** By index in the chunk. */
  readonly unfinished: ReadonlyMap<number, UnfinishedItem>
}

/** Texts and their leaves. Either every text has a leaf, or none has. */
export type MerklePiece = Pick<ChunkResult, 'texts' | 'leaves'>

/** All items of a batch, in order, for the thread that builds the Merkle tree over those with leaves. */
export interface MerkleTask {
  readonly type: 'merkle'
  readonly pieces: readonly MerklePiece[]
}

/** Leaves of a job, for the thread that builds the tree over them. */
export interface LeavesTask {
  readonly type: 'leaves'
  /** 32 bytes each; zeros stand for operations that failed and are not in the tree. */
  readonly leaves: Uint8Array
  /** Index of the leaf whose proof is wanted; it must be in the tree. */
  readonly proofOf: number | undefined
}

export interface LeavesResult {
  readonly type: 'leaves'
  readonly root: Hex
  /** Empty if none was wanted. */
  readonly proof: readonly Hex[]
}

export interface MerkleResult {
  readonly type: 'merkle'
  readonly root: Hex
  /** The items with their proofs, joined with commas: one JSON text in pieces, to be written in order. */
  readonly items: readonly Uint8Array[]
}
