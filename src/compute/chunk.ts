import { createLeafHasher } from '../attest/merkle-proof.ts'
import { type PackedBytes, unpack } from '../base/bytes.ts'
import { type ProblemData, ProblemError, problemAt, underPath } from '../base/problem.ts'
import { checksumAddress } from '../crypto/address.ts'
import type { Keccak } from '../crypto/primitives.ts'
import { readBatchItem, readBatchItemId } from '../validation/batch.ts'
import { type ComputeRequest, readComputeRequest } from '../validation/compute-request.ts'
import type { GeometryCheck } from '../validation/input.ts'
import type { JsonObject } from '../validation/json-body.ts'
import type { ChunkResult, ComputeChunk, UnfinishedItem } from '../wire/batch-messages.ts'
import type { ComputeWorkerData, ResolvedInput } from '../wire/compute-messages.ts'
import { payloadSize, putPayload } from '../wire/signing-records.ts'
import type { StoredShape } from '../wire/stored-messages.ts'
import type { Hex } from '../wire/values.ts'
import { NamedTable } from './named-table.ts'
import { OPERATIONS, type OperationRow } from './operations.ts'
import { attestationJsonHead, leafJson } from './response-text.ts'
import { type ComputeContext, isSignable, type Outcome, type SignedOutcome } from './run.ts'
import { SkeletonMemo } from './skeleton-memo.ts'
import { encodeData, encodeMembers, encodeResult, readRequest, runRequest } from './task.ts'

type Limits = ComputeWorkerData['limits']

/** The most vertices of an item's answer. 10,000 items of a batch, which are held in memory, then have at most 100 MB. */
const MAX_ANSWER_VERTICES = 250

/** Makes items of JSON objects that are not items of a batch yet. */
export interface ItemComposer {
  /**
   * Makes the item of an object, whose coordinates may be missing.
   *
   * @throws {ProblemError} if it is not an item
   */
  compose(object: JsonObject, index: number): JsonObject
  /** Returns the id of an item whose object has none. */
  idOf(index: number): number
}

/**
 * Turns each item of a chunk from bytes into its unsigned result. Items fail independently.
 *
 * @param composer makes the items; without it, the bytes of the chunk are items
 * @throws {Error} on a bug in this program
 */
export function runComputeChunk(
  chunk: ComputeChunk,
  engine: ComputeContext,
  limits: Limits,
  composer?: ItemComposer,
): ChunkResult {
  const bounded: ComputeContext = { ...engine, maxAnswerVertices: MAX_ANSWER_VERTICES }
  const memo = new SkeletonMemo<ItemFacts>()
  const named = chunk.named && new NamedTable(chunk.named, limits)
  const writer = new ItemWriter(chunk, engine.keccak)
  const count = chunk.items.offsets.length - 1
  const unfinished = new Map<number, UnfinishedItem>()
  for (let index = 0; index < count; index++) {
    const item = runItem(chunk, index, bounded, limits, { memo, named, composer })
    if ('outcome' in item && isPlain(item, chunk)) writer.add(item, index)
    else {
      unfinished.set(index, 'outcome' in item ? toUnfinishedItem(item, chunk, engine) : item)
      writer.skip(index)
    }
  }
  return writer.finish(unfinished)
}

/**
 * Returns whether the item can be written without the main thread looking at it. False for an item with its own schema, for a
 * result that is never signed among signed ones,
 * for an item of another chain under a Merkle root or in a batch that is submitted, and when the main thread wants to see every item.
 */
function isPlain({ request, outcome }: ComputedItem, chunk: ComputeChunk): boolean {
  const { attest, chainId, submitOnchain, returnsObjects } = chunk
  if (returnsObjects) return false
  if (attest === 'none') return true
  if (!isSignable(outcome)) return false
  return request.schema === undefined && ((attest === 'each' && !submitOnchain) || request.chainId === chainId)
}

function toUnfinishedItem(
  { id, row, request, outcome }: ComputedItem,
  chunk: ComputeChunk,
  { keccak }: ComputeContext,
): UnfinishedItem {
  const { attest, schemas, timestampSeconds } = chunk
  const result = encodeResult(row, request, outcome, timestampSeconds)
  if (attest !== 'merkle' || result.type === 'unsigned') return { id, result }
  const { kind, schema = schemas[kind], recipient, data } = result
  return { id, result, leaf: createLeafHasher(keccak)({ schema, recipient, data }) }
}

/** What was read from the skeleton of an item, except its id. */
interface ItemFacts {
  readonly row: OperationRow
  readonly request: ComputeRequest
  /** False when the object of the item has no id; an `id` inside another member does not count. */
  readonly hasId: boolean
}

/** What the items of a chunk share. */
interface ItemSources {
  readonly memo: SkeletonMemo<ItemFacts>
  readonly named: NamedTable | undefined
  readonly composer: ItemComposer | undefined
}

function runItem(
  chunk: ComputeChunk,
  index: number,
  engine: ComputeContext,
  limits: Limits,
  { memo, named, composer }: ItemSources,
): ComputedItem | UnfinishedItem {
  if (index >= chunk.itemsInQuota)
    return rejected(readBatchItemId(unpack(chunk.items, index), limits.maxJsonDepth), chunk.quotaProblem)
  let id = ''
  let row: OperationRow = OPERATIONS.distance
  try {
    const { chainId, recipient, submitOnchain } = chunk
    const bytes = unpack(chunk.items, index)
    if (bytes.length > chunk.maxItemBytes) throw tooLarge(bytes.length, chunk.maxItemBytes)
    const read = (object: JsonObject, check: GeometryCheck) => {
      const cached = memo.find(object)
      if (cached !== undefined) {
        id = cached.hasId ? `"id":${memo.id},` : composer === undefined ? '' : `"id":${composer.idOf(index)},`
        row = cached.row
        return cached.request
      }
      const item = composer === undefined ? object : composer.compose(object, index)
      const head = readBatchItem(item)
      id = head.id
      row = OPERATIONS[head.operation]
      const options = submitOnchain ? { submitOnchain } : undefined
      const request = { chainId, recipient, ...item, options, op: undefined, id: undefined }
      if (request.chainId === undefined && chunk.firstIndex === undefined) throw noChain()
      const facts = {
        row,
        request: readComputeRequest(row, request, limits.maxCollectionDepth, check),
        hasId: Object.hasOwn(object, 'id'),
      }
      memo.remember(object, facts)
      return facts.request
    }
    const request = readRequest(bytes, read, engine, limits, true, memo)
    const resolved = chunk.resolved[index] ?? NO_INPUTS
    const { stored = NO_STORED } = chunk
    const outcome = runRequest(row, request, { resolved, stored, named }, engine, limits)
    request.release()
    if ('type' in outcome) return { id, result: outcome }
    engine.sampler?.offer(row, request.request.inputs, bytes, resolved, outcome)
    return { id, row, request: request.request, outcome }
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

function rejected(id: string, problem: ProblemData): UnfinishedItem {
  return { id, result: { type: 'problem', problem } }
}

const NO_INPUTS: readonly ResolvedInput[] = []
const NO_STORED: readonly StoredShape[] = []

/** A computed item whose result is not encoded yet. */
export interface ComputedItem {
  /** `"id":…,` as JSON text; empty when the item has no id. */
  readonly id: string
  readonly row: OperationRow
  readonly request: ComputeRequest
  readonly outcome: Outcome
}

/** An item that `isPlain` lets through in a batch that is signed. */
interface SignedItem extends ComputedItem {
  readonly outcome: SignedOutcome
}

/** The JSON text before and after the data of a result. */
interface Frame {
  readonly recipient: string
  readonly before: Buffer
  readonly after: Buffer
}

/** A placeholder for the salt, which the main thread draws. */
const NO_SALT: Hex = `0x${'0'.repeat(64)}`
/** A placeholder for the data; the frame is split at the NUL character. */
const DATA = '0x\0' as Hex

/** A growing buffer of items, with the offset at which each item ends. */
class Packer {
  bytes: Buffer<ArrayBuffer>
  readonly offsets: Uint32Array
  at = 0

  constructor(buffer: Buffer<ArrayBuffer>, items: number) {
    this.bytes = buffer
    this.offsets = new Uint32Array(items + 1)
  }

  reserve(bytes: number): void {
    if (this.at + bytes <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(2 * (this.at + bytes))
    this.bytes.copy(larger, 0, 0, this.at)
    this.bytes = larger
  }

  endItem(index: number): void {
    this.offsets[index + 1] = this.at
  }

  /** Returns a copy of the bytes. Every item must have ended. */
  finish(): PackedBytes {
    const { at, bytes, offsets } = this
    return { buffer: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + at), offsets }
  }
}

/** Buffers of this thread, reused from one chunk to the next. */
let textBuffer = Buffer.alloc(0)
let payloadBuffer = Buffer.alloc(0)
const MAX_REUSED_BYTES = 4_194_304

/**
 * Writes the results of a chunk as bytes, each as soon as it is computed. The text ends where the main thread continues
 * it with a signature or a proof. Building strings instead took longer than computing the results.
 */
export class ItemWriter {
  readonly #chunk: ComputeChunk
  readonly #separator: number
  readonly #texts: Packer
  readonly #payloads: Packer
  readonly #idLengths: Uint32Array
  readonly #leaves: Uint8Array
  readonly #hashLeaf: ReturnType<typeof createLeafHasher>
  /** The last frame for each kind of result; most items of a batch share schema and recipient. */
  readonly #frames: { [kind in SignedOutcome['kind']]?: Frame } = {}
  #leafCount = 0

  constructor(chunk: ComputeChunk, keccak: Keccak) {
    const items = chunk.items.offsets.length - 1
    const isSigned = chunk.attest === 'each'
    this.#chunk = chunk
    this.#separator = chunk.firstIndex === undefined ? 0x0a : 0x2c
    this.#texts = new Packer(textBuffer, items)
    this.#payloads = new Packer(payloadBuffer, isSigned ? items : 0)
    this.#idLengths = new Uint32Array(isSigned ? items : 0)
    this.#leaves = new Uint8Array(chunk.attest === 'merkle' ? items * 32 : 0)
    this.#hashLeaf = createLeafHasher(keccak)
  }

  add(item: ComputedItem, index: number): void {
    const { attest } = this.#chunk
    if (attest === 'none') this.#addFinished(item)
    else if (attest === 'merkle') this.#addLeaf(item as SignedItem)
    else this.#addUnsigned(item as SignedItem, index)
    this.skip(index)
  }

  /** Ends an item. Without `add` its text and its payload are empty. */
  skip(index: number): void {
    this.#texts.endItem(index)
    this.#payloads.endItem(index)
  }

  /** @param unfinished the items that were skipped */
  finish(unfinished: ReadonlyMap<number, UnfinishedItem>): ChunkResult {
    textBuffer = reusable(this.#texts.bytes, textBuffer)
    payloadBuffer = reusable(this.#payloads.bytes, payloadBuffer)
    return {
      type: 'chunk',
      texts: this.#texts.finish(),
      leaves: this.#leaves.subarray(0, 32 * this.#leafCount),
      idLengths: this.#idLengths,
      payloads: this.#payloads.finish(),
      unfinished,
    }
  }

  #addFinished({ id, row, outcome }: ComputedItem): void {
    const { timestampSeconds } = this.#chunk
    this.#putText(`{${id}${encodeMembers(row, outcome, timestampSeconds)}}`)
    this.#texts.bytes[this.#texts.at++] = this.#separator
  }

  #addLeaf(item: SignedItem): void {
    const { schema, recipient, data } = this.#putFramed(item)
    this.#texts.bytes[this.#texts.at++] = this.#separator
    this.#hashLeaf({ schema, recipient, data }, this.#leaves, 32 * this.#leafCount++)
  }

  #addUnsigned(item: SignedItem, index: number): void {
    const { schema, recipient, data } = this.#putFramed(item)
    const payloads = this.#payloads
    const { kind } = item.outcome
    const fields = { chainId: item.request.chainId, schema, recipient, data }
    const payload =
      this.#chunk.signsResults === true
        ? { kind: 'result' as const, dataKind: kind, salt: NO_SALT, ...fields }
        : { kind, ...fields }
    this.#idLengths[index] = Buffer.byteLength(item.id)
    payloads.reserve(payloadSize(payload))
    payloads.at = putPayload(payloads.bytes, payloads.at, payload)
  }

  #putFramed({ id, row, request, outcome }: SignedItem) {
    const { timestampSeconds, schemas } = this.#chunk
    const schema = schemas[outcome.kind]
    const recipient = request.recipient as Hex
    const data = encodeData(row, outcome, timestampSeconds)
    const last = this.#frames[outcome.kind]
    const frame = last?.recipient === recipient ? last : this.#splitFrame(schema, recipient)
    this.#frames[outcome.kind] = frame
    this.#putText(`{${id}${encodeMembers(row, outcome, timestampSeconds)},`)
    this.#putDigits(frame, data.digits)
    return { schema, recipient, data: data.bytes }
  }

  /** Writes the text and leaves space for one more byte. */
  #putText(text: string): void {
    this.#texts.reserve(3 * text.length + 1)
    this.#texts.at += this.#texts.bytes.write(text, this.#texts.at)
  }

  #putDigits({ before, after }: Frame, digits: Uint8Array): void {
    const texts = this.#texts
    texts.reserve(before.length + digits.length + after.length + 1)
    texts.bytes.set(before, texts.at)
    texts.at += before.length
    texts.bytes.set(digits, texts.at)
    texts.at += digits.length
    texts.bytes.set(after, texts.at)
    texts.at += after.length
  }

  #splitFrame(schema: Hex, recipient: Hex): Frame {
    const { attest, attester, signsResults = false } = this.#chunk
    const text =
      attest === 'merkle' || signsResults
        ? leafJson(schema, recipient, DATA)
        : attestationJsonHead({ schema, attester: attester!, recipient: checksumAddress(recipient), data: DATA })
    const [before, after] = text.split('\0') as [string, string]
    return { recipient, before: Buffer.from(before), after: Buffer.from(after) }
  }
}

/** Returns the buffer for the next chunk: the one just used, unless it grew too large. */
function reusable(used: Buffer<ArrayBuffer>, previous: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  return used.length <= MAX_REUSED_BYTES ? used : previous
}
