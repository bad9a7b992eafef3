/** A client that sends nothing for so long after its refusal has read it, or never will. */
const QUIET_MS = 1000
const CHECK_MS = 100

export interface DiscardLimits {
  /** 0: nothing more is read. */
  readonly maxBytes: number
  readonly maxMs: number
  /** Called once, when nothing more is read. */
  readonly onEnd?: () => void
}

/**
 * What a client still sends after it was refused is read and thrown away for a while. A connection that is closed with
 * unread bytes is reset, and a reset destroys an answer that the client has not read yet.
 */
export class Discard {
  readonly #limits: DiscardLimits
  readonly #readBytes: () => number
  readonly #hangUp: () => void
  readonly #startedMs = performance.now()
  readonly #startBytes: number
  readonly #timer: NodeJS.Timeout
  #seenBytes: number
  #hasEnded = false
  #movedMs = this.#startedMs

  /**
   * @param readBytes bytes that were read from the connection so far
   * @param hangUp closes the connection; called once, when a limit is reached or the client is quiet for a second
   */
  constructor(limits: DiscardLimits, readBytes: () => number, hangUp: () => void) {
    this.#limits = limits
    this.#readBytes = readBytes
    this.#hangUp = hangUp
    this.#startBytes = readBytes()
    this.#seenBytes = this.#startBytes
    this.#timer = setInterval(() => this.check(), CHECK_MS)
    this.#timer.unref()
  }

  /** To be called also after each piece: a fast client sends more than it may between two looks at the clock. */
  check(): void {
    const nowMs = performance.now()
    const bytes = this.#readBytes()
    if (bytes !== this.#seenBytes) this.#movedMs = nowMs
    this.#seenBytes = bytes
    const { maxBytes, maxMs } = this.#limits
    const isOver = bytes - this.#startBytes > maxBytes || nowMs - this.#startedMs >= maxMs
    if (isOver || nowMs - this.#movedMs >= QUIET_MS) this.end()
  }

  /** The body is complete: closes the connection. */
  end(): void {
    this.stop()
    this.#hangUp()
  }

  /** The connection is gone. */
  stop(): void {
    clearInterval(this.#timer)
    if (!this.#hasEnded) this.#limits.onEnd?.()
    this.#hasEnded = true
  }
}
