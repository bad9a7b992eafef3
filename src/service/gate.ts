/** Lets a bounded number of tasks through at one time; the others wait in the order they came. */
export class Gate {
  readonly #width: number
  #inside = 0
  readonly #waiting: (() => void)[] = []

  constructor(width: number) {
    this.#width = width
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#inside >= this.#width) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#inside++
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      // The place passes from hand to hand: nobody who comes now can take it.
      if (next === undefined) this.#inside--
      else next()
    }
  }
}
