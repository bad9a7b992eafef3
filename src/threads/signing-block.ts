import type { SigningRefusal, UnpackedPayload } from '../messages.ts'
import { type PackedBytes, unpack } from '../packed-bytes.ts'
import type { ProblemData } from '../problem.ts'
import { SIGNED_BYTES, signedId } from '../signing-records.ts'

/** Payloads for one message: those of single answers, those of batches, those without a record. */
export interface SigningMessage {
  readonly records: Records
  readonly bulk: Records
  readonly others: readonly (readonly [id: number, payload: UnpackedPayload])[]
}

/** Payloads as bytes, and their IDs. */
export interface Records {
  readonly ids: number[]
  readonly records: Uint8Array[]
}

export const TOO_MANY = 'too many answers wait for a signature'

/** A refusal after which the same request may succeed. */
export function overloaded(detail: string): SigningRefusal {
  return { ok: false, problem: { type: 'overloaded', detail, retryAfterSeconds: 1 } }
}

/** What became of the payloads of a chunk. */
export interface SignedBlock {
  /** `SIGNED_BYTES` for each payload, by index, as `putSigned` writes them; zeros where it was refused. */
  readonly signed: Buffer
  /** By index. */
  readonly refusals: ReadonlyMap<number, ProblemData>
}

/** @param count of payloads that nobody can sign now */
export function refusedBlock(count: number, problem: ProblemData): SignedBlock {
  const refusals = new Map(Array.from({ length: count }, (_, index) => [index, problem]))
  return { signed: Buffer.alloc(count * SIGNED_BYTES), refusals }
}

/** Payloads of a chunk of a batch on their way through the signer, a few at a time. */
export class SigningBlock {
  readonly sinceMs: number
  readonly #firstId: number
  readonly #payloads: PackedBytes
  readonly #resolve: (block: SignedBlock) => void
  readonly #signed: Buffer
  readonly #refusals = new Map<number, ProblemData>()
  readonly #isSettled: Uint8Array
  #sent = 0
  #open: number

  /** @param firstId of as many IDs as there are payloads */
  constructor(firstId: number, payloads: PackedBytes, sinceMs: number, resolve: (block: SignedBlock) => void) {
    this.#firstId = firstId
    this.#payloads = payloads
    this.sinceMs = sinceMs
    this.#resolve = resolve
    this.#open = payloads.offsets.length - 1
    this.#signed = Buffer.alloc(this.#open * SIGNED_BYTES)
    this.#isSettled = new Uint8Array(this.#open)
  }

  /** How many have no result yet. */
  get open(): number {
    return this.#open
  }

  get isSent(): boolean {
    return this.#sent === this.#isSettled.length
  }

  has(id: number): boolean {
    return id >= this.#firstId && id < this.#firstId + this.#isSettled.length
  }

  /** The next payloads that were not sent. */
  take(most: number, ids: number[], records: Uint8Array[]): void {
    const end = Math.min(this.#sent + most, this.#isSettled.length)
    for (; this.#sent < end; this.#sent++) {
      ids.push(this.#firstId + this.#sent)
      records.push(unpack(this.#payloads, this.#sent))
    }
  }

  /** @param bytes with the signature of one of them at `at` */
  settle(bytes: Uint8Array, at: number): void {
    const index = signedId(bytes, at) - this.#firstId
    if (this.#isSettled[index] !== 0) return
    this.#signed.set(bytes.subarray(at, at + SIGNED_BYTES), index * SIGNED_BYTES)
    this.#close(index)
  }

  refuse(id: number, problem: ProblemData): void {
    const index = id - this.#firstId
    if (this.#isSettled[index] !== 0) return
    this.#refusals.set(index, problem)
    this.#close(index)
  }

  /** The same for all that have no result. */
  refuseRest(problem: ProblemData): void {
    for (let index = 0; index < this.#isSettled.length; index++) this.refuse(this.#firstId + index, problem)
  }

  #close(index: number): void {
    this.#isSettled[index] = 1
    this.#open--
    if (this.#open === 0) this.#resolve({ signed: this.#signed, refusals: this.#refusals })
  }
}
