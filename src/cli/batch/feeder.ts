import type { BatchOperation } from '../../client/batch.ts'
import type { SourceItem } from '../inputs/source-item.ts'
import { composeItem, type ItemRule } from './compose.ts'

/** One item of the file: an operation to be sent, or an invalid item that is not sent. */
export interface Entry {
  /** Number in the file, from 1. */
  readonly number: number
  readonly place: string
  /** Identifies its result or error. */
  readonly id: string | number
  readonly item: BatchOperation | undefined
  readonly fault: string | undefined
}

/**
 * Supplies the items of a file and remembers those without a result, so that they can be sent again after a stream broke.
 */
export class Feeder {
  readonly #source: AsyncIterator<SourceItem>
  readonly #rule: ItemRule
  readonly #onFault: (entry: Entry) => void
  #number = 0
  #pending: Entry[] = []

  /** @param onFault receives each invalid item, in the order of the file */
  constructor(source: AsyncIterable<SourceItem>, rule: ItemRule, onFault: (entry: Entry) => void) {
    this.#source = source[Symbol.asyncIterator]()
    this.#rule = rule
    this.#onFault = onFault
  }

  /**
   * Skips the items that an earlier run has done.
   *
   * @returns false if the file has fewer items
   */
  async skip(items: number): Promise<boolean> {
    while (this.#number < items) {
      const { done } = await this.#source.next()
      if (done === true) return false
      this.#number++
    }
    return true
  }

  /** Yields the items to be sent: first those that were sent without a result, then new ones. */
  async *items(): AsyncGenerator<BatchOperation, void, undefined> {
    for (const { item } of [...this.#pending]) if (item !== undefined) yield item
    for (;;) {
      const { done, value } = await this.#source.next()
      if (done === true) return
      const entry = this.#createEntry(value)
      this.#pending.push(entry)
      this.#reportFaults()
      if (entry.item !== undefined) yield entry.item
    }
  }

  /** The item of the next result; undefined if no item is pending. */
  get first(): Entry | undefined {
    return this.#pending[0]
  }

  /** Marks the first pending item as done. */
  settle(): void {
    this.#pending.shift()
    this.#reportFaults()
  }

  async close(): Promise<void> {
    await this.#source.return?.()
  }

  #createEntry(sourceItem: SourceItem): Entry {
    const number = ++this.#number
    const { place, id = number } = sourceItem
    const composed =
      sourceItem.fault === undefined ? composeItem(sourceItem, number, this.#rule) : { fault: sourceItem.fault }
    return 'fault' in composed
      ? { number, place, id, item: undefined, fault: composed.fault }
      : { number, place, id: composed.item.id ?? id, item: composed.item, fault: undefined }
  }

  #reportFaults(): void {
    while (this.#pending[0] !== undefined && this.#pending[0].item === undefined) this.#onFault(this.#pending.shift()!)
  }
}
