import type { BatchOperation } from '../../client/batch.ts'
import type { SourceItem } from '../inputs/source-item.ts'
import { composeItem, type ItemRule } from './compose.ts'

/** One item of the file on its way: sent, or known to be wrong without being sent. */
export interface Entry {
  /** From 1. */
  readonly number: number
  readonly place: string
  /** What its result or refusal is found by. */
  readonly id: string | number
  readonly item: BatchOperation | undefined
  readonly fault: string | undefined
}

/**
 * Hands out the items of a file and remembers those without an answer, so that a stream that broke can be followed by another
 * one that begins with them.
 */
export class Feeder {
  readonly #source: AsyncIterator<SourceItem>
  readonly #rule: ItemRule
  readonly #onFault: (entry: Entry) => void
  #number = 0
  #waiting: Entry[] = []

  /** @param onFault takes each item that is wrong, in its turn */
  constructor(source: AsyncIterable<SourceItem>, rule: ItemRule, onFault: (entry: Entry) => void) {
    this.#source = source[Symbol.asyncIterator]()
    this.#rule = rule
    this.#onFault = onFault
  }

  /**
   * Passes over what an earlier run has done.
   *
   * @returns false when the file has fewer items
   */
  async skip(items: number): Promise<boolean> {
    while (this.#number < items) {
      const { done } = await this.#source.next()
      if (done === true) return false
      this.#number++
    }
    return true
  }

  /** What is to be sent: what was sent before without an answer, then what was not. */
  async *items(): AsyncGenerator<BatchOperation, void, undefined> {
    for (const { item } of [...this.#waiting]) if (item !== undefined) yield item
    for (;;) {
      const { done, value } = await this.#source.next()
      if (done === true) return
      const entry = this.#entryOf(value)
      this.#waiting.push(entry)
      this.#passFaults()
      if (entry.item !== undefined) yield entry.item
    }
  }

  /** The item that the next result answers; undefined when none is under way. */
  get first(): Entry | undefined {
    return this.#waiting[0]
  }

  /** It has its answer. */
  settle(): void {
    this.#waiting.shift()
    this.#passFaults()
  }

  async close(): Promise<void> {
    await this.#source.return?.()
  }

  #entryOf(found: SourceItem): Entry {
    const number = ++this.#number
    const { place, id = number } = found
    const composed = found.fault === undefined ? composeItem(found, number, this.#rule) : { fault: found.fault }
    return 'fault' in composed
      ? { number, place, id, item: undefined, fault: composed.fault }
      : { number, place, id: composed.item.id ?? id, item: composed.item, fault: undefined }
  }

  #passFaults(): void {
    while (this.#waiting[0] !== undefined && this.#waiting[0].item === undefined) this.#onFault(this.#waiting.shift()!)
  }
}
