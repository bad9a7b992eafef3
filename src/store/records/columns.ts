import type { Bounds, RecordQuery } from '../../wire/store-messages.ts'
import { bytesFromHex, searchBoxes } from './conditions.ts'
import { REMOVED_FLAG, RecordRows, UID_BYTES } from './rows.ts'

/** The records of a page, newest first, and the number of records that match. */
export interface SelectedRecords {
  readonly count: number
  readonly keys: readonly { readonly uid: string; readonly chainId: number }[]
}

/**
 * Columns in memory, by which lists are filtered and sorted, for every record. Any filter scans a million records in a few
 * milliseconds. About 100 bytes per record.
 */
export class RecordColumns {
  readonly #rows: RecordRows
  /** The rows that are sorted already, from the newest to the oldest. */
  #order = new Uint32Array(0)
  /** The rank of each row in `#order`. */
  #ranks = new Uint32Array(0)

  /** @param expected number of records that will be added */
  constructor(expected: number) {
    this.#rows = new RecordRows(expected)
  }

  /** Number of records, without removed ones. */
  get size(): number {
    return this.#rows.count - this.#rows.removedCount
  }

  /** Number of rows of removed records; they cost as much as others. */
  get removedCount(): number {
    return this.#rows.removedCount
  }

  /**
   * Adds records.
   *
   * @param bytes rows in the format of `RecordRows`
   * @param mayBeKnown true when some of the records may already be present; those are not added again
   */
  add(bytes: Uint8Array, mayBeKnown: boolean): void {
    this.#rows.add(bytes, mayBeKnown)
  }

  /** Removes the records with these UIDs on every chain. */
  remove(uids: readonly string[]): void {
    this.#rows.remove(uids)
  }

  /** Returns the page of a query and the number of records that match it. */
  select(query: RecordQuery): SelectedRecords {
    this.#sort()
    const matching = new Uint32Array(Math.ceil(this.#rows.count / 32))
    const count = this.#match(query, matching)
    const keys: { uid: string; chainId: number }[] = []
    let [rank, skipped] = query.after === undefined ? [0, query.offset] : [this.#rankAfter(query.after), 0]
    while (rank < this.#rows.count && keys.length < query.limit) {
      const bits = matching[rank >>> 5]! >>> (rank & 31)
      if (bits === 0) {
        rank = ((rank >>> 5) + 1) << 5
        continue
      }
      if (skipped > 0 && (rank & 31) === 0) {
        const inWord = bitCount(bits)
        if (inWord <= skipped) {
          skipped -= inWord
          rank += 32
          continue
        }
      }
      rank += 31 - Math.clz32(bits & -bits)
      if (skipped > 0) skipped--
      else {
        const row = this.#order[rank]!
        keys.push({ uid: this.#rows.uid(row), chainId: this.#rows.chainId(row) })
      }
      rank++
    }
    return { count, keys }
  }

  /** Sets a bit at the rank of each row that matches, and returns the number of matches. */
  #match(query: RecordQuery, matching: Uint32Array): number {
    const { chainId, prover, subject, fromSeconds, toSeconds, bbox } = query
    const chain = chainId === undefined ? -1 : this.#rows.chainIds.indexOf(chainId)
    const proverNumber = prover === undefined ? -1 : this.#rows.addresses.find(bytesFromHex(prover))
    const subjectNumber = subject === undefined ? -1 : this.#rows.addresses.find(bytesFromHex(subject))
    if ((chainId !== undefined && chain < 0) || proverNumber === undefined || subjectNumber === undefined) return 0
    const from = fromSeconds ?? Number.NEGATIVE_INFINITY
    const to = toSeconds ?? Number.POSITIVE_INFINITY
    const boxes = bbox === undefined ? undefined : searchBoxes(bbox)
    const [chains, provers, subjects, eventTimes] = [
      this.#rows.chains,
      this.#rows.provers,
      this.#rows.subjects,
      this.#rows.eventTimes,
    ]
    const ranks = this.#ranks
    let count = 0
    for (let row = 0; row < this.#rows.count; row++) {
      const rowChain = chains[row]!
      if (rowChain >= REMOVED_FLAG || (chain >= 0 && rowChain !== chain)) continue
      if (proverNumber >= 0 && provers[row] !== proverNumber) continue
      if (subjectNumber >= 0 && subjects[row] !== subjectNumber) continue
      if (eventTimes[row]! < from || eventTimes[row]! > to) continue
      if (boxes !== undefined && !this.#isWithin(row, boxes)) continue
      const rank = ranks[row]!
      matching[rank >>> 5]! |= 1 << (rank & 31)
      count++
    }
    return count
  }

  #isWithin(row: number, boxes: readonly Bounds[]): boolean {
    const bounds = this.#rows.bounds
    for (const [west, south, east, north] of boxes) {
      const overlaps =
        bounds[4 * row]! <= east &&
        bounds[4 * row + 2]! >= west &&
        bounds[4 * row + 1]! <= north &&
        bounds[4 * row + 3]! >= south
      if (overlaps) return true
    }
    return false
  }

  /** Merges the rows that were added since the last call into the order. */
  #sort(): void {
    const sorted = this.#order.length
    if (sorted === this.#rows.count) return
    const added = Uint32Array.from({ length: this.#rows.count - sorted }, (_, i) => sorted + i)
    // Rows loaded from the database are already in order, which saves sorting a million of them.
    const isSorted = added.every((row, i) => i === 0 || this.#rows.compare(row - 1, row) < 0)
    if (!isSorted) added.sort((a, b) => this.#rows.compare(a, b))
    const order = new Uint32Array(this.#rows.count)
    for (let i = 0, j = 0, k = 0; k < order.length; k++) {
      const isOld = j === added.length || (i < sorted && this.#rows.compare(this.#order[i]!, added[j]!) < 0)
      order[k] = isOld ? this.#order[i++]! : added[j++]!
    }
    const ranks = new Uint32Array(this.#rows.count)
    for (let k = 0; k < order.length; k++) ranks[order[k]!] = k
    this.#order = order
    this.#ranks = ranks
  }

  /** Returns the first rank after a key. */
  #rankAfter({ timeSeconds, uid, chainId }: NonNullable<RecordQuery['after']>): number {
    const key = bytesFromHex(uid)
    let [low, high] = [0, this.#rows.count]
    while (low < high) {
      const middle = (low + high) >>> 1
      const row = this.#order[middle]!
      let difference = this.#rows.times[row]! - timeSeconds
      for (let i = 0; difference === 0 && i < UID_BYTES; i++)
        difference = this.#rows.uids[row * UID_BYTES + i]! - key[i]!
      if (difference === 0) difference = this.#rows.chainId(row) - chainId
      if (difference < 0) high = middle
      else low = middle + 1
    }
    return low
  }
}

function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
