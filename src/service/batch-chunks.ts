import type { ComputeChunk } from '../batch-messages.ts'
import type { Config } from '../config.ts'
import { type PackedBytes, pack, unpack } from '../packed-bytes.ts'
import type { ProblemData } from '../problem.ts'
import type { BatchOptions } from '../validation/batch.ts'
import type { ChainPolicy } from './chain-policy.ts'

/** Makes what travels to a compute thread of the items of one caller's batch. */
export class ChunkMaker {
  readonly #common: Omit<ComputeChunk, 'items' | 'firstIndex' | 'granted' | 'attester' | 'resolved'>

  /** @param refusal what items beyond the caller's limit are told */
  constructor(
    { config, chains }: { readonly config: Config; readonly chains: ChainPolicy },
    { chainId, recipient, attest }: BatchOptions,
    refusal: ProblemData,
    timestampSeconds: number,
  ) {
    const { maxBodyBytes: maxItemBytes } = config.limits
    const schemas = { numeric: chains.defaultSchema('numeric'), boolean: chains.defaultSchema('boolean') }
    this.#common = { chainId, recipient, attest, refusal, maxItemBytes, schemas, timestampSeconds }
  }

  /** @param attester who will sign each result by itself; undefined when main wants to look at them */
  whole(
    items: PackedBytes,
    firstIndex: number | undefined,
    granted: number,
    attester: string | undefined,
  ): ComputeChunk {
    return { ...this.#common, items, firstIndex, granted, attester, resolved: [] }
  }

  /** One item of a chunk by itself, for main to look at. */
  alone(chunk: ComputeChunk, index: number, resolved: ComputeChunk['resolved']): ComputeChunk {
    const firstIndex = chunk.firstIndex === undefined ? undefined : chunk.firstIndex + index
    const items = pack([unpack(chunk.items, index)])
    return { ...this.whole(items, firstIndex, index < chunk.granted ? 1 : 0, undefined), resolved }
  }

  /** All of them, each by itself. */
  eachOf(chunk: ComputeChunk): ComputeChunk[] {
    return Array.from({ length: chunk.items.offsets.length - 1 }, (_, index) => this.alone(chunk, index, []))
  }
}

/** What travels to a thread is given away; this stays for a second try. */
export function copyOf({ buffer, offsets }: PackedBytes): PackedBytes {
  return { buffer: buffer.slice(0), offsets }
}
