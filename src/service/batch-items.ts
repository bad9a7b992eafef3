import type { ChunkItem, ComputeChunk, ItemsResult, TextsResult, UnsignedResult } from '../batch-messages.ts'
import type { ComputeResult } from '../messages.ts'
import { type PackedBytes, unpack } from '../packed-bytes.ts'
import type { ProblemData } from '../problem.ts'
import { proofInputsMember } from './answer.ts'

/** What is known of an item before it is attested: its finished text, or what is to be attested. */
export type BatchItem = string | LeafItem | ComputedItem

/** The items of a chunk: each by itself when main has to look at some of them, else their texts as they came. */
export type BatchItems = readonly BatchItem[] | TextsResult

export function areTexts(items: BatchItems): items is TextsResult {
  return 'texts' in items
}

/** Texts that wait for a signature each, and where they stand in the body. */
export type UnsignedItems = UnsignedResult & Pick<ComputeChunk, 'firstIndex'>

export type FoundItem = ChunkItem | LeafItem

/** A result under a Merkle root: its answer's text waits for the proof. */
export interface LeafItem {
  readonly text: string
  /** 32 bytes. */
  readonly leaf: Uint8Array
}

/** A result that waits for what attests it. */
export interface ComputedItem {
  /** `"id":…,` as JSON text, empty when the item had none. */
  readonly id: string
  readonly computed: Extract<ComputeResult, { ok: true }>
  /** What authenticated proofs among the inputs said. */
  readonly proofInputs: readonly string[]
  /** For a Merkle tree. */
  readonly leaf: Uint8Array | undefined
  /** Where it stands in the body. */
  readonly path: readonly (string | number)[]
}

/** One by one what a thread has given. */
export function foundItems(given: ItemsResult | TextsResult): FoundItem[] {
  const { leaves } = given
  const items = 'texts' in given ? textsOf(given.texts) : given.items
  if (leaves.length === 0) return items as FoundItem[]
  let next = 0
  return items.map((item) => {
    if (typeof item !== 'string') return item
    next++
    return { text: item, leaf: leaves.subarray(32 * (next - 1), 32 * next) }
  })
}

/** Without the byte behind each. */
export function textsOf(texts: PackedBytes): string[] {
  return Array.from({ length: texts.offsets.length - 1 }, (_, index) =>
    Buffer.from(unpack(texts, index)).toString('utf8', 0, texts.offsets[index + 1]! - texts.offsets[index]! - 1),
  )
}

/** Problems come back from a thread as copies. */
export function isSame(problem: ProblemData, other: ProblemData): boolean {
  return problem.type === other.type && problem.detail === other.detail
}

/** True for a text and for what waits for its proof alone. */
export function isFinal(item: FoundItem | ProblemData): item is string | LeafItem {
  return typeof item === 'string' || 'text' in item
}

/** What authenticated proofs said joins the text of the thread, which did not know it. */
export function withProofInputs(item: string | LeafItem, proofInputs: readonly string[]): string | LeafItem {
  const member = proofInputsMember(proofInputs)
  if (typeof item !== 'string') return { ...item, text: item.text + member }
  return `${item.slice(0, -1)}${member}}`
}

/** In a list of items, places begin at the list. */
export function pathOf({ firstIndex }: Pick<ComputeChunk, 'firstIndex'>, index: number): readonly (string | number)[] {
  return firstIndex === undefined ? [] : ['items', firstIndex + index]
}
