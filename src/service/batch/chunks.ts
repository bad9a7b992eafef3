import { type PackedBytes, pack, unpack } from '../../base/packed-bytes.ts'
import type { ProblemData } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { BatchOptions } from '../../validation/batch.ts'
import type { ComputeChunk } from '../../wire/batch-messages.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'

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
