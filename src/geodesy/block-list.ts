const ALIGNMENT = 16

/** Allocates blocks in one region of memory and frees them. It knows only pointers and never touches the memory itself. */
export class BlockList {
  /** Free blocks in ascending order. Neighbours are merged, so no two touch. */
  readonly #free: { pointer: number; byteLength: number }[]

  constructor(pointer: number, byteLength: number) {
    this.#free = [{ pointer, byteLength }]
  }

  /** @returns pointer to the first free block that is large enough, or undefined when there is none */
  allocate(byteLength: number): number | undefined {
    const size = alignUp(byteLength)
    const index = this.#free.findIndex((block) => block.byteLength >= size)
    const block = this.#free[index]
    if (block === undefined) return undefined
    const { pointer } = block
    block.pointer += size
    block.byteLength -= size
    if (block.byteLength === 0) this.#free.splice(index, 1)
    return pointer
  }

  /** Frees a block that `allocate` returned. */
  free(pointer: number, byteLength: number): void {
    const nextIndex = this.#free.findIndex((block) => block.pointer > pointer)
    const index = nextIndex === -1 ? this.#free.length : nextIndex
    const before = this.#free[index - 1]
    const after = this.#free[index]
    let block = { pointer, byteLength: alignUp(byteLength) }
    if (before !== undefined && before.pointer + before.byteLength === pointer) {
      before.byteLength += block.byteLength
      block = before
    } else {
      this.#free.splice(index, 0, block)
    }
    if (after === undefined || block.pointer + block.byteLength !== after.pointer) return
    block.byteLength += after.byteLength
    this.#free.splice(this.#free.indexOf(after), 1)
  }
}

const alignUp = (byteLength: number) => Math.ceil(byteLength / ALIGNMENT) * ALIGNMENT
