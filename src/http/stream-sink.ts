import type { EventSink } from '../service/record-services.ts'
import type { BatchSink } from '../service/services.ts'
import type { AnswerStream } from './port.ts'
import type { ContentKind } from './respond.ts'
import type { StreamRequest } from './routes.ts'

/** Begins the answer with the first text, and holds the writer back while the client does not read. */
export class StreamSink implements EventSink, BatchSink {
  readonly #request: StreamRequest
  readonly #kind: ContentKind
  #extra: readonly string[]
  #stream: AnswerStream | undefined
  /** Set while the client has not taken what was written. */
  #goOn: (() => void) | undefined
  readonly #goneListeners: (() => void)[] = []

  /** @param extra header lines of the answer: [name, value, …] */
  constructor(request: StreamRequest, kind: ContentKind, extra: readonly string[] = []) {
    this.#request = request
    this.#kind = kind
    this.#extra = extra
    request.onGone(() => {
      // Nobody waits for a client that is gone.
      this.#goOn?.()
      for (const listener of this.#goneListeners) listener()
    })
  }

  addHeaders(headers: Readonly<Record<string, string>>): void {
    if (this.#stream !== undefined) return
    const names = Object.keys(headers).filter((name) => !this.#extra.includes(name))
    this.#extra = [...this.#extra, ...names.flatMap((name) => [name, headers[name]!])]
  }

  write(piece: string | Uint8Array): void | Promise<void> {
    // A piece of no bytes ends a chunked body.
    if (piece.length === 0) return
    this.#stream ??= this.#request.begin(this.#kind, this.#extra)
    const stream = this.#stream
    if (stream === undefined || stream.write(piece)) return
    return new Promise((resolve) => {
      this.#goOn = () => {
        this.#goOn = undefined
        resolve()
      }
      stream.onWritable(() => this.#goOn?.())
    })
  }

  tryWrite(text: string): void {
    if (this.#goOn === undefined) void this.write(text)
  }

  onGone(listener: () => void): void {
    this.#goneListeners.push(listener)
  }

  end(): void {
    this.#stream ??= this.#request.begin(this.#kind, this.#extra)
    if (this.#stream !== undefined) this.#request.finish(this.#stream)
  }
}
