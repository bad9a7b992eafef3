import { checksumAddress } from '../src/attest/address.ts'
import { attestationHead } from '../src/attest/attestation-text.ts'
import { leafMembers } from '../src/attest/leaf-text.ts'
import { createLeafHasher } from '../src/attest/merkle-proof.ts'
import type { ComputeChunk, TextsResult, UnsignedResult } from '../src/batch-messages.ts'
import type { OperationRow } from '../src/compute/operations.ts'
import type { Outcome } from '../src/compute/run.ts'
import type { Keccak } from '../src/crypto/keccak.ts'
import type { Hex } from '../src/messages.ts'
import type { PackedBytes } from '../src/packed-bytes.ts'
import { payloadSize, putPayload } from '../src/signing-records.ts'
import type { ComputeRequest } from '../src/validation/compute-request.ts'
import { dataOf, membersOf } from './compute-task.ts'

/** An item that was computed, and can be signed or put under a root without a look by main. */
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

  finish(): PackedBytes {
    const { at, bytes, offsets } = this
    return { buffer: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + at), offsets }
  }
}

/** Room of a thread that serves one chunk after the other. */
let textRoom = Buffer.alloc(0)
let payloadRoom = Buffer.alloc(0)
const MOST_KEPT_BYTES = 4_194_304

/** Writes the results of a chunk as bytes, up to what main adds: as strings, a result took longer to be said than to be found. */
export class ItemWriter {
  readonly #chunk: ComputeChunk
  readonly #separator: number
  readonly #texts: Packer
  readonly #payloads: Packer
  readonly #idLengths: Uint32Array
  readonly #leaves: Uint8Array
  readonly #leafOf: ReturnType<typeof createLeafHasher>
  /** What stands around the data, by kind of result: the items of a batch mostly share schema and recipient. */
  readonly #frames: { [kind in Outcome['kind']]?: Frame } = {}
  #count = 0

  constructor(chunk: ComputeChunk, keccak: Keccak) {
    const items = chunk.items.offsets.length - 1
    this.#chunk = chunk
    this.#separator = chunk.firstIndex === undefined ? 0x0a : 0x2c
    this.#texts = new Packer(textRoom, items)
    this.#payloads = new Packer(payloadRoom, items)
    this.#idLengths = new Uint32Array(items)
    this.#leaves = new Uint8Array(chunk.attest === 'merkle' ? items * 32 : 0)
    this.#leafOf = createLeafHasher(keccak)
  }

  add({ id, row, request, outcome }: PlainItem): void {
    const { attest, timestampSeconds, schemas } = this.#chunk
    const index = this.#count++
    const schema = schemas[outcome.kind]
    const recipient = request.recipient as Hex
    const data = dataOf(row, outcome, timestampSeconds)
    const known = this.#frames[outcome.kind]
    const frame = known?.recipient === recipient ? known : this.#cutFrame(schema, recipient)
    this.#frames[outcome.kind] = frame
    this.#putText(`{${id}${membersOf(row, outcome, timestampSeconds)},`, frame, data)
    if (attest === 'merkle') {
      this.#texts.bytes[this.#texts.at++] = this.#separator
      this.#leaves.set(this.#leafOf({ schema, recipient, data }), 32 * index)
    } else {
      this.#idLengths[index] = Buffer.byteLength(id)
      const payload = { kind: outcome.kind, chainId: request.chainId, schema, recipient, data }
      this.#payloads.reserve(payloadSize(payload))
      this.#payloads.at = putPayload(this.#payloads.bytes, this.#payloads.at, payload)
      this.#payloads.endItem(index)
    }
    this.#texts.endItem(index)
  }

  finish(): UnsignedResult | TextsResult {
    textRoom = kept(this.#texts.bytes, textRoom)
    payloadRoom = kept(this.#payloads.bytes, payloadRoom)
    const texts = this.#texts.finish()
    return this.#chunk.attest === 'merkle'
      ? { texts, leaves: this.#leaves }
      : { unsigned: texts, idLengths: this.#idLengths, payloads: this.#payloads.finish() }
  }

  #putText(head: string, { before, after }: Frame, data: Uint8Array): void {
    const texts = this.#texts
    texts.reserve(3 * head.length + before.length + 2 * data.length + after.length + 1)
    texts.at += texts.bytes.write(head, texts.at)
    texts.bytes.set(before, texts.at)
    texts.at += before.length
    const digits = Buffer.from(data.buffer, data.byteOffset, data.length).toString('hex')
    texts.at += texts.bytes.write(digits, texts.at, 'latin1')
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
}

function kept(used: Buffer<ArrayBuffer>, room: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  return used.length <= MOST_KEPT_BYTES ? used : room
}
