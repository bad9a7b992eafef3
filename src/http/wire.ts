import type { DiscardLimits } from './discard.ts'
import type { Reply } from './port.ts'
import type { RequestHead } from './request-head.ts'

/** What a transport has read when it begins a request. */
export interface WireRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly head: RequestHead
}

/** What a transport does for one request. */
export abstract class Wire implements WireRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly head: RequestHead
  /** Milliseconds the answer may take beyond what every answer may. */
  moreMs = 0
  #isHeld = false

  constructor({ method, path, query, head }: WireRequest) {
    this.method = method
    this.path = path
    this.query = query
    this.head = head
  }

  /** True while the client is held back: what a transport reads by itself nevertheless has to be stopped again. */
  protected get isPaused(): boolean {
    return this.#isHeld
  }

  protected holdBody(): void {
    this.#isHeld = true
    this.pauseBody()
  }

  resume(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.resumeBody()
  }

  /** Puts the answer on the wire. */
  protected abstract send(reply: Reply, close: boolean): void
  /** The same before the end of the body, the rest of which is thrown away; then closes the connection. */
  protected abstract sendAndDiscard(reply: Reply, limits: DiscardLimits): void
  /** Lets the body flow into `take`. */
  protected abstract startBody(): void
  /** Makes bytes ours that the transport gives for the moment only; undefined when it leaves them to us. */
  protected abstract readonly own: ((chunk: Uint8Array) => Uint8Array) | undefined
  protected abstract pauseBody(): void
  protected abstract resumeBody(): void
  /** Puts the head of an answer on the wire, and what follows in chunks. */
  protected abstract sendHead(reply: Omit<Reply, 'body'>, close: boolean): void
  protected abstract sendChunk(piece: string | Uint8Array): boolean
  protected abstract onDrain(listener: () => void): void
  /** @param isCut true while the client may still send its body, of which nothing is taken any more */
  protected abstract sendEnd(close: boolean, isCut: boolean): void
  /** Ends a connection in the middle of an answer: the only way left to say that it failed. */
  protected abstract hangUp(): void
}
