import { createLeafHasher } from '../src/attest/merkle-proof.ts'
import type { ChunkResult, ComputeChunk, OpenItem } from '../src/batch-messages.ts'
import { OPERATIONS, type OperationRow } from '../src/compute/operations.ts'
import type { Engine } from '../src/compute/run.ts'
import type { ComputeWorkerData, ResolvedInput } from '../src/messages.ts'
import { unpack } from '../src/packed-bytes.ts'
import { type ProblemData, ProblemError, problemAt, underPath } from '../src/problem.ts'
import { batchItemIdOf, readBatchItem } from '../src/validation/batch.ts'
import { type ComputeRequest, readComputeRequest } from '../src/validation/compute-request.ts'
import type { GeometryCheck } from '../src/validation/input.ts'
import type { JsonObject } from '../src/validation/json-body.ts'
import { resultOf, runRequest } from './compute-task.ts'
import { ItemWriter, type PlainItem } from './item-writer.ts'
import { readRequest } from './read-request.ts'
import { SkeletonMemo } from './skeleton-memo.ts'

type Limits = ComputeWorkerData['limits']

/**
 * The items of one chunk, each from bytes to its unsigned result: what is wrong with one is no matter of the others.
 *
 * @throws whatever is a bug of ours
 */
export function runComputeChunk(chunk: ComputeChunk, engine: Engine, limits: Limits): ChunkResult {
  const memo = new SkeletonMemo<ItemFacts>()
  const writer = new ItemWriter(chunk, engine.keccak)
  const count = chunk.items.offsets.length - 1
  const open = new Map<number, OpenItem>()
  for (let index = 0; index < count; index++) {
    const item = runItem(chunk, index, engine, limits, memo)
    if ('result' in item) open.set(index, item)
    else if (isPlain(item, chunk)) writer.add(item)
    else open.set(index, openItem(item, chunk, engine))
  }
  if (open.size === 0) return writer.finish()
  const written = writer.items()
  let next = 0
  const items = Array.from({ length: count }, (_, index) => open.get(index) ?? written[next++]!)
  return { items, leaves: writer.leaves }
}

/** False for what main has to look at: what it wants to, a schema of others, under a root another chain. */
function isPlain({ request }: PlainItem, { attest, attester, chainId }: ComputeChunk): boolean {
  if (attest === 'none') return true
  if (request.schema !== undefined) return false
  return attest === 'each' ? attester !== undefined : request.chainId === chainId
}

function openItem({ id, row, request, outcome }: PlainItem, chunk: ComputeChunk, { keccak }: Engine): OpenItem {
  const { attest, schemas, timestampSeconds } = chunk
  const result = resultOf(row, request, outcome, timestampSeconds)
  if (attest !== 'merkle') return { id, result }
  const { kind, schema = schemas[kind], recipient, data } = result
  return { id, result, leaf: createLeafHasher(keccak)({ schema, recipient, data }) }
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
): PlainItem | OpenItem {
  if (index >= chunk.granted)
    return refused(batchItemIdOf(unpack(chunk.items, index), limits.maxJsonDepth), chunk.refusal)
  let id = ''
  let row: OperationRow = OPERATIONS.distance
  try {
    const { chainId, recipient } = chunk
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
    const outcome = runRequest(row, request, resolved, engine, limits)
    request.release()
    return 'ok' in outcome ? { id, result: outcome } : { id, row, request: request.request, outcome }
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

function refused(id: string, problem: ProblemData): OpenItem {
  return { id, result: { ok: false, problem } }
}

const NOTHING: readonly ResolvedInput[] = []
