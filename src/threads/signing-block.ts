import { type PackedBytes, unpack } from '../base/bytes.ts'
import type { ProblemData } from '../base/problem.ts'
import type { SigningFailure, UnpackedPayload } from '../wire/signing-messages.ts'
import { SIGNED_BYTES, signedId } from '../wire/signing-records.ts'

/** The payloads of one message: of single requests, of batches, and those that have no byte encoding. */
export interface SigningMessage {
  readonly records: Records
  readonly bulk: Records
  readonly others: readonly (readonly [id: number, payload: UnpackedPayload])[]
}

/** Payloads as bytes, with their IDs. */
export interface Records {
  readonly ids: number[]
  readonly records: Uint8Array[]
}

/** Detail of the problem when the queue to the signer is full. */
export const TOO_MANY_WAITING = 'too many results are waiting for a signature'

/** Creates a problem after which the same request may succeed when it is sent again. */
export function overloaded(detail: string): SigningFailure {
  return { ok: false, problem: { type: 'overloaded', detail, retryAfterSeconds: 1 } }
}

/** The outcome for each payload of a chunk. */
export interface SignedBlock {
  /** `SIGNED_BYTES` for each payload, by index, as `putSigned` writes them; zeros where there is a problem instead. */
  readonly signed: Buffer
  /** The problem of each rejected payload, by its index. */
  readonly rejections: ReadonlyMap<number, ProblemData>
}

/** Creates the outcome for `count` payloads that cannot be signed now. */
export function rejectedBlock(count: number, problem: ProblemData): SignedBlock {
  const rejections = new Map(Array.from({ length: count }, (_, index) => [index, problem]))
  return { signed: Buffer.alloc(count * SIGNED_BYTES), rejections }
}

/** The payloads of a chunk of a batch, which pass through the signer a few at a time. */
export class SigningBlock {
  readonly sinceMs: number
  readonly #firstId: number
  readonly #payloads: PackedBytes
  readonly #resolve: (block: SignedBlock) => void
  readonly #signed: Buffer
  readonly #rejections = new Map<number, ProblemData>()
  readonly #isSettled: Uint8Array
  #sent = 0
  #open: number

  /** @param firstId the payloads have consecutive IDs from this one */
  constructor(firstId: number, payloads: PackedBytes, sinceMs: number, resolve: (block: SignedBlock) => void) {
    this.#firstId = firstId
    this.#payloads = payloads
    this.sinceMs = sinceMs
    this.#resolve = resolve
    this.#open = payloads.offsets.length - 1
    this.#signed = Buffer.alloc(this.#open * SIGNED_BYTES)
    this.#isSettled = new Uint8Array(this.#open)
  }

  /** The number of payloads without a result. */
  get open(): number {
    return this.#open
  }

  get isSent(): boolean {
    return this.#sent === this.#isSettled.length
  }

  has(id: number): boolean {
    return id >= this.#firstId && id < this.#firstId + this.#isSettled.length
  }

  /** Appends the next unsent payloads, at most `max`, to `ids` and `records`. */
  take(max: number, ids: number[], records: Uint8Array[]): void {
    const end = Math.min(this.#sent + max, this.#isSettled.length)
    for (; this.#sent < end; this.#sent++) {
      ids.push(this.#firstId + this.#sent)
      records.push(unpack(this.#payloads, this.#sent))
    }
  }

  /**
   * Stores a signature.
   *
   * @param at offset in `bytes` of the signature of one of the payloads
   */
  settle(bytes: Uint8Array, at: number): void {
    const index = signedId(bytes, at) - this.#firstId
    if (this.#isSettled[index] !== 0) return
    this.#signed.set(bytes.subarray(at, at + SIGNED_BYTES), index * SIGNED_BYTES)
    this.#close(index)
  }

  reject(id: number, problem: ProblemData): void {
    const index = id - this.#firstId
    if (this.#isSettled[index] !== 0) return
    this.#rejections.set(index, problem)
    this.#close(index)
  }

  /** Rejects all payloads without a result, with the same problem. */
  rejectRemaining(problem: ProblemData): void {
    for (let index = 0; index < this.#isSettled.length; index++) this.reject(this.#firstId + index, problem)
  }

  #close(index: number): void {
    this.#isSettled[index] = 1
    this.#open--
    if (this.#open === 0) this.#resolve({ signed: this.#signed, rejections: this.#rejections })
  }
}
