/** Runs a bounded number of tasks at a time; the others wait in order of arrival. */
export class Gate {
  readonly #width: number
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(width: number) {
    this.#width = width
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#width) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running++
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      // The slot goes directly to the next waiting task, so a task that arrives now cannot overtake it.
      if (next === undefined) this.#running--
      else next()
    }
  }
}
