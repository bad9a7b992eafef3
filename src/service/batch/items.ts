import { type PackedBytes, pack, unpack } from '../../base/bytes.ts'
import type { ProblemData } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { BatchOptions } from '../../validation/batch.ts'
import type { ChunkItem, ComputeChunk, ItemsResult, TextsResult, UnsignedResult } from '../../wire/batch-messages.ts'
import type { ComputeResult } from '../../wire/compute-messages.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import { proofInputsMember } from '../compute/signed-answer.ts'

/** An item before it is attested: its finished JSON, or the result that is to be attested. */
export type BatchItem = string | LeafItem | ComputedItem

/** The items of a chunk: a list if the main thread has to handle some of them, otherwise the JSON that the thread returned. */
export type BatchItems = readonly BatchItem[] | TextsResult

export function areTexts(items: BatchItems): items is TextsResult {
  return 'texts' in items
}

/** JSON of results that each await a signature, and their index in the batch. */
export type UnsignedItems = UnsignedResult & Pick<ComputeChunk, 'firstIndex'>

export type ReturnedItem = ChunkItem | LeafItem

/** A result under a Merkle root: JSON that awaits its Merkle proof. */
export interface LeafItem {
  readonly text: string
  /** 32 bytes. */
  readonly leaf: Uint8Array
}

/** A result that awaits its attestation. */
export interface ComputedItem {
  /** `"id":…,` as JSON, empty if the item has none. */
  readonly id: string
  readonly computed: Extract<ComputeResult, { ok: true }>
  /** JSON summary of each authenticated proof among the inputs (decision 86). */
  readonly proofInputs: readonly string[]
  /** Leaf for a Merkle tree, 32 bytes; undefined in other batches. */
  readonly leaf: Uint8Array | undefined
  /** Pointer of the item in the body. */
  readonly path: readonly (string | number)[]
}

/** Splits a thread's result into single items. */
export function splitItems(threadResult: ItemsResult | TextsResult): ReturnedItem[] {
  const { leaves } = threadResult
  const items = 'texts' in threadResult ? unpackTexts(threadResult.texts) : threadResult.items
  if (leaves.length === 0) return items as ReturnedItem[]
  let next = 0
  return items.map((item) => {
    if (typeof item !== 'string') return item
    next++
    return { text: item, leaf: leaves.subarray(32 * (next - 1), 32 * next) }
  })
}

/** Unpacks texts into strings, without the separator byte after each. */
export function unpackTexts(texts: PackedBytes): string[] {
  return Array.from({ length: texts.offsets.length - 1 }, (_, index) =>
    Buffer.from(unpack(texts, index)).toString('utf8', 0, texts.offsets[index + 1]! - texts.offsets[index]! - 1),
  )
}

/** Compares problems by value, because they come back from a thread as copies. */
export function isSameProblem(problem: ProblemData, other: ProblemData): boolean {
  return problem.type === other.type && problem.detail === other.detail
}

/** Returns true if the item needs no further work on the main thread: it is finished, or awaits only its Merkle proof. */
export function isFinal(item: ReturnedItem | ProblemData): item is string | LeafItem {
  return typeof item === 'string' || 'text' in item
}

/** Adds the summary of authenticated proofs to JSON that a thread wrote without knowing it. */
export function withProofInputs(item: string | LeafItem, proofInputs: readonly string[]): string | LeafItem {
  const member = proofInputsMember(proofInputs)
  if (typeof item !== 'string') return { ...item, text: item.text + member }
  return `${item.slice(0, -1)}${member}}`
}

/** Returns the path of an item: from the list of items in a JSON batch, empty in a stream of lines. */
export function itemPath(
  { firstIndex }: Pick<ComputeChunk, 'firstIndex'>,
  index: number,
): readonly (string | number)[] {
  return firstIndex === undefined ? [] : ['items', firstIndex + index]
}

/** Makes the messages that carry the items of one batch to compute threads. */
export class ChunkMaker {
  readonly #common: Omit<ComputeChunk, 'items' | 'firstIndex' | 'granted' | 'attester' | 'resolved'>

  /** @param quotaProblem problem of the items beyond the caller's quota */
  constructor(
    { config, chains }: { readonly config: Config; readonly chains: ChainPolicy },
    { chainId, recipient, attest }: BatchOptions,
    quotaProblem: ProblemData,
    timestampSeconds: number,
  ) {
    const { maxBodyBytes: maxItemBytes } = config.limits
    const schemas = { numeric: chains.defaultSchema('numeric'), boolean: chains.defaultSchema('boolean') }
    this.#common = { chainId, recipient, attest, quotaProblem: quotaProblem, maxItemBytes, schemas, timestampSeconds }
  }

  /**
   * Makes a chunk of several items.
   *
   * @param granted number of items that the caller's quota allows
   * @param attester checksummed address that will sign each result; undefined if the results should come back as objects
   */
  chunk(
    items: PackedBytes,
    firstIndex: number | undefined,
    granted: number,
    attester: string | undefined,
  ): ComputeChunk {
    return { ...this.#common, items, firstIndex, granted, attester, resolved: [] }
  }

  /** Makes a chunk of one item, whose result comes back as an object. */
  singleItem(chunk: ComputeChunk, index: number, resolved: ComputeChunk['resolved']): ComputeChunk {
    const firstIndex = chunk.firstIndex === undefined ? undefined : chunk.firstIndex + index
    const items = pack([unpack(chunk.items, index)])
    return { ...this.chunk(items, firstIndex, index < chunk.granted ? 1 : 0, undefined), resolved }
  }

  /** Makes a chunk of one item for each item of a chunk. */
  singleItems(chunk: ComputeChunk): ComputeChunk[] {
    return Array.from({ length: chunk.items.offsets.length - 1 }, (_, index) => this.singleItem(chunk, index, []))
  }
}

/** Copies the items. A buffer sent to a thread is transferred, and the original is needed for a second try. */
export function copyPacked({ buffer, offsets }: PackedBytes): PackedBytes {
  return { buffer: buffer.slice(0), offsets }
}
