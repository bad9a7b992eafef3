import type { AnySigningResult, SignerReply } from '../wire/messages.ts'
import { putSigned, SIGNED_BYTES } from '../wire/signing-records.ts'
import type { RecordResult } from './signer.ts'

/** Collects results for the main thread into messages, because a message costs as much as a signature. */
export class SignedOutbox {
  readonly #post: (reply: SignerReply, transfer: ArrayBuffer[]) => void
  #bytes = new Uint8Array(0)
  #count = 0
  #others: (readonly [number, AnySigningResult])[] = []

  constructor(post: (reply: SignerReply, transfer: ArrayBuffer[]) => void) {
    this.#post = post
  }

  get length(): number {
    return this.#count + this.#others.length
  }

  add(id: number, result: RecordResult): void {
    if (!result.ok) {
      this.addOther(id, result)
      return
    }
    if (this.#bytes.length < (this.#count + 1) * SIGNED_BYTES) this.#grow()
    putSigned(this.#bytes, this.#count * SIGNED_BYTES, id, result)
    this.#count++
  }

  addOther(id: number, result: AnySigningResult): void {
    this.#others.push([id, result])
  }

  flush(isBatchEnd: boolean): void {
    const signed = this.#bytes.slice(0, this.#count * SIGNED_BYTES)
    this.#post({ type: 'signed', signed, others: this.#others, isBatchEnd }, [signed.buffer])
    this.#count = 0
    this.#others = []
  }

  #grow(): void {
    const bytes = new Uint8Array(Math.max(16 * SIGNED_BYTES, 2 * this.#bytes.length))
    bytes.set(this.#bytes)
    this.#bytes = bytes
  }
}
