/**
 * Work that runs side by side and comes out in order: at most `width` pieces are begun and not written. Whoever reads slowly
 * holds everything back, so memory stays bounded whatever the length of the stream.
 */
export interface OrderedLaneOptions<T> {
  /** Pieces begun and not yet written. */
  readonly width: number
  /** Resolves when there is room for more. */
  readonly write: (result: T) => void | Promise<void>
  /** Called when a piece was written. */
  readonly onRoom: () => void
  /** Called at once with the first rejection of a piece or of a write; nothing is begun or written after it. */
  readonly onError?: (error: unknown) => void
}

/** Rejects to end the whole lane. */
export type Piece<T> = () => Promise<T>

export class OrderedLane<T> {
  readonly #options: OrderedLaneOptions<T>
  readonly #waiting: Piece<T>[] = []
  readonly #begun: Promise<T>[] = []
  #writing: Promise<void> | undefined
  #hasFailed = false

  constructor(options: OrderedLaneOptions<T>) {
    this.#options = options
  }

  /** True when a piece that is added now would have to wait. */
  get isFull(): boolean {
    return this.#hasFailed || this.#waiting.length > 0 || this.#begun.length >= this.#options.width
  }

  add(piece: Piece<T>): void {
    if (this.#hasFailed) return
    this.#waiting.push(piece)
    this.#begin()
    if (this.#writing !== undefined) return
    this.#writing = this.#writeAll()
    // `finish` rejects too, for whoever waits there.
    this.#writing.catch((error) => {
      this.#hasFailed = true
      this.#waiting.length = 0
      this.#options.onError?.(error)
    })
  }

  /** Resolves when everything was written; rejects with the first rejection of a piece or of a write. */
  async finish(): Promise<void> {
    await this.#writing
  }

  #begin(): void {
    while (this.#waiting.length > 0 && this.#begun.length < this.#options.width) {
      const result = this.#waiting.shift()!()
      result.catch(() => {})
      this.#begun.push(result)
    }
  }

  async #writeAll(): Promise<void> {
    const { write, onRoom } = this.#options
    while (this.#begun.length > 0) {
      await write(await this.#begun[0]!)
      this.#begun.shift()
      this.#begin()
      onRoom()
    }
    this.#writing = undefined
  }
}
