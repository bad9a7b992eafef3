import type { ProblemData } from '../../base/problem.ts'
import type { TextsResult } from '../../wire/batch-messages.ts'
import { NONCE_SOURCE } from '../compute/attest.ts'
import type { BatchContext, TextSink } from '../request.ts'
import { isSameProblem } from './items.ts'

/** Counts how the items of one batch came out, and collects the response headers. */
export class BatchTally {
  readonly #context: Pick<BatchContext, 'countItems' | 'problemJson' | 'quotaProblem'>
  failed = 0
  /** Response headers: the source of nonces that were not just read from the chain (decision 100). */
  headers: Readonly<Record<string, string>> = {}
  #quotaProblemJson: string | undefined

  constructor(context: Pick<BatchContext, 'countItems' | 'problemJson' | 'quotaProblem'>) {
    this.#context = context
  }

  /**
   * @param headers as for a single response; a default nonce is reported rather than a cached one, because it is the worse news
   */
  countSigned(items: number, headers: Readonly<Record<string, string>>): void {
    this.#context.countItems('ok', items)
    if (this.headers[NONCE_SOURCE] !== 'default') this.headers = { ...this.headers, ...headers }
  }

  /** Counts results that are not signed. */
  countUnsigned(items: number): void {
    this.#context.countItems('ok', items)
  }

  /**
   * Counts an item that failed.
   *
   * @param id `"id":…,` as JSON, or empty
   * @returns the JSON of the item
   */
  fail(id: string, problem: ProblemData): string {
    this.failed++
    this.#context.countItems(problem.type, 1)
    // Cached because thousands of items in a row may exceed the quota, and rejecting an item must not cost more than computing
    // it.
    if (isSameProblem(problem, this.#context.quotaProblem)) {
      this.#quotaProblemJson ??= this.#context.problemJson(problem)
      return `{${id}"error":${this.#quotaProblemJson}}`
    }
    return `{${id}"error":${this.#context.problemJson(problem)}}`
  }
}

/**
 * Signed results written at a time: 64 KB. For strings more than twice as long, the operating system maps and unmaps memory each
 * time.
 */
const WRITTEN_ITEMS = 32

/** The results of a chunk: JSON texts, or all of them as bytes. */
export type Results = readonly string[] | Uint8Array

/** @param separator between results that are strings; bytes already contain it */
export async function writeResults(sink: TextSink, results: Results, separator: string): Promise<void> {
  if (results instanceof Uint8Array) return sink.write(results)
  for (let begin = 0; begin < results.length; begin += WRITTEN_ITEMS) {
    const piece = results.slice(begin, begin + WRITTEN_ITEMS).join(separator)
    await sink.write(begin === 0 ? piece : separator + piece)
  }
}

/** Returns the bytes of all results, each followed by its separator. */
export function resultBytes({ texts }: TextsResult): Uint8Array {
  return new Uint8Array(texts.buffer, 0, texts.offsets[texts.offsets.length - 1])
}
