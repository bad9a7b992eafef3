import type { Bounds, RecordQuery } from '../store-messages.ts'
import { searchBoxes } from './bounds.ts'
import { bytesOf } from './record-conditions.ts'
import { GONE, RecordRows, UID_BYTES } from './record-rows.ts'

/** Which records a page has, newest first, and how many match. */
export interface SelectedRecords {
  readonly count: number
  readonly keys: readonly { readonly uid: string; readonly chainId: number }[]
}

/**
 * What lists are narrowed and sorted by, of every record, as columns in memory: a million records are looked through in
 * a few milliseconds, whatever is asked for. About 100 bytes a record.
 */
export class RecordColumns {
  readonly #rows: RecordRows
  /** Rows from the newest to the oldest, of those that are sorted already, and the place of each row there. */
  #order = new Uint32Array(0)
  #ranks = new Uint32Array(0)

  /** @param expected records that are about to come */
  constructor(expected: number) {
    this.#rows = new RecordRows(expected)
  }

  /** Records; those that are gone are not counted. */
  get size(): number {
    return this.#rows.count - this.#rows.gone
  }

  /** Rows of records that are gone; they cost as much as others. */
  get gone(): number {
    return this.#rows.gone
  }

  /**
   * @param bytes records as `RecordRows` has them
   * @param mayBeKnown whether some of the records may be here already; each stays once
   */
  add(bytes: Uint8Array, mayBeKnown: boolean): void {
    this.#rows.add(bytes, mayBeKnown)
  }

  /** Takes the records of these uids out, on whichever chain they are. */
  remove(uids: readonly string[]): void {
    this.#rows.remove(uids)
  }

  /** The page of a query and the number of records that match it. */
  select(query: RecordQuery): SelectedRecords {
    this.#sort()
    const matching = new Uint32Array(Math.ceil(this.#rows.count / 32))
    const count = this.#match(query, matching)
    const keys: { uid: string; chainId: number }[] = []
    let [rank, skipped] = query.after === undefined ? [0, query.offset] : [this.#rankBehind(query.after), 0]
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
        keys.push({ uid: this.#rows.uidOf(row), chainId: this.#rows.chainOf(row) })
      }
      rank++
    }
    return { count, keys }
  }

  /** Sets a bit at the rank of each row that matches. */
  #match(query: RecordQuery, matching: Uint32Array): number {
    const { chainId, prover, subject, fromSeconds, toSeconds, bbox } = query
    const chain = chainId === undefined ? -1 : this.#rows.chainIds.indexOf(chainId)
    const proverNumber = prover === undefined ? -1 : this.#rows.addresses.find(bytesOf(prover))
    const subjectNumber = subject === undefined ? -1 : this.#rows.addresses.find(bytesOf(subject))
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
      const itsChain = chains[row]!
      if (itsChain >= GONE || (chain >= 0 && itsChain !== chain)) continue
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
      const isMet =
        bounds[4 * row]! <= east &&
        bounds[4 * row + 2]! >= west &&
        bounds[4 * row + 1]! <= north &&
        bounds[4 * row + 3]! >= south
      if (isMet) return true
    }
    return false
  }

  /** Merges the rows that came since the last time into the order. */
  #sort(): void {
    const sorted = this.#order.length
    if (sorted === this.#rows.count) return
    const added = Uint32Array.from({ length: this.#rows.count - sorted }, (_, i) => sorted + i)
    // Read from the database they come in order, and a million of them are not sorted for nothing.
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

  /** First place in the order that is behind a key. */
  #rankBehind({ timeSeconds, uid, chainId }: NonNullable<RecordQuery['after']>): number {
    const key = bytesOf(uid)
    let [low, high] = [0, this.#rows.count]
    while (low < high) {
      const middle = (low + high) >>> 1
      const row = this.#order[middle]!
      let difference = this.#rows.times[row]! - timeSeconds
      for (let i = 0; difference === 0 && i < UID_BYTES; i++)
        difference = this.#rows.uids[row * UID_BYTES + i]! - key[i]!
      if (difference === 0) difference = this.#rows.chainOf(row) - chainId
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
