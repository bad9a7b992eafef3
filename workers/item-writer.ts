import { checksumAddress } from '../src/attest/address.ts'
import { attestationHead } from '../src/attest/attestation-text.ts'
import { leafMembers } from '../src/attest/leaf-text.ts'
import { createLeafHasher } from '../src/attest/merkle-proof.ts'
import type { ChunkItem, ComputeChunk, OpenItem, TextsResult, UnsignedResult } from '../src/batch-messages.ts'
import type { OperationRow } from '../src/compute/operations.ts'
import type { Outcome } from '../src/compute/run.ts'
import { bytesToHex } from '../src/crypto/hex.ts'
import type { Keccak } from '../src/crypto/keccak.ts'
import type { AttestationKind, Hex } from '../src/messages.ts'
import type { PackedBytes } from '../src/packed-bytes.ts'
import { payloadSize, putPayload, readPayload } from '../src/signing-records.ts'
import type { ComputeRequest } from '../src/validation/compute-request.ts'
import { dataOf, membersOf } from './compute-task.ts'

/** An item that was computed. */
export interface PlainItem {
  /** `"id":…,` as JSON text, or empty. */
  readonly id: string
  readonly row: OperationRow
  readonly request: ComputeRequest
  readonly outcome: Outcome
}

interface Frame {
  readonly recipient: string
  readonly before: Buffer
  readonly after: Buffer
}

/** Stands for the data in a text that is cut there. */
const DATA = '0x\0' as Hex

/** Bytes one after the other, with the place where each item ends. */
class Packer {
  bytes: Buffer<ArrayBuffer>
  readonly offsets: Uint32Array
  at = 0

  constructor(room: Buffer<ArrayBuffer>, items: number) {
    this.bytes = room
    this.offsets = new Uint32Array(items + 1)
  }

  reserve(bytes: number): void {
    if (this.at + bytes <= this.bytes.length) return
    const more = Buffer.allocUnsafeSlow(2 * (this.at + bytes))
    this.bytes.copy(more, 0, 0, this.at)
    this.bytes = more
  }

  endItem(index: number): void {
    this.offsets[index + 1] = this.at
  }

  /** A view that the next item may end. */
  itemAt(index: number): Buffer {
    return this.bytes.subarray(this.offsets[index]!, this.offsets[index + 1]!)
  }

  /** Once every item has ended. */
  finish(): PackedBytes {
    const { at, bytes, offsets } = this
    return { buffer: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + at), offsets }
  }
}

/** Room of a thread that serves one chunk after the other. */
let textRoom = Buffer.alloc(0)
let payloadRoom = Buffer.alloc(0)
const MOST_KEPT_BYTES = 4_194_304

/**
 * Writes the results of a chunk that main need not look at as bytes, each as soon as it is there, up to what main adds: as
 * strings, a result took longer to be said than to be found.
 */
export class ItemWriter {
  readonly #chunk: ComputeChunk
  readonly #separator: number
  readonly #texts: Packer
  readonly #payloads: Packer
  readonly #idLengths: Uint32Array
  /** Bytes of each text before its frame. */
  readonly #headLengths: Uint32Array
  readonly #leaves: Uint8Array
  readonly #leafOf: ReturnType<typeof createLeafHasher>
  /** What stands around the data, by kind of result: the items of a batch mostly share schema and recipient. */
  readonly #frames: { [kind in Outcome['kind']]?: Frame } = {}
  #count = 0

  constructor(chunk: ComputeChunk, keccak: Keccak) {
    const items = chunk.items.offsets.length - 1
    const isSigned = chunk.attest === 'each'
    this.#chunk = chunk
    this.#separator = chunk.firstIndex === undefined ? 0x0a : 0x2c
    this.#texts = new Packer(textRoom, items)
    this.#payloads = new Packer(payloadRoom, isSigned ? items : 0)
    this.#idLengths = new Uint32Array(isSigned ? items : 0)
    this.#headLengths = new Uint32Array(isSigned ? items : 0)
    this.#leaves = new Uint8Array(chunk.attest === 'merkle' ? items * 32 : 0)
    this.#leafOf = createLeafHasher(keccak)
  }

  add(item: PlainItem): void {
    const { attest } = this.#chunk
    const index = this.#count++
    if (attest === 'none') this.#addAnswer(item)
    else if (attest === 'merkle') this.#addLeaf(item, index)
    else this.#addUnsigned(item, index)
    this.#texts.endItem(index)
  }

  /** All of them, when there were no others in the chunk. */
  finish(): UnsignedResult | TextsResult {
    this.#keepRooms()
    const texts = this.#texts.finish()
    if (this.#chunk.attester === undefined) return { texts, leaves: this.leaves }
    return { unsigned: texts, idLengths: this.#idLengths, payloads: this.#payloads.finish() }
  }

  /** The same one by one, in order. */
  items(): ChunkItem[] {
    this.#keepRooms()
    const isSigned = this.#chunk.attest === 'each'
    return Array.from({ length: this.#count }, (_, index) => {
      const text = this.#texts.itemAt(index)
      return isSigned ? this.#openItem(text, index) : text.toString('utf8', 0, text.length - 1)
    })
  }

  /** 32 bytes of each, when they go under a root. */
  get leaves(): Uint8Array {
    return this.#leaves.subarray(0, this.#chunk.attest === 'merkle' ? 32 * this.#count : 0)
  }

  #addAnswer({ id, row, outcome }: PlainItem): void {
    const { timestampSeconds } = this.#chunk
    this.#putText(`{${id}${membersOf(row, outcome, timestampSeconds)}}`)
    this.#texts.bytes[this.#texts.at++] = this.#separator
  }

  #addLeaf(item: PlainItem, index: number): void {
    const { schema, recipient, data } = this.#putFramed(item)
    this.#texts.bytes[this.#texts.at++] = this.#separator
    this.#leafOf({ schema, recipient, data }, this.#leaves, 32 * index)
  }

  #addUnsigned(item: PlainItem, index: number): void {
    const { schema, recipient, data, headLength } = this.#putFramed(item)
    const payloads = this.#payloads
    const payload = { kind: item.outcome.kind, chainId: item.request.chainId, schema, recipient, data }
    this.#idLengths[index] = Buffer.byteLength(item.id)
    this.#headLengths[index] = headLength
    payloads.reserve(payloadSize(payload))
    payloads.at = putPayload(payloads.bytes, payloads.at, payload)
    payloads.endItem(index)
  }

  #putFramed({ id, row, request, outcome }: PlainItem) {
    const { timestampSeconds, schemas } = this.#chunk
    const schema = schemas[outcome.kind]
    const recipient = request.recipient as Hex
    const data = dataOf(row, outcome, timestampSeconds)
    const known = this.#frames[outcome.kind]
    const frame = known?.recipient === recipient ? known : this.#cutFrame(schema, recipient)
    this.#frames[outcome.kind] = frame
    const headLength = this.#putText(`{${id}${membersOf(row, outcome, timestampSeconds)},`)
    this.#putDigits(frame, data.digits)
    return { schema, recipient, data: data.bytes, headLength }
  }

  /** With room for one more byte. */
  #putText(text: string): number {
    this.#texts.reserve(3 * text.length + 1)
    const length = this.#texts.bytes.write(text, this.#texts.at)
    this.#texts.at += length
    return length
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

  #cutFrame(schema: Hex, recipient: Hex): Frame {
    const { attest, attester } = this.#chunk
    const text =
      attest === 'merkle'
        ? leafMembers(schema, recipient, DATA)
        : attestationHead({ schema, attester: attester!, recipient: checksumAddress(recipient), data: DATA })
    const [before, after] = text.split('\0') as [string, string]
    return { recipient, before: Buffer.from(before), after: Buffer.from(after) }
  }

  /** As main takes it, read back. */
  #openItem(text: Buffer, index: number): OpenItem {
    const idEnd = 1 + this.#idLengths[index]!
    const { kind, chainId, recipient, data } = readPayload(this.#payloads.itemAt(index))!
    return {
      id: text.toString('utf8', 1, idEnd),
      result: {
        ok: true,
        kind: kind as Exclude<AttestationKind, 'verify' | 'merkle-root'>,
        members: text.toString('utf8', idEnd, this.#headLengths[index]! - 1),
        data: `0x${bytesToHex(data)}`,
        chainId,
        schema: undefined,
        recipient: `0x${bytesToHex(recipient)}`,
      },
    }
  }

  #keepRooms(): void {
    textRoom = kept(this.#texts.bytes, textRoom)
    payloadRoom = kept(this.#payloads.bytes, payloadRoom)
  }
}

function kept(used: Buffer<ArrayBuffer>, room: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  return used.length <= MOST_KEPT_BYTES ? used : room
}
