import { createLeafHasher } from '../attest/merkle-proof.ts'
import { unpack } from '../base/bytes.ts'
import { type ProblemData, ProblemError, problemAt, underPath } from '../base/problem.ts'
import { readBatchItem, readBatchItemId } from '../validation/batch.ts'
import { type ComputeRequest, readComputeRequest } from '../validation/compute-request.ts'
import type { GeometryCheck } from '../validation/input.ts'
import type { JsonObject } from '../validation/json-body.ts'
import type { ChunkResult, ComputeChunk, OpenItem } from '../wire/batch-messages.ts'
import type { ComputeWorkerData, ResolvedInput } from '../wire/compute-messages.ts'
import { type ComputedItem, ItemWriter } from './item-writer.ts'
import { OPERATIONS, type OperationRow } from './operations.ts'
import { readRequest, SkeletonMemo } from './read-request.ts'
import type { ComputeContext } from './run.ts'
import { encodeResult, runRequest } from './task.ts'

type Limits = ComputeWorkerData['limits']

/**
 * Turns each item of a chunk from bytes into its unsigned result. Items fail independently.
 *
 * @throws {Error} on a bug in this program
 */
export function runComputeChunk(chunk: ComputeChunk, engine: ComputeContext, limits: Limits): ChunkResult {
  const memo = new SkeletonMemo<ItemFacts>()
  const writer = new ItemWriter(chunk, engine.keccak)
  const count = chunk.items.offsets.length - 1
  const open = new Map<number, OpenItem>()
  for (let index = 0; index < count; index++) {
    const item = runItem(chunk, index, engine, limits, memo)
    if ('outcome' in item && isPlain(item, chunk)) writer.add(item, index)
    else {
      open.set(index, 'outcome' in item ? openItem(item, chunk, engine) : item)
      writer.skip(index)
    }
  }
  return writer.finish(open)
}

/**
 * Returns whether the item can be written without the main thread looking at it. False for an item with its own schema,
 * for an item of another chain under a Merkle root, and when the main thread wants to see every item.
 */
function isPlain({ request }: ComputedItem, { attest, chainId, returnsObjects }: ComputeChunk): boolean {
  if (returnsObjects) return false
  if (attest === 'none') return true
  return request.schema === undefined && (attest === 'each' || request.chainId === chainId)
}

function openItem(
  { id, row, request, outcome }: ComputedItem,
  chunk: ComputeChunk,
  { keccak }: ComputeContext,
): OpenItem {
  const { attest, schemas, timestampSeconds } = chunk
  const result = encodeResult(row, request, outcome, timestampSeconds)
  if (attest !== 'merkle') return { id, result }
  const { kind, schema = schemas[kind], recipient, data } = result
  return { id, result, leaf: createLeafHasher(keccak)({ schema, recipient, data }) }
}

/** What was read from the skeleton of an item, except its id. */
interface ItemFacts {
  readonly row: OperationRow
  readonly request: ComputeRequest
  /** False when the item has no id; an `id` inside another member does not count. */
  readonly hasId: boolean
}

function runItem(
  chunk: ComputeChunk,
  index: number,
  engine: ComputeContext,
  limits: Limits,
  memo: SkeletonMemo<ItemFacts>,
): ComputedItem | OpenItem {
  if (index >= chunk.itemsInQuota)
    return rejected(readBatchItemId(unpack(chunk.items, index), limits.maxJsonDepth), chunk.quotaProblem)
  let id = ''
  let row: OperationRow = OPERATIONS.distance
  try {
    const { chainId, recipient } = chunk
    const bytes = unpack(chunk.items, index)
    if (bytes.length > chunk.maxItemBytes) throw tooLarge(bytes.length, chunk.maxItemBytes)
    const read = (item: JsonObject, check: GeometryCheck) => {
      const cached = memo.find(item)
      if (cached !== undefined) {
        id = cached.hasId ? `"id":${memo.id},` : ''
        row = cached.row
        return cached.request
      }
      const head = readBatchItem(item)
      id = head.id
      row = OPERATIONS[head.operation]
      const request = { chainId, recipient, ...item, op: undefined, id: undefined }
      if (request.chainId === undefined && chunk.firstIndex === undefined) throw noChain()
      const facts = {
        row,
        request: readComputeRequest(row, request, limits.maxCollectionDepth, check),
        hasId: id !== '',
      }
      memo.remember(item, facts)
      return facts.request
    }
    const request = readRequest(bytes, read, engine, limits, true, (skeleton) => memo.parse(skeleton))
    const resolved = chunk.resolved[index] ?? NO_INPUTS
    const outcome = runRequest(row, request, resolved, engine, limits)
    request.release()
    return 'type' in outcome ? { id, result: outcome } : { id, row, request: request.request, outcome }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    // The problem may have come up before the id was read.
    if (id === '') id = readBatchItemId(unpack(chunk.items, index), limits.maxJsonDepth)
    const { firstIndex } = chunk
    const problem = firstIndex === undefined ? error.data : underPath(error.data, ['items', firstIndex + index])
    return rejected(id, problem)
  }
}

function noChain(): ProblemError {
  return problemAt('invalid-input', ['chainId'], 'is missing', {
    code: 'missing-member',
    hint: 'name the chain in the line, or once for all lines in the query: ?chainId=84532',
  })
}

/** The problem that the same request would get outside of a batch. */
function tooLarge(bytes: number, maxBytes: number): ProblemError {
  return problemAt('payload-too-large', [], `the item has ${bytes} bytes, more than ${maxBytes}`, {
    code: 'item-too-large',
    hint: 'send fewer vertices',
  })
}

function rejected(id: string, problem: ProblemData): OpenItem {
  return { id, result: { type: 'problem', problem } }
}

const NO_INPUTS: readonly ResolvedInput[] = []
