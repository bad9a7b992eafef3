/** A client that sends nothing for this long after its request was rejected has read the response, or never will. */
const QUIET_MS = 1000
const CHECK_MS = 100

export interface DiscardLimits {
  /** 0: nothing more is read. */
  readonly maxBytes: number
  readonly maxMs: number
  /** Called once, when reading has ended. */
  readonly onEnd?: () => void
}

/**
 * Reads and discards what a client still sends after its request was rejected, for a limited time. Closing a connection that has
 * unread bytes resets it, and a reset destroys a response that the client has not read yet.
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
  #lastByteMs = this.#startedMs

  /**
   * @param readBytes returns the number of bytes read from the connection so far
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

  /** True once nothing more has to be read. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Ends at a limit. Call it after each chunk too: between two ticks of the timer a fast client can send more than allowed. */
  check(): void {
    const nowMs = performance.now()
    const bytes = this.#readBytes()
    if (bytes !== this.#seenBytes) this.#lastByteMs = nowMs
    this.#seenBytes = bytes
    const { maxBytes, maxMs } = this.#limits
    const isOver = bytes - this.#startBytes > maxBytes || nowMs - this.#startedMs >= maxMs
    if (isOver || nowMs - this.#lastByteMs >= QUIET_MS) this.end()
  }

  /** Closes the connection; call it when the body is complete. */
  end(): void {
    this.stop()
    this.#hangUp()
  }

  /** Stops the timer; call it when the connection has closed. */
  stop(): void {
    clearInterval(this.#timer)
    if (!this.#hasEnded) this.#limits.onEnd?.()
    this.#hasEnded = true
  }
}
