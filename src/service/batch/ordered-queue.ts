export interface OrderedQueueOptions<T> {
  /** Largest number of tasks that are started and whose results are not yet written. */
  readonly width: number
  /** Writes a result. Resolves when the receiver can take more. */
  readonly write: (result: T) => void | Promise<void>
  /** Called after each result is written. */
  readonly onRoom: () => void
}

/** A task. A rejection ends the whole queue. */
export type QueueTask<T> = () => Promise<T>

/**
 * Runs tasks concurrently and writes their results in order. At most `width` tasks are started and not yet written. With a
 * slow reader no further tasks start, so memory stays bounded for a stream of any length.
 */
export class OrderedQueue<T> {
  readonly #options: OrderedQueueOptions<T>
  readonly #waiting: QueueTask<T>[] = []
  readonly #started: Promise<T>[] = []
  #writing: Promise<void> | undefined
  #hasFailed = false

  constructor(options: OrderedQueueOptions<T>) {
    this.#options = options
  }

  /** True if a task that is added now would have to wait. */
  get isFull(): boolean {
    return this.#hasFailed || this.#waiting.length > 0 || this.#started.length >= this.#options.width
  }

  add(task: QueueTask<T>): void {
    if (this.#hasFailed) return
    this.#waiting.push(task)
    this.#startTasks()
    if (this.#writing !== undefined) return
    this.#writing = this.#writeAll()
    // Nothing is started or written after the first rejection, which reaches the caller of `finish`.
    this.#writing.catch(() => {
      this.#hasFailed = true
      this.#waiting.length = 0
    })
  }

  /** Resolves when everything is written. Rejects with the first rejection of a task or of a write. */
  async finish(): Promise<void> {
    await this.#writing
  }

  #startTasks(): void {
    while (this.#waiting.length > 0 && this.#started.length < this.#options.width) {
      const result = this.#waiting.shift()!()
      result.catch(() => {})
      this.#started.push(result)
    }
  }

  async #writeAll(): Promise<void> {
    const { write, onRoom } = this.#options
    while (this.#started.length > 0) {
      await write(await this.#started[0]!)
      this.#started.shift()
      this.#startTasks()
      onRoom()
    }
    this.#writing = undefined
  }
}
