import type { BodyReceiver } from './port.ts'

/** Puts the pieces of a body together. */
export class BodyCollector implements BodyReceiver {
  readonly #receive: (body: Uint8Array) => void
  #chunks: Uint8Array[] = []

  /** @param receive gets the whole body once; a body of one piece is not copied */
  constructor(receive: (body: Uint8Array) => void) {
    this.#receive = receive
  }

  take(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
  }

  end(): void {
    const chunks = this.#chunks
    this.#chunks = []
    this.#receive(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
  }
}
