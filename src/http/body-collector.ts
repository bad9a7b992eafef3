import { type BodyPages, MIN_PAGE_BYTES } from './body-pages.ts'
import type { BodyReceiver } from './port.ts'

export interface BodyCollectorParts {
  readonly pages: BodyPages
  /** As the head announced; undefined for a chunked body. */
  readonly announcedBytes: number | undefined
  /** Makes bytes ours that are valid for the moment only; undefined when they are ours already. */
  readonly own: ((chunk: Uint8Array) => Uint8Array) | undefined
  /** Gets the whole body once; it belongs to the receiver. */
  readonly receive: (body: Uint8Array) => void
}

/** Puts the pieces of a body together; holds at most twice its bytes, in however small pieces it comes. */
export class BodyCollector implements BodyReceiver {
  readonly takesCopies = true
  readonly #parts: BodyCollectorParts
  /** Views of what is used of the pages, and pieces kept as they came. */
  #pieces: Uint8Array[] = []
  readonly #pages: Uint8Array[] = []
  #size = 0
  /** Of the last page: bytes [from, to) are not among the pieces yet. */
  #from = 0
  #to = 0

  constructor(parts: BodyCollectorParts) {
    this.#parts = parts
  }

  /** @param chunk valid for this call */
  take(chunk: Uint8Array): void {
    const { own, announcedBytes } = this.#parts
    const { byteLength } = chunk
    // Most bodies come in one piece. A small one of many would cost more than its copy.
    if (byteLength === announcedBytes || (own === undefined && byteLength >= MIN_PAGE_BYTES)) {
      this.#endRow()
      this.#pieces.push(own === undefined ? chunk : own(chunk))
      this.#size += byteLength
    } else this.#copy(chunk)
  }

  end(): void {
    this.#endRow()
    const pieces = this.#pieces
    // A view of a page is copied, also when it is all: the page is the next body's.
    const isOwn = pieces.length === 1 && this.#pages.length === 0
    const body = isOwn ? pieces[0]! : Buffer.concat(pieces, this.#size)
    this.drop()
    this.#parts.receive(body)
  }

  drop(): void {
    this.#pieces = []
    for (const page of this.#pages.splice(0)) if (page.byteLength >= MIN_PAGE_BYTES) this.#parts.pages.give(page)
  }

  #copy(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.byteLength; ) {
      let page = this.#pages.at(-1)
      if (page === undefined || this.#to === page.byteLength) page = this.#addPage(chunk.byteLength - at)
      const bytes = Math.min(page.byteLength - this.#to, chunk.byteLength - at)
      page.set(chunk.subarray(at, at + bytes), this.#to)
      this.#to += bytes
      this.#size += bytes
      at += bytes
    }
  }

  /** As large as what is here already, or as what has to go in. */
  #addPage(bytes: number): Uint8Array {
    this.#endRow()
    const wanted = Math.max(bytes, this.#size)
    const page = wanted < MIN_PAGE_BYTES ? new Uint8Array(wanted) : this.#parts.pages.take(wanted)
    this.#pages.push(page)
    this.#from = 0
    this.#to = 0
    return page
  }

  #endRow(): void {
    if (this.#to > this.#from) this.#pieces.push(this.#pages.at(-1)!.subarray(this.#from, this.#to))
    this.#from = this.#to
  }
}
