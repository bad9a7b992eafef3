import type { ProblemData } from '../problem.ts'
import { NONCE_SOURCE } from './attest.ts'
import { isSame } from './batch-items.ts'
import type { BatchContext } from './services.ts'

/** How the items of one caller's batch came out, and what its head says of them. */
export class BatchTally {
  readonly #context: Pick<BatchContext, 'countItems' | 'problemJson' | 'quotaProblem'>
  failed = 0
  /** Header lines of the answer: where the nonces came from that were not read from the chain just now (decision 100). */
  headers: Readonly<Record<string, string>> = {}
  #quotaText: string | undefined

  constructor(context: Pick<BatchContext, 'countItems' | 'problemJson' | 'quotaProblem'>) {
    this.#context = context
  }

  /** @param headers as a single answer would have them: a nonce by default is worse news than one remembered */
  signed(items: number, headers: Readonly<Record<string, string>>): void {
    this.#context.countItems('ok', items)
    if (this.headers[NONCE_SOURCE] !== 'default') this.headers = { ...this.headers, ...headers }
  }

  /** Answers that nobody signs. */
  finished(items: number): void {
    this.#context.countItems('ok', items)
  }

  /**
   * @param id `"id":…,` as JSON text, or empty
   * @returns the text in the place of an item that has no answer
   */
  refuse(id: string, problem: ProblemData): string {
    this.failed++
    this.#context.countItems(problem.type, 1)
    // Said of thousands in a row: a caller beyond its limit must not cost more than one within.
    if (isSame(problem, this.#context.quotaProblem)) {
      this.#quotaText ??= this.#context.problemJson(problem)
      return `{${id}"error":${this.#quotaText}}`
    }
    return `{${id}"error":${this.#context.problemJson(problem)}}`
  }
}
