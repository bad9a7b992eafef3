import { leafMembers } from '../src/attest/leaf-text.ts'
import { createLeafHasher } from '../src/attest/merkle-proof.ts'
import type { ChunkItem, ChunkResult, ComputeChunk } from '../src/batch-messages.ts'
import { OPERATIONS, type OperationRow } from '../src/compute/operations.ts'
import type { Engine } from '../src/compute/run.ts'
import type { ComputeWorkerData, ResolvedInput } from '../src/messages.ts'
import { unpack } from '../src/packed-bytes.ts'
import { type ProblemData, ProblemError, problemAt, underPath } from '../src/problem.ts'
import { batchItemIdOf, readBatchItem } from '../src/validation/batch.ts'
import { type ComputeRequest, readComputeRequest } from '../src/validation/compute-request.ts'
import type { GeometryCheck } from '../src/validation/input.ts'
import type { JsonObject } from '../src/validation/json-body.ts'
import { answerRequest, membersOf, runRequest } from './compute-task.ts'
import { packTexts } from './pack-texts.ts'
import { readRequest } from './read-request.ts'
import { SkeletonMemo } from './skeleton-memo.ts'

type Limits = ComputeWorkerData['limits']

/**
 * The items of one chunk, each from bytes to its unsigned result: what is wrong with one is no matter of the others.
 *
 * @throws whatever is a bug of ours
 */
export function runComputeChunk(chunk: ComputeChunk, engine: Engine, limits: Limits): ChunkResult {
  const count = chunk.items.offsets.length - 1
  const leaves = new Uint8Array(chunk.attest === 'merkle' ? count * 32 : 0)
  const leafOf = createLeafHasher(engine.keccak)
  let leafCount = 0
  const memo = new SkeletonMemo<ItemFacts>()
  const items = Array.from({ length: count }, (_, index): ChunkItem => {
    const item = runItem(chunk, index, engine, limits, memo)
    if (chunk.attest !== 'merkle' || typeof item === 'string' || item.result.ok !== true) return item
    const { kind, schema = chunk.schemas[kind], recipient, data, chainId } = item.result
    const leaf = leafOf({ schema, recipient, data })
    // Main knows the schemas of others and says what is wrong with another chain.
    if (item.result.schema !== undefined || chainId !== chunk.chainId) return { ...item, leaf }
    leaves.set(leaf, 32 * leafCount++)
    return `{${item.id}${item.result.members},${leafMembers(schema, recipient, data)}`
  })
  const found = { items, leaves: leaves.subarray(0, 32 * leafCount) }
  return items.every((item) => typeof item === 'string') ? packed(items, found.leaves, chunk) : found
}

function packed(items: readonly string[], leaves: Uint8Array, { firstIndex }: ComputeChunk): ChunkResult {
  return { texts: packTexts(items, firstIndex === undefined ? '\n' : ','), leaves }
}

/** What the skeleton of an item says, the id left out. */
interface ItemFacts {
  readonly row: OperationRow
  readonly request: ComputeRequest
  /** False where `id` is a member of something else. */
  readonly hasId: boolean
}

function runItem(
  chunk: ComputeChunk,
  index: number,
  engine: Engine,
  limits: Limits,
  memo: SkeletonMemo<ItemFacts>,
): ChunkItem {
  if (index >= chunk.granted)
    return refused(batchItemIdOf(unpack(chunk.items, index), limits.maxJsonDepth), chunk.refusal)
  let id = ''
  let row: OperationRow = OPERATIONS.distance
  try {
    const { chainId, recipient, timestampSeconds } = chunk
    const bytes = unpack(chunk.items, index)
    if (bytes.length > chunk.maxItemBytes) throw tooLarge(bytes.length, chunk.maxItemBytes)
    const read = (item: JsonObject, check: GeometryCheck) => {
      const known = memo.find(item)
      if (known !== undefined) {
        id = known.hasId ? `"id":${memo.id},` : ''
        row = known.row
        return known.request
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
      memo.keep(item, facts)
      return facts.request
    }
    const request = readRequest(bytes, read, engine, limits, true, (skeleton) => memo.parse(skeleton))
    const resolved = chunk.resolved[index] ?? NOTHING
    if (chunk.attest === 'none') {
      const outcome = runRequest(row, request, resolved, engine, limits)
      if ('ok' in outcome) return { id, result: outcome }
      return `{${id}${membersOf(row, outcome, timestampSeconds)}}`
    }
    return { id, result: answerRequest(row, request, { resolved, timestampSeconds }, engine, limits) }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    // What is wrong may stand before its id was read.
    if (id === '') id = batchItemIdOf(unpack(chunk.items, index), limits.maxJsonDepth)
    const { firstIndex } = chunk
    const problem = firstIndex === undefined ? error.data : underPath(error.data, ['items', firstIndex + index])
    return refused(id, problem)
  }
}

function noChain(): ProblemError {
  return problemAt('invalid-input', ['chainId'], 'is missing', {
    code: 'missing-member',
    hint: 'name the chain in the line, or once for all lines in the query: ?chainId=84532',
  })
}

/** As its own request would be refused. */
function tooLarge(bytes: number, most: number): ProblemError {
  return problemAt('payload-too-large', [], `the item has ${bytes} bytes, more than ${most}`, {
    code: 'item-too-large',
    hint: 'send fewer vertices',
  })
}

function refused(id: string, problem: ProblemData): ChunkItem {
  return { id, result: { ok: false, problem } }
}

const NOTHING: readonly ResolvedInput[] = []
