/** From this size on memory for a body comes from pages that are used again. */
export const MIN_PAGE_BYTES = 4096
const MAX_PAGE_BYTES = 65_536
/** Pages that wait for the next body; more than these are left to the collector. */
const MAX_FREE_BYTES = 4 * 1_048_576

/**
 * Memory that bodies of many pieces are held in, page by page. What a refused body held is the next one's at once: left to
 * the collector, a flood's refused bodies stood beside those that were held.
 */
export class BodyPages {
  /** By the logarithm of their size. */
  readonly #free: Uint8Array[][] = []
  #freeBytes = 0

  /** @returns a page of 4 to 64 KiB, the largest that `bytes` fill; what it holds is anybody's */
  take(bytes: number): Uint8Array {
    const size = pageBytes(bytes)
    const page = this.#free[Math.log2(size)]?.pop()
    if (page === undefined) return new Uint8Array(size)
    this.#freeBytes -= size
    return page
  }

  /** @param page of `take`, that nobody looks into any more */
  give(page: Uint8Array): void {
    const size = page.byteLength
    if (this.#freeBytes + size > MAX_FREE_BYTES) return
    this.#freeBytes += size
    const shelf = Math.log2(size)
    const pages = this.#free[shelf]
    if (pages === undefined) this.#free[shelf] = [page]
    else pages.push(page)
  }
}

function pageBytes(bytes: number): number {
  if (bytes >= MAX_PAGE_BYTES) return MAX_PAGE_BYTES
  return bytes <= MIN_PAGE_BYTES ? MIN_PAGE_BYTES : 1 << (31 - Math.clz32(bytes))
}
