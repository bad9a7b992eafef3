import { randomUUID } from 'node:crypto'
import type { RecordPage } from '../../wire/store-messages.ts'

/**
 * Names cached pages. Equal names mean the same page. The random prefix keeps names of a restarted store from matching those of
 * its predecessor.
 */
export class PageIdentity {
  readonly #prefix = randomUUID()
  readonly #names = new WeakMap<RecordPage, string>()
  #next = 0

  nameOf(page: RecordPage): string {
    const known = this.#names.get(page)
    if (known !== undefined) return known
    const name = `${this.#prefix} ${this.#next++}`
    this.#names.set(page, name)
    return name
  }
}
