import type { ProblemData } from '../../base/problem.ts'
import type { InFlight } from './in-flight.ts'
import { overloaded, tooLarge } from './transport-problems.ts'

/** Counts the bytes of one body that are held, against the limit of the body and against the limit of all requests together. */
export class BodyBudget {
  /** Infinite for a stream, which is processed piece by piece. */
  maxBytes: number
  readonly #inFlight: InFlight
  #heldBytes = 0

  constructor(inFlight: InFlight) {
    this.#inFlight = inFlight
    this.maxBytes = inFlight.limits.maxBodyBytes
  }

  /** Counts bytes that arrived; returns a problem if they exceed a limit. */
  reserve(bytes: number): ProblemData | undefined {
    const { maxStreamBytes } = this.#inFlight.limits
    if (this.#heldBytes + bytes > this.maxBytes) return tooLarge(this.maxBytes)
    if (this.maxBytes === Number.POSITIVE_INFINITY && this.#heldBytes + bytes > maxStreamBytes) {
      return overloaded(`more than ${maxStreamBytes} bytes of one stream are waiting for results`)
    }
    if (!this.#inFlight.reserve(bytes)) return overloaded('too many bytes of request bodies are waiting')
    this.#heldBytes += bytes
    return undefined
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes
    this.#inFlight.bytes -= bytes
  }

  releaseAll(): void {
    this.release(this.#heldBytes)
  }
}
