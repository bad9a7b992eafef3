import { type PackedBytes, unpack } from '../../base/bytes.ts'
import { type ProblemData, ProblemError, underPath } from '../../base/problem.ts'
import { proofInputsMember } from '../../compute/response-text.ts'
import type { ChunkItem, ComputeChunk, ItemsResult, TextsResult, UnsignedResult } from '../../wire/batch-messages.ts'
import type { ComputeResult } from '../../wire/compute-messages.ts'

/** An item before it is attested: its finished JSON, or the result that is to be attested. */
export type BatchItem = string | LeafItem | ComputedItem

/** The items of a chunk: a list if the main thread has to handle some of them, otherwise the JSON that the thread returned. */
export type BatchItems = readonly BatchItem[] | TextsResult

export function areTexts(items: BatchItems): items is TextsResult {
  return 'texts' in items
}

/** JSON of results that each await a signature, and their index in the batch. */
export type UnsignedItems = UnsignedResult & Pick<ComputeChunk, 'firstIndex'>

/** One item as a thread returned it: an object if the main thread has to look at it. */
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
  readonly computed: Extract<ComputeResult, { type: 'computed' }>
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
  const items = threadResult.type === 'texts' ? unpackTexts(threadResult.texts) : threadResult.items
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

/** Returns true if the item needs no further work on the main thread: it is finished, or awaits only its Merkle proof. */
export function isFinal(item: ReturnedItem): item is string | LeafItem {
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

/** Returns the problem of an item with the path of the item. @throws any other error as it is */
export function problemFrom(error: unknown, path: readonly (string | number)[]): ProblemData {
  if (error instanceof ProblemError) return underPath(error.data, path)
  throw error
}

export function isComputed(item: BatchItem): item is ComputedItem {
  return typeof item !== 'string' && 'computed' in item
}

/** Returns finished JSON. @throws {RangeError} for a leaf, which is signed only under its root */
export function finishedJson(item: string | LeafItem): string {
  if (typeof item !== 'string') throw new RangeError('a leaf has no finished JSON without its tree')
  return item
}
