import type { AnswerSample, ResolvedInput, SampledAnswer } from '../wire/compute-messages.ts'
import type { OperationRow } from './operations.ts'
import type { Outcome } from './run.ts'

/** Larger requests are not checked: a sample waits in memory, and checking it would take seconds. */
const MAX_REQUEST_BYTES = 262_144

/** Takes a share of the computed answers, so that an independent library can check them. */
export class AnswerSampler {
  readonly #share: number
  readonly #take: (sample: AnswerSample) => void
  readonly #random: () => number
  /** Answers until the next sample. A count costs less for each answer than a random number. */
  #left: number

  /**
   * @param share above 0, at most 1
   * @param random a number from 0 up to 1
   */
  constructor(share: number, take: (sample: AnswerSample) => void, random: () => number = Math.random) {
    this.#share = share
    this.#take = take
    this.#random = random
    this.#left = this.#nextGap()
  }

  /**
   * Sees every answer, and copies those in the sample.
   *
   * @param body the request or the item, whose buffer may be reused afterwards
   */
  offer(
    row: OperationRow,
    inputs: readonly { readonly path: AnswerSample['paths'][number] }[],
    body: Uint8Array,
    resolved: readonly ResolvedInput[],
    outcome: Outcome,
  ): void {
    if (--this.#left > 0) return
    this.#left = this.#nextGap()
    const size = resolved.reduce((sum, { geometry }) => sum + geometry.length, body.length)
    const isCheckable = outcome.kind !== 'geometry' && size <= MAX_REQUEST_BYTES
    this.#take({
      operation: row.name,
      signedOperation: outcome.operation,
      inputRefs: outcome.inputRefs,
      body: isCheckable ? new Uint8Array(body) : undefined,
      paths: inputs.map(({ path }) => path),
      resolved: isCheckable ? resolved : [],
      answer: answerOf(row, outcome),
    })
  }

  /** Draws the number of answers up to the next sample, when each is in the sample with the same probability. */
  #nextGap(): number {
    return this.#share >= 1 ? 1 : 1 + Math.floor(Math.log1p(-this.#random()) / Math.log1p(-this.#share))
  }
}

function answerOf({ result }: OperationRow, outcome: Outcome): SampledAnswer {
  switch (outcome.kind) {
    case 'numeric': {
      const { measure, integer } = outcome
      return { kind: 'numeric', measure, integer, scale: result.kind === 'numeric' ? result.scale : 1 }
    }
    case 'boolean':
      return { kind: 'boolean', value: outcome.value }
    case 'matrix':
      return { kind: 'matrix', matrix: outcome.matrix }
    case 'geometry':
      return { kind: 'geometry' }
  }
}
