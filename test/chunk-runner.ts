/** Runs chunks of a batch in this process, with the code of a compute thread. */

import { pack } from '../src/base/bytes.ts'
import { runComputeChunk } from '../src/compute/chunk.ts'
import { createEngine } from '../src/compute/engine.ts'
import type { ChunkResult, ComputeChunk } from '../src/wire/batch-messages.ts'

export const limits = {
  maxVertices: 1000,
  maxParts: 100,
  maxCollectionDepth: 8,
  maxJsonDepth: 32,
  maxWork: 20_000,
  maxPreparedBytes: 1_048_576,
  chainIds: [84532, 8453],
}
export const engine = createEngine(limits)
/** Schema UIDs for items that name none. */
export const SCHEMAS = { numeric: `0x${'1'.repeat(64)}`, boolean: `0x${'2'.repeat(64)}` } as const

/** @param items JSON as bytes, or objects to serialize */
export function runChunk(items: readonly (Uint8Array | object)[], changes: Partial<ComputeChunk> = {}): ChunkResult {
  const chunk: ComputeChunk = {
    type: 'chunk',
    items: pack(items.map((item) => (item instanceof Uint8Array ? item : Buffer.from(JSON.stringify(item))))),
    attest: 'each',
    attester: undefined,
    returnsObjects: false,
    schemas: SCHEMAS,
    chainId: 84532,
    recipient: undefined,
    timestampSeconds: 1_700_000_000,
    itemsInQuota: items.length,
    quotaProblem: { type: 'rate-limited', detail: '' },
    firstIndex: 0,
    maxItemBytes: 100_000,
    resolved: [],
    ...changes,
  }
  return runComputeChunk(chunk, engine, limits)
}
