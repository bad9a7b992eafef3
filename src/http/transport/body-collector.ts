import type { BodyReceiver } from './port.ts'

/** From this size on, memory for a body comes from reusable pages. */
const MIN_PAGE_BYTES = 4096
const MAX_PAGE_BYTES = 65_536
/** Total size of the free pages; pages beyond it are left to the garbage collector. */
const MAX_FREE_BYTES = 4 * 1_048_576

/**
 * A pool of pages for bodies that arrive in many pieces. The pages of a rejected body are reusable at once. When they were left
 * to the garbage collector, the rejected bodies of a flood took up memory in addition to the accepted ones.
 */
export class BodyPages {
  /** Indexed by the binary logarithm of the page size. */
  readonly #free: Uint8Array[][] = []
  #freeBytes = 0

  /** @returns a page of 4 to 64 KiB, the largest that `bytes` fill; its content is undefined */
  take(bytes: number): Uint8Array {
    const size = pageBytes(bytes)
    const page = this.#free[Math.log2(size)]?.pop()
    if (page === undefined) return new Uint8Array(size)
    this.#freeBytes -= size
    return page
  }

  /** @param page from `take`; the caller must not use it any more */
  release(page: Uint8Array): void {
    const size = page.byteLength
    if (this.#freeBytes + size > MAX_FREE_BYTES) return
    this.#freeBytes += size
    const sizeClass = Math.log2(size)
    const pages = this.#free[sizeClass]
    if (pages === undefined) this.#free[sizeClass] = [page]
    else pages.push(page)
  }
}

function pageBytes(bytes: number): number {
  if (bytes >= MAX_PAGE_BYTES) return MAX_PAGE_BYTES
  return bytes <= MIN_PAGE_BYTES ? MIN_PAGE_BYTES : 1 << (31 - Math.clz32(bytes))
}

export interface BodyCollectorParts {
  readonly pages: BodyPages
  /** Size according to the head; undefined for a chunked body. */
  readonly announcedBytes: number | undefined
  /** Copies bytes that are valid only during a call; undefined if the transport hands them over. */
  readonly copyChunk: ((chunk: Uint8Array) => Uint8Array) | undefined
  /** Called once with the whole body, which then belongs to the receiver. */
  readonly receive: (body: Uint8Array) => void
}

/** Joins the pieces of a body. It never holds more than twice the size of the body, however small the pieces are. */
export class BodyCollector implements BodyReceiver {
  readonly takesCopies = true
  readonly #parts: BodyCollectorParts
  /** Views of the used parts of pages, and chunks that are held without a copy. */
  #pieces: Uint8Array[] = []
  readonly #pages: Uint8Array[] = []
  #size = 0
  /** Bytes [from, to) of the last page are not among the pieces yet. */
  #from = 0
  #to = 0

  constructor(parts: BodyCollectorParts) {
    this.#parts = parts
  }

  /** @param chunk valid only during this call */
  take(chunk: Uint8Array): void {
    const { copyChunk, announcedBytes } = this.#parts
    const { byteLength } = chunk
    // Most bodies arrive in one piece. Holding one of many small pieces would cost more than copying it.
    if (byteLength === announcedBytes || (copyChunk === undefined && byteLength >= MIN_PAGE_BYTES)) {
      this.#closePiece()
      this.#pieces.push(copyChunk === undefined ? chunk : copyChunk(chunk))
      this.#size += byteLength
    } else this.#copy(chunk)
  }

  end(): void {
    this.#closePiece()
    const pieces = this.#pieces
    // A view of a page is copied, even if it is the whole body, because the page is reused for the next body.
    const isOwn = pieces.length === 1 && this.#pages.length === 0
    const body = isOwn ? pieces[0]! : Buffer.concat(pieces, this.#size)
    this.drop()
    this.#parts.receive(body)
  }

  drop(): void {
    this.#pieces = []
    for (const page of this.#pages.splice(0)) if (page.byteLength >= MIN_PAGE_BYTES) this.#parts.pages.release(page)
  }

  #copy(chunk: Uint8Array): void {
    for (let offset = 0; offset < chunk.byteLength; ) {
      let page = this.#pages.at(-1)
      if (page === undefined || this.#to === page.byteLength) page = this.#addPage(chunk.byteLength - offset)
      const bytes = Math.min(page.byteLength - this.#to, chunk.byteLength - offset)
      page.set(chunk.subarray(offset, offset + bytes), this.#to)
      this.#to += bytes
      this.#size += bytes
      offset += bytes
    }
  }

  /** Adds a page as large as the body so far, or as the bytes that must fit in. */
  #addPage(bytes: number): Uint8Array {
    this.#closePiece()
    const size = Math.max(bytes, this.#size)
    const page = size < MIN_PAGE_BYTES ? new Uint8Array(size) : this.#parts.pages.take(size)
    this.#pages.push(page)
    this.#from = 0
    this.#to = 0
    return page
  }

  #closePiece(): void {
    if (this.#to > this.#from) this.#pieces.push(this.#pages.at(-1)!.subarray(this.#from, this.#to))
    this.#from = this.#to
  }
}
