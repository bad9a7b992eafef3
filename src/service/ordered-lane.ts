/**
 * Work that runs side by side and comes out in order: at most `width` pieces are begun and not written. Whoever reads slowly
 * holds everything back, so memory stays bounded whatever the length of the stream.
 */
export interface OrderedLaneOptions {
  /** Pieces begun and not yet written. */
  readonly width: number
  /** Resolves when there is room for more. */
  readonly write: (text: string) => void | Promise<void>
  /** Called when a piece was written. */
  readonly onRoom: () => void
}

/** @returns its text; rejects to end the whole lane */
export type Piece = () => Promise<string>

export class OrderedLane {
  readonly #options: OrderedLaneOptions
  readonly #waiting: Piece[] = []
  readonly #begun: Promise<string>[] = []
  #writing: Promise<void> | undefined

  constructor(options: OrderedLaneOptions) {
    this.#options = options
  }

  /** True when a piece that is added now would have to wait. */
  get isFull(): boolean {
    return this.#waiting.length > 0 || this.#begun.length >= this.#options.width
  }

  add(piece: Piece): void {
    this.#waiting.push(piece)
    this.#begin()
    if (this.#writing !== undefined) return
    this.#writing = this.#writeAll()
    // Looked at in `finish`: until then the rejection is nobody's.
    this.#writing.catch(() => {})
  }

  /** Resolves when everything was written; rejects with the first rejection of a piece or of a write. */
  async finish(): Promise<void> {
    await this.#writing
  }

  #begin(): void {
    while (this.#waiting.length > 0 && this.#begun.length < this.#options.width) {
      const text = this.#waiting.shift()!()
      text.catch(() => {})
      this.#begun.push(text)
    }
  }

  async #writeAll(): Promise<void> {
    const { write, onRoom } = this.#options
    while (this.#begun.length > 0) {
      const text = await this.#begun[0]!
      if (text !== '') await write(text)
      this.#begun.shift()
      this.#begin()
      onRoom()
    }
    this.#writing = undefined
  }
}
