import type { EventSink } from '../../service/records/record-services.ts'
import type { BatchSink } from '../../service/request.ts'
import type { ContentKind } from '../routes/respond.ts'
import type { StreamRequest } from '../routes/route.ts'
import type { ResponseStream } from './port.ts'

/** Begins the response with the first piece, and makes the writer wait while the client does not read. */
export class StreamSink implements EventSink, BatchSink {
  readonly #request: StreamRequest
  readonly #kind: ContentKind
  #extra: readonly string[]
  #stream: ResponseStream | undefined
  /** Resumes the writer; set while the client has not read what was written. */
  #resume: (() => void) | undefined
  readonly #goneListeners: (() => void)[] = []

  /** @param extra additional header lines: [name, value, …] */
  constructor(request: StreamRequest, kind: ContentKind, extra: readonly string[] = []) {
    this.#request = request
    this.#kind = kind
    this.#extra = extra
    request.onDisconnect(() => {
      // A writer must not wait for a client that has disconnected.
      this.#resume?.()
      for (const listener of this.#goneListeners) listener()
    })
  }

  addHeaders(headers: Readonly<Record<string, string>>): void {
    if (this.#stream !== undefined) return
    const names = Object.keys(headers).filter((name) => !this.#extra.includes(name))
    this.#extra = [...this.#extra, ...names.flatMap((name) => [name, headers[name]!])]
  }

  write(piece: string | Uint8Array): void | Promise<void> {
    // An empty chunk would end a chunked body.
    if (piece.length === 0) return
    this.#stream ??= this.#request.begin(this.#kind, this.#extra)
    const stream = this.#stream
    if (stream === undefined || stream.write(piece)) return
    return new Promise((resolve) => {
      this.#resume = () => {
        this.#resume = undefined
        resolve()
      }
      stream.onWritable(() => this.#resume?.())
    })
  }

  tryWrite(text: string): void {
    if (this.#resume === undefined) void this.write(text)
  }

  onGone(listener: () => void): void {
    this.#goneListeners.push(listener)
  }

  end(): void {
    this.#stream ??= this.#request.begin(this.#kind, this.#extra)
    if (this.#stream !== undefined) this.#request.finish(this.#stream)
  }
}
