import { randomUUID } from 'node:crypto'
import type { RecordPage } from '../store-messages.ts'

/** Names pages that are kept: the same name is the same page, also for who asks after the store has started again. */
export class PageIdentity {
  readonly #prefix = randomUUID()
  readonly #names = new WeakMap<RecordPage, string>()
  #next = 0

  of(page: RecordPage): string {
    const known = this.#names.get(page)
    if (known !== undefined) return known
    const name = `${this.#prefix} ${this.#next++}`
    this.#names.set(page, name)
    return name
  }
}
