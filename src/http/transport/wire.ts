import type { DiscardLimits } from './discard.ts'
import type { ResponseData } from './port.ts'
import type { RequestHead } from './request-head.ts'

/** What a transport has read when a request begins. */
export interface WireRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly head: RequestHead
}

/** The operations of a transport on one request. */
export abstract class Wire implements WireRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly head: RequestHead
  /** Milliseconds that this response may take in addition to the common limit. */
  extraMs = 0
  #isPaused = false

  constructor({ method, path, query, head }: WireRequest) {
    this.method = method
    this.path = path
    this.query = query
    this.head = head
  }

  /** True while the body is paused. A transport that resumes reading by itself must pause again. */
  protected get isPaused(): boolean {
    return this.#isPaused
  }

  protected holdBody(): void {
    this.#isPaused = true
    this.pauseBody()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.resumeBody()
  }

  /** Sends the whole response. */
  protected abstract send(reply: ResponseData, close: boolean): void
  /** Sends the response before the end of the body, discards the remaining body, then closes the connection. */
  protected abstract sendAndDiscard(reply: ResponseData, limits: DiscardLimits): void
  /** Starts to pass the body to `take`. */
  protected abstract startBody(): void
  /** Copies bytes that are valid only during a call; undefined if the transport hands them over. */
  protected abstract readonly copyChunk: ((chunk: Uint8Array) => Uint8Array) | undefined
  protected abstract pauseBody(): void
  protected abstract resumeBody(): void
  /** Sends the head of a streamed response; chunks follow. */
  protected abstract sendHead(reply: Omit<ResponseData, 'body'>, close: boolean): void
  protected abstract sendChunk(piece: string | Uint8Array): boolean
  protected abstract onDrain(listener: () => void): void
  /** @param isCut true if the client may still send its body, which is not read any more */
  protected abstract sendEnd(close: boolean, isCut: boolean): void
  /** Closes the connection in the middle of a response, which is the only way left to report a failure. */
  protected abstract hangUp(): void
}
