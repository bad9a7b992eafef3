import type { Bounds, GeometryFamily, RecordExtent, RecordQuery } from '../../wire/store-messages.ts'
import { bytesFromHex, FAMILY_NUMBERS, searchBoxes } from './conditions.ts'

const ADDRESS_BYTES = 20
const FREE = 0xffffffff

/** Numbers addresses from 0 in the order in which they are added. A column then holds 4 bytes per address instead of 20. */
class AddressTable {
  #addresses = new Uint8Array(1024 * ADDRESS_BYTES)
  #slots = new Uint32Array(4096).fill(FREE)
  #count = 0

  /** Returns the number of an address, or undefined if it was never added. */
  find(bytes: Uint8Array, offset = 0): number | undefined {
    const number = this.#slots[this.#findSlot(bytes, offset)]!
    return number === FREE ? undefined : number
  }

  /** Returns the number of the 20 bytes at `offset`, and assigns one if the address is new. */
  add(bytes: Uint8Array, offset: number): number {
    const slot = this.#findSlot(bytes, offset)
    const number = this.#slots[slot]!
    if (number !== FREE) return number
    const added = this.#count++
    if (this.#count * ADDRESS_BYTES > this.#addresses.length) this.#addresses = larger(this.#addresses)
    this.#addresses.set(bytes.subarray(offset, offset + ADDRESS_BYTES), added * ADDRESS_BYTES)
    this.#slots[slot] = added
    if (this.#count * 2 > this.#slots.length) this.#rehash()
    return added
  }

  /** Returns the slot that holds the address, or the free slot where it belongs. */
  #findSlot(bytes: Uint8Array, offset: number): number {
    const mask = this.#slots.length - 1
    for (let slot = hashAddress(bytes, offset) & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot]!
      if (number === FREE || this.#isEqual(number, bytes, offset)) return slot
    }
  }

  #isEqual(number: number, bytes: Uint8Array, offset: number): boolean {
    for (let i = 0; i < ADDRESS_BYTES; i++) {
      if (this.#addresses[number * ADDRESS_BYTES + i] !== bytes[offset + i]) return false
    }
    return true
  }

  #rehash(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2).fill(FREE)
    for (let number = 0; number < this.#count; number++) {
      this.#slots[this.#findSlot(this.#addresses, number * ADDRESS_BYTES)] = number
    }
  }
}

// Attesters choose subjects freely. The random seed keeps them from forcing hash collisions.
const SEED = new Uint32Array(2)
crypto.getRandomValues(SEED)

function hashAddress(bytes: Uint8Array, offset: number): number {
  let [a, b] = [SEED[0]!, SEED[1]!]
  for (let i = 0; i < ADDRESS_BYTES; i++) {
    a = Math.imul(a ^ bytes[offset + i]!, 0x9e3779b1)
    b = Math.imul((b + a) ^ (a >>> 15), 0x85ebca77)
  }
  return (b ^ (b >>> 13)) >>> 0
}

function larger(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(Math.ceil((bytes.length * 1.5) / ADDRESS_BYTES) * ADDRESS_BYTES)
  copy.set(bytes)
  return copy
}

/** Size of a record as the database sends it: uid, chain, prover, subject, block time, event time, bounds, family; big-endian. */
const ROW_BYTES = 32 + 8 + 20 + 20 + 8 + 8 + 32 + 2
const UID_BYTES = 32
const CHAIN_AT = UID_BYTES
const PROVER_AT = CHAIN_AT + 8
const SUBJECT_AT = PROVER_AT + 20
const TIME_AT = SUBJECT_AT + 20
const BOUNDS_AT = TIME_AT + 16
const FAMILY_AT = BOUNDS_AT + 32
/** Flag in `chains` for a row whose record was removed. */
const REMOVED_FLAG = 0x8000
const MIN_ROWS = 1024

/** Columns of all records, one row per record, in the order in which they were added. */
class RecordRows {
  readonly addresses = new AddressTable()
  /** Chain ids by the index that `chains` holds. */
  readonly chainIds: number[] = []
  /** Number of rows, including those of removed records. */
  count = 0
  removedCount = 0
  uids = new Uint8Array(MIN_ROWS * UID_BYTES)
  chains = new Uint16Array(MIN_ROWS)
  provers = new Uint32Array(MIN_ROWS)
  subjects = new Uint32Array(MIN_ROWS)
  times = new Float64Array(MIN_ROWS)
  eventTimes = new Float64Array(MIN_ROWS)
  /** West, south, east, north of each row. */
  bounds = new Float64Array(4 * MIN_ROWS)
  families = new Uint8Array(MIN_ROWS)

  /** @param expected number of rows to allocate at first */
  constructor(expected: number) {
    this.#reserve(expected)
  }

  /**
   * Adds records.
   *
   * @param bytes rows of `ROW_BYTES` each
   * @param mayBeKnown true when some of the records may already be present; those are not added again
   */
  add(bytes: Uint8Array, mayBeKnown: boolean): void {
    const count = bytes.length / ROW_BYTES
    const known = mayBeKnown ? this.#findKnown(bytes) : undefined
    this.#reserve(this.count + count)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    for (let i = 0; i < count; i++) {
      const at = i * ROW_BYTES
      if (known?.has(readKey(bytes, at))) continue
      const row = this.count++
      this.uids.set(bytes.subarray(at, at + UID_BYTES), row * UID_BYTES)
      this.chains[row] = this.#chainIndex(Number(view.getBigInt64(at + CHAIN_AT)))
      this.provers[row] = this.addresses.add(bytes, at + PROVER_AT)
      this.subjects[row] = this.addresses.add(bytes, at + SUBJECT_AT)
      this.times[row] = Number(view.getBigInt64(at + TIME_AT))
      this.eventTimes[row] = Number(view.getBigInt64(at + TIME_AT + 8))
      // PostgreSQL sends the upper right corner of a box first.
      this.bounds[4 * row] = view.getFloat64(at + BOUNDS_AT + 16)
      this.bounds[4 * row + 1] = view.getFloat64(at + BOUNDS_AT + 24)
      this.bounds[4 * row + 2] = view.getFloat64(at + BOUNDS_AT)
      this.bounds[4 * row + 3] = view.getFloat64(at + BOUNDS_AT + 8)
      this.families[row] = view.getInt16(at + FAMILY_AT)
    }
  }

  /** Removes the records with these UIDs on every chain. */
  remove(uids: readonly string[]): void {
    const hexUids = new Set(uids.map((uid) => uid.slice(2)))
    const prefixes = new Set(uids.map((uid) => readPrefix(bytesFromHex(uid), 0)))
    for (let row = 0; row < this.count; row++) {
      if (!prefixes.has(readPrefix(this.uids, row * UID_BYTES)) || this.isRemoved(row)) continue
      if (!hexUids.has(this.uid(row).slice(2))) continue
      this.chains[row]! |= REMOVED_FLAG
      this.removedCount++
    }
  }

  /** Sorts newest first, then by uid and chain in descending order. */
  compare(a: number, b: number): number {
    const byTime = this.times[b]! - this.times[a]!
    if (byTime !== 0) return byTime
    for (let i = 0; i < UID_BYTES; i++) {
      const byUid = this.uids[b * UID_BYTES + i]! - this.uids[a * UID_BYTES + i]!
      if (byUid !== 0) return byUid
    }
    return this.chainId(b) - this.chainId(a)
  }

  chainId(row: number): number {
    return this.chainIds[this.chains[row]! & ~REMOVED_FLAG]!
  }

  isRemoved(row: number): boolean {
    return this.chains[row]! >= REMOVED_FLAG
  }

  uid(row: number): string {
    return `0x${Buffer.from(this.uids.buffer, row * UID_BYTES, UID_BYTES).toString('hex')}`
  }

  /** Returns the keys, uid and chain, of those rows that are already present. */
  #findKnown(bytes: Uint8Array): Set<string> {
    const prefixes = new Set<number>()
    for (let at = 0; at < bytes.length; at += ROW_BYTES) prefixes.add(readPrefix(bytes, at))
    const known = new Set<string>()
    for (let row = 0; row < this.count; row++) {
      if (!prefixes.has(readPrefix(this.uids, row * UID_BYTES)) || this.isRemoved(row)) continue
      known.add(`${this.uid(row).slice(2)} ${this.chainId(row)}`)
    }
    return known
  }

  #chainIndex(chainId: number): number {
    const index = this.chainIds.indexOf(chainId)
    return index >= 0 ? index : this.chainIds.push(chainId) - 1
  }

  #reserve(rows: number): void {
    if (rows <= this.chains.length) return
    const capacity = Math.ceil(rows * 1.05) + MIN_ROWS
    this.uids = copyInto(this.uids, new Uint8Array(capacity * UID_BYTES))
    this.chains = copyInto(this.chains, new Uint16Array(capacity))
    this.provers = copyInto(this.provers, new Uint32Array(capacity))
    this.subjects = copyInto(this.subjects, new Uint32Array(capacity))
    this.times = copyInto(this.times, new Float64Array(capacity))
    this.eventTimes = copyInto(this.eventTimes, new Float64Array(capacity))
    this.bounds = copyInto(this.bounds, new Float64Array(4 * capacity))
    this.families = copyInto(this.families, new Uint8Array(capacity))
  }
}

function copyInto<T extends { set(values: T): void }>(values: T, larger: T): T {
  larger.set(values)
  return larger
}

/** Returns the first 4 bytes of a uid as a number: comparing it rules out most other uids quickly. */
function readPrefix(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

function readKey(bytes: Uint8Array, at: number): string {
  const uid = Buffer.from(bytes.buffer, bytes.byteOffset + at, UID_BYTES).toString('hex')
  return `${uid} ${new DataView(bytes.buffer, bytes.byteOffset + at + CHAIN_AT, 8).getBigInt64(0)}`
}

/** The records of a page, newest first, and the number of records that match. */
export interface SelectedRecords {
  readonly count: number
  readonly keys: readonly { readonly uid: string; readonly chainId: number }[]
}

/**
 * Columns in memory of every record, by which lists are filtered and sorted. A filter scans a million records in a few
 * milliseconds. A record takes about 100 bytes.
 */
export class RecordColumns {
  readonly #rows: RecordRows
  /** The rows that are sorted already, from the newest to the oldest. */
  #order = new Uint32Array(0)
  /** The rank of each row in `#order`. */
  #ranks = new Uint32Array(0)
  /** Extents that were computed since the last change, by family. */
  readonly #extents = new Map<GeometryFamily | undefined, RecordExtent | undefined>()

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
    this.#extents.clear()
    this.#rows.add(bytes, mayBeKnown)
  }

  /** Removes the records with these UIDs on every chain. */
  remove(uids: readonly string[]): void {
    this.#extents.clear()
    this.#rows.remove(uids)
  }

  /** Returns the extent of the records of a family, or of all records. Undefined if there are none. */
  extent(family: GeometryFamily | undefined): RecordExtent | undefined {
    if (!this.#extents.has(family)) this.#extents.set(family, this.#measureExtent(family))
    return this.#extents.get(family)
  }

  #measureExtent(family: GeometryFamily | undefined): RecordExtent | undefined {
    const { bounds, families, eventTimes } = this.#rows
    const familyNumber = family === undefined ? -1 : FAMILY_NUMBERS[family]
    let [west, south, first] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    let [east, north, last] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (let row = 0; row < this.#rows.count; row++) {
      if (this.#rows.isRemoved(row) || (familyNumber >= 0 && families[row] !== familyNumber)) continue
      west = Math.min(west, bounds[4 * row]!)
      south = Math.min(south, bounds[4 * row + 1]!)
      east = Math.max(east, bounds[4 * row + 2]!)
      north = Math.max(north, bounds[4 * row + 3]!)
      first = Math.min(first, eventTimes[row]!)
      last = Math.max(last, eventTimes[row]!)
    }
    if (west > east) return undefined
    // A GIS takes west and east as the least and the greatest longitude, so the box does not cross the antimeridian.
    const isCrossing = east > 180
    return {
      bounds: [isCrossing ? -180 : west, south, isCrossing ? 180 : east, north],
      firstEventSeconds: first,
      lastEventSeconds: last,
    }
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
    const { chainId, prover, subject, fromSeconds, toSeconds, bbox, family } = query
    const chain = chainId === undefined ? -1 : this.#rows.chainIds.indexOf(chainId)
    const proverNumber = prover === undefined ? -1 : this.#rows.addresses.find(bytesFromHex(prover))
    const subjectNumber = subject === undefined ? -1 : this.#rows.addresses.find(bytesFromHex(subject))
    if ((chainId !== undefined && chain < 0) || proverNumber === undefined || subjectNumber === undefined) return 0
    const from = fromSeconds ?? Number.NEGATIVE_INFINITY
    const to = toSeconds ?? Number.POSITIVE_INFINITY
    const boxes = bbox === undefined ? undefined : searchBoxes(bbox)
    const familyNumber = family === undefined ? -1 : FAMILY_NUMBERS[family]
    const { chains, provers, subjects, eventTimes, families } = this.#rows
    const ranks = this.#ranks
    let count = 0
    for (let row = 0; row < this.#rows.count; row++) {
      const rowChain = chains[row]!
      if (rowChain >= REMOVED_FLAG || (chain >= 0 && rowChain !== chain)) continue
      if (familyNumber >= 0 && families[row] !== familyNumber) continue
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
