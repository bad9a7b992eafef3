import type { ProblemData } from '../problem.ts'
import type { InFlight } from './in-flight.ts'
import { overloaded, tooLarge } from './transport-problems.ts'

/** Bytes of one body that are held: counted against its own limit and against what all requests together may hold. */
export class BodyBudget {
  /** Infinite for a stream, which is taken piece by piece. */
  mostBytes: number
  readonly #inFlight: InFlight
  #heldBytes = 0

  constructor(inFlight: InFlight) {
    this.#inFlight = inFlight
    this.mostBytes = inFlight.limits.maxBodyBytes
  }

  /** Counts bytes that arrived, or says why they are too many. */
  keep(bytes: number): ProblemData | undefined {
    const { maxStreamBytes } = this.#inFlight.limits
    if (this.#heldBytes + bytes > this.mostBytes) return tooLarge(this.mostBytes)
    if (this.mostBytes === Number.POSITIVE_INFINITY && this.#heldBytes + bytes > maxStreamBytes) {
      return overloaded(`more than ${maxStreamBytes} bytes of one stream wait for their answers`)
    }
    if (!this.#inFlight.reserve(bytes)) return overloaded('too many bytes of requests are waiting')
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
