/** Chunks of a batch as a compute thread runs them, in this process. */
import type { ChunkResult, ComputeChunk } from '../src/batch-messages.ts'
import { pack } from '../src/packed-bytes.ts'
import { runComputeChunk } from '../workers/compute-chunk.ts'
import { createEngine } from '../workers/engine.ts'

const limits = {
  maxVertices: 1000,
  maxParts: 100,
  maxCollectionDepth: 8,
  maxJsonDepth: 32,
  maxDistanceSolves: 20_000,
  maxPreparedBytes: 1_048_576,
  chainIds: [84532, 8453],
}
export const engine = createEngine(limits)
/** UIDs that stand where an item names none. */
export const SCHEMAS = { numeric: `0x${'1'.repeat(64)}`, boolean: `0x${'2'.repeat(64)}` } as const

/** @param items JSON texts as bytes, or what becomes one */
export function runChunk(items: readonly (Uint8Array | object)[], changes: Partial<ComputeChunk> = {}): ChunkResult {
  const chunk: ComputeChunk = {
    items: pack(items.map((item) => (item instanceof Uint8Array ? item : Buffer.from(JSON.stringify(item))))),
    attest: 'each',
    attester: undefined,
    schemas: SCHEMAS,
    chainId: 84532,
    recipient: undefined,
    timestampSeconds: 1_700_000_000,
    granted: items.length,
    refusal: { type: 'rate-limited', detail: '' },
    firstIndex: 0,
    maxItemBytes: 100_000,
    resolved: [],
    ...changes,
  }
  return runComputeChunk(chunk, engine, limits)
}
