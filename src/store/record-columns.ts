import type { Bounds, RecordQuery } from '../store-messages.ts'
import { AddressTable } from './address-table.ts'
import { searchBoxes } from './bounds.ts'
import { bytesOf } from './record-conditions.ts'

/** One record as it comes from the database: uid, chain, prover, subject, block time, event time, bounds; big-endian. */
export const ROW_BYTES = 32 + 8 + 20 + 20 + 8 + 8 + 32
const UID_BYTES = 32
const CHAIN_AT = UID_BYTES
const PROVER_AT = CHAIN_AT + 8
const SUBJECT_AT = PROVER_AT + 20
const TIME_AT = SUBJECT_AT + 20
const BOUNDS_AT = TIME_AT + 16
/** Beside the chain of a row whose record is gone. */
const GONE = 0x8000
const MIN_ROWS = 1024

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
  readonly #addresses = new AddressTable()
  readonly #chainIds: number[] = []
  #rows = 0
  #gone = 0
  #uids = new Uint8Array(MIN_ROWS * UID_BYTES)
  #chains = new Uint16Array(MIN_ROWS)
  #provers = new Uint32Array(MIN_ROWS)
  #subjects = new Uint32Array(MIN_ROWS)
  #times = new Float64Array(MIN_ROWS)
  #eventTimes = new Float64Array(MIN_ROWS)
  /** West, south, east, north of each. */
  #bounds = new Float64Array(4 * MIN_ROWS)
  /** Rows from the newest to the oldest, of those that are sorted already, and the place of each row there. */
  #order = new Uint32Array(0)
  #ranks = new Uint32Array(0)

  /** Records; those that are gone are not counted. */
  get size(): number {
    return this.#rows - this.#gone
  }

  /** Rows of records that are gone; they cost as much as others. */
  get gone(): number {
    return this.#gone
  }

  /**
   * @param bytes rows of `ROW_BYTES`
   * @param mayBeKnown whether some of the records may be here already; each stays once
   */
  add(bytes: Uint8Array, mayBeKnown: boolean): void {
    const count = bytes.length / ROW_BYTES
    const known = mayBeKnown ? this.#known(bytes) : undefined
    this.#reserve(this.#rows + count)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    for (let i = 0; i < count; i++) {
      const at = i * ROW_BYTES
      if (known?.has(keyAt(bytes, at))) continue
      const row = this.#rows++
      this.#uids.set(bytes.subarray(at, at + UID_BYTES), row * UID_BYTES)
      this.#chains[row] = this.#ordinalOf(Number(view.getBigInt64(at + CHAIN_AT)))
      this.#provers[row] = this.#addresses.add(bytes, at + PROVER_AT)
      this.#subjects[row] = this.#addresses.add(bytes, at + SUBJECT_AT)
      this.#times[row] = Number(view.getBigInt64(at + TIME_AT))
      this.#eventTimes[row] = Number(view.getBigInt64(at + TIME_AT + 8))
      // A box is sent with its upper right corner first.
      this.#bounds[4 * row] = view.getFloat64(at + BOUNDS_AT + 16)
      this.#bounds[4 * row + 1] = view.getFloat64(at + BOUNDS_AT + 24)
      this.#bounds[4 * row + 2] = view.getFloat64(at + BOUNDS_AT)
      this.#bounds[4 * row + 3] = view.getFloat64(at + BOUNDS_AT + 8)
    }
  }

  /** Takes the records of these uids out, on whichever chain they are. */
  remove(uids: readonly string[]): void {
    const wanted = new Set(uids.map((uid) => uid.slice(2)))
    const starts = new Set(uids.map((uid) => startAt(bytesOf(uid), 0)))
    for (let row = 0; row < this.#rows; row++) {
      if (!starts.has(startAt(this.#uids, row * UID_BYTES)) || this.#isGone(row)) continue
      if (!wanted.has(this.#uidOf(row).slice(2))) continue
      this.#chains[row]! |= GONE
      this.#gone++
    }
  }

  /** The page of a query and the number of records that match it. */
  select(query: RecordQuery): SelectedRecords {
    this.#sort()
    const matching = new Uint32Array(Math.ceil(this.#rows / 32))
    const count = this.#match(query, matching)
    const keys: { uid: string; chainId: number }[] = []
    let [rank, skipped] = query.after === undefined ? [0, query.offset] : [this.#rankBehind(query.after), 0]
    while (rank < this.#rows && keys.length < query.limit) {
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
        keys.push({ uid: this.#uidOf(row), chainId: this.#chainOf(row) })
      }
      rank++
    }
    return { count, keys }
  }

  /** Sets a bit at the rank of each row that matches. */
  #match(query: RecordQuery, matching: Uint32Array): number {
    const { chainId, prover, subject, fromSeconds, toSeconds, bbox } = query
    // What is not asked for matches by a bound that everything keeps.
    const chain = chainId === undefined ? -1 : this.#chainIds.indexOf(chainId)
    const proverNumber = prover === undefined ? -1 : this.#addresses.find(bytesOf(prover))
    const subjectNumber = subject === undefined ? -1 : this.#addresses.find(bytesOf(subject))
    if ((chainId !== undefined && chain < 0) || proverNumber === undefined || subjectNumber === undefined) return 0
    const from = fromSeconds ?? Number.NEGATIVE_INFINITY
    const to = toSeconds ?? Number.POSITIVE_INFINITY
    const boxes = bbox === undefined ? undefined : searchBoxes(bbox)
    const [chains, provers, subjects, eventTimes] = [this.#chains, this.#provers, this.#subjects, this.#eventTimes]
    const ranks = this.#ranks
    let count = 0
    for (let row = 0; row < this.#rows; row++) {
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
    const bounds = this.#bounds
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
    if (sorted === this.#rows) return
    const added = Uint32Array.from({ length: this.#rows - sorted }, (_, i) => sorted + i)
    // Read from the database they come in order, and a million of them are not sorted for nothing.
    const isSorted = added.every((row, i) => i === 0 || this.#compare(row - 1, row) < 0)
    if (!isSorted) added.sort((a, b) => this.#compare(a, b))
    const order = new Uint32Array(this.#rows)
    for (let i = 0, j = 0, k = 0; k < order.length; k++) {
      const isOld = j === added.length || (i < sorted && this.#compare(this.#order[i]!, added[j]!) < 0)
      order[k] = isOld ? this.#order[i++]! : added[j++]!
    }
    const ranks = new Uint32Array(this.#rows)
    for (let k = 0; k < order.length; k++) ranks[order[k]!] = k
    this.#order = order
    this.#ranks = ranks
  }

  /** Newest first, then by uid and chain, the larger first. */
  #compare(a: number, b: number): number {
    const byTime = this.#times[b]! - this.#times[a]!
    if (byTime !== 0) return byTime
    for (let i = 0; i < UID_BYTES; i++) {
      const byUid = this.#uids[b * UID_BYTES + i]! - this.#uids[a * UID_BYTES + i]!
      if (byUid !== 0) return byUid
    }
    return this.#chainOf(b) - this.#chainOf(a)
  }

  /** First place in the order that is behind a key. */
  #rankBehind({ timeSeconds, uid, chainId }: NonNullable<RecordQuery['after']>): number {
    const key = bytesOf(uid)
    let [low, high] = [0, this.#rows]
    while (low < high) {
      const middle = (low + high) >>> 1
      const row = this.#order[middle]!
      let difference = this.#times[row]! - timeSeconds
      for (let i = 0; difference === 0 && i < UID_BYTES; i++) difference = this.#uids[row * UID_BYTES + i]! - key[i]!
      if (difference === 0) difference = this.#chainOf(row) - chainId
      if (difference < 0) high = middle
      else low = middle + 1
    }
    return low
  }

  /** Which of some rows are here already, by uid and chain. */
  #known(bytes: Uint8Array): Set<string> {
    const starts = new Set<number>()
    for (let at = 0; at < bytes.length; at += ROW_BYTES) starts.add(startAt(bytes, at))
    const known = new Set<string>()
    for (let row = 0; row < this.#rows; row++) {
      if (!starts.has(startAt(this.#uids, row * UID_BYTES)) || this.#isGone(row)) continue
      known.add(`${this.#uidOf(row).slice(2)} ${this.#chainOf(row)}`)
    }
    return known
  }

  #ordinalOf(chainId: number): number {
    const found = this.#chainIds.indexOf(chainId)
    return found >= 0 ? found : this.#chainIds.push(chainId) - 1
  }

  #chainOf(row: number): number {
    return this.#chainIds[this.#chains[row]! & ~GONE]!
  }

  #isGone(row: number): boolean {
    return this.#chains[row]! >= GONE
  }

  #uidOf(row: number): string {
    return `0x${Buffer.from(this.#uids.buffer, row * UID_BYTES, UID_BYTES).toString('hex')}`
  }

  #reserve(rows: number): void {
    if (rows <= this.#chains.length) return
    const capacity = Math.ceil(rows * 1.2)
    this.#uids = enlarge(this.#uids, new Uint8Array(capacity * UID_BYTES))
    this.#chains = enlarge(this.#chains, new Uint16Array(capacity))
    this.#provers = enlarge(this.#provers, new Uint32Array(capacity))
    this.#subjects = enlarge(this.#subjects, new Uint32Array(capacity))
    this.#times = enlarge(this.#times, new Float64Array(capacity))
    this.#eventTimes = enlarge(this.#eventTimes, new Float64Array(capacity))
    this.#bounds = enlarge(this.#bounds, new Float64Array(4 * capacity))
  }
}

function enlarge<T extends { set(values: T): void }>(values: T, larger: T): T {
  larger.set(values)
  return larger
}

/** The first bytes of a uid, to pass over most others quickly. */
function startAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

function keyAt(bytes: Uint8Array, at: number): string {
  const uid = Buffer.from(bytes.buffer, bytes.byteOffset + at, UID_BYTES).toString('hex')
  return `${uid} ${new DataView(bytes.buffer, bytes.byteOffset + at + CHAIN_AT, 8).getBigInt64(0)}`
}

function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
