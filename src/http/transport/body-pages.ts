/** From this size on, memory for a body comes from reusable pages. */
export const MIN_PAGE_BYTES = 4096
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
