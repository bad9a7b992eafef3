/**
 * Where tiny requests wait before they are computed on main, while enough others wait for their signature. Until then a request is
 * its bytes and little else: what 256 clients wait for behind a thread that is busy would be copied from collection to
 * collection, a quarter of main's time. Whoever is let in takes its place, or leaves, in the same turn.
 */
export class WaitingRoom {
  readonly #maxWaiting: number
  readonly #free: () => number
  readonly #waiting: (() => void)[] = []
  #isPlanned = false

  /** @param free for how many there is a place now; whoever makes more places calls `release` */
  constructor(maxWaiting: number, free: () => number) {
    this.#maxWaiting = maxWaiting
    this.#free = free
  }

  /** True when nobody more may wait. */
  get isFull(): boolean {
    return this.#waiting.length >= this.#maxWaiting
  }

  /** @returns undefined: come in; else resolves when it is one's turn */
  enter(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#free() > 0) return undefined
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Lets in as many as there are places, in the order they came. */
  release(): void {
    const free = this.#free()
    if (this.#waiting.length === 0 || free <= 0) return
    for (const enter of this.#waiting.splice(0, free)) enter()
    if (this.#waiting.length === 0 || this.#isPlanned) return
    // Some of them may have left meanwhile and take no place.
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      this.release()
    })
  }
}
