/**
 * Holds tiny requests before they are computed on the main thread, while enough others wait for their signature. A held
 * request is little more than its bytes. Had they been computed, the garbage collector would copy the state of 256
 * clients again and again, for a quarter of the main thread's time. A request that is let in occupies a slot, or
 * leaves, in the same tick.
 */
export class WaitingRoom {
  readonly #maxWaiting: number
  readonly #free: () => number
  readonly #waiting: (() => void)[] = []
  #isPlanned = false

  /** @param free returns the number of free slots; code that frees slots must call `release` */
  constructor(maxWaiting: number, free: () => number) {
    this.#maxWaiting = maxWaiting
    this.#free = free
  }

  /** True when no more requests may wait. */
  get isFull(): boolean {
    return this.#waiting.length >= this.#maxWaiting
  }

  /** @returns undefined when the request may proceed at once; otherwise a promise that resolves when it may */
  enter(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#free() > 0) return undefined
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Lets in as many requests as there are free slots, in order of arrival. */
  release(): void {
    const free = this.#free()
    if (this.#waiting.length === 0 || free <= 0) return
    for (const enter of this.#waiting.splice(0, free)) enter()
    if (this.#waiting.length === 0 || this.#isPlanned) return
    // Some of them may have left meanwhile and occupy no slot.
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      this.release()
    })
  }
}
