import { createLeafHasher } from '../attest/merkle-proof.ts'
import type { PackedBytes } from '../base/bytes.ts'
import { checksumAddress } from '../crypto/address.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { ComputeRequest } from '../validation/compute-request.ts'
import type { ChunkResult, ComputeChunk, OpenItem } from '../wire/batch-messages.ts'
import { payloadSize, putPayload } from '../wire/signing-records.ts'
import type { Hex } from '../wire/values.ts'
import type { OperationRow } from './operations.ts'
import { attestationJsonHead, leafJson } from './response-text.ts'
import type { Outcome } from './run.ts'
import { encodeData, encodeMembers } from './task.ts'

/** A computed item whose result is not encoded yet. */
export interface ComputedItem {
  /** `"id":…,` as JSON text; empty when the item has no id. */
  readonly id: string
  readonly row: OperationRow
  readonly request: ComputeRequest
  readonly outcome: Outcome
}

/** The JSON text before and after the data of a result. */
interface Frame {
  readonly recipient: string
  readonly before: Buffer
  readonly after: Buffer
}

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
  readonly #frames: { [kind in Outcome['kind']]?: Frame } = {}
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
    else if (attest === 'merkle') this.#addLeaf(item)
    else this.#addUnsigned(item, index)
    this.skip(index)
  }

  /** Ends an item. Without `add` its text and its payload are empty. */
  skip(index: number): void {
    this.#texts.endItem(index)
    this.#payloads.endItem(index)
  }

  /** @param open the items that were skipped */
  finish(open: ReadonlyMap<number, OpenItem>): ChunkResult {
    textBuffer = reusable(this.#texts.bytes, textBuffer)
    payloadBuffer = reusable(this.#payloads.bytes, payloadBuffer)
    return {
      type: 'chunk',
      texts: this.#texts.finish(),
      leaves: this.#leaves.subarray(0, 32 * this.#leafCount),
      idLengths: this.#idLengths,
      payloads: this.#payloads.finish(),
      open,
    }
  }

  #addFinished({ id, row, outcome }: ComputedItem): void {
    const { timestampSeconds } = this.#chunk
    this.#putText(`{${id}${encodeMembers(row, outcome, timestampSeconds)}}`)
    this.#texts.bytes[this.#texts.at++] = this.#separator
  }

  #addLeaf(item: ComputedItem): void {
    const { schema, recipient, data } = this.#putFramed(item)
    this.#texts.bytes[this.#texts.at++] = this.#separator
    this.#hashLeaf({ schema, recipient, data }, this.#leaves, 32 * this.#leafCount++)
  }

  #addUnsigned(item: ComputedItem, index: number): void {
    const { schema, recipient, data } = this.#putFramed(item)
    const payloads = this.#payloads
    const payload = { kind: item.outcome.kind, chainId: item.request.chainId, schema, recipient, data }
    this.#idLengths[index] = Buffer.byteLength(item.id)
    payloads.reserve(payloadSize(payload))
    payloads.at = putPayload(payloads.bytes, payloads.at, payload)
  }

  #putFramed({ id, row, request, outcome }: ComputedItem) {
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
    const { attest, attester } = this.#chunk
    const text =
      attest === 'merkle'
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
