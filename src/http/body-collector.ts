import type { BodyReceiver } from './port.ts'

/** A piece from this size on is kept as it is; for smaller ones the object that stands for it would cost more than the copy. */
const SMALL_BYTES = 4096
const MAX_SLAB_BYTES = 65_536
const NOTHING = new Uint8Array(0)

/** Puts the pieces of a body together; holds at most twice its bytes, in however small pieces it comes. */
export class BodyCollector implements BodyReceiver {
  readonly #receive: (body: Uint8Array) => void
  #pieces: Uint8Array[] = []
  #size = 0
  /** Small pieces in a row: bytes [from, to). */
  #slab = NOTHING
  #from = 0
  #to = 0

  /** @param receive gets the whole body once; a body of one piece is not copied */
  constructor(receive: (body: Uint8Array) => void) {
    this.#receive = receive
  }

  take(chunk: Uint8Array): void {
    const { byteLength } = chunk
    // The first piece mostly is the whole body.
    if (this.#size === 0 || byteLength >= SMALL_BYTES) {
      this.#endRow()
      this.#pieces.push(chunk)
    } else {
      if (this.#to + byteLength > this.#slab.byteLength) {
        this.#endRow()
        // As large as what is here already.
        this.#slab = new Uint8Array(Math.max(byteLength, Math.min(this.#size, MAX_SLAB_BYTES)))
        this.#from = 0
        this.#to = 0
      }
      this.#slab.set(chunk, this.#to)
      this.#to += byteLength
    }
    this.#size += byteLength
  }

  end(): void {
    this.#endRow()
    const pieces = this.#pieces
    this.#pieces = []
    this.#slab = NOTHING
    this.#receive(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, this.#size))
  }

  #endRow(): void {
    if (this.#to > this.#from) this.#pieces.push(this.#slab.subarray(this.#from, this.#to))
    this.#from = this.#to
  }
}
