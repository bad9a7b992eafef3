/** What a bounded number of clients have used in their current hours, in 60 bytes for each client (decision 155). */
import { randomFillSync } from 'node:crypto'
import { KeyedHash } from './keyed-hash.ts'

/** Each client has two hours, which begin and end independently: one for its requests, and one for its costs. */
export type HourNumber = typeof REQUESTS | typeof COSTS
export const REQUESTS = 0
export const COSTS = 1

const CHUNK_BITS = 12
const CHUNK_ROWS = 2 ** CHUNK_BITS

// The words of a row. The hash of the client is in the first two.
const LOW = 0
const HIGH = 1
/** The next row of the same bucket. */
const CHAINED = 2
/** The row that was begun before, and the one that was begun after. Free rows are linked by the second. */
const OLDER = 3
const NEWER = 4
/** The ends of both hours in Unix seconds; 0 if there was none. */
const ENDS = 5
const COUNT = 7
const WORDS = 8
/** Costs of a row. They may have fractions or exceed 32 bits. */
const AMOUNTS = 3

/**
 * Hours of clients, in rows of numbers. Row 0 stands for no row.
 *
 * Clients are found by a keyed hash of 64 bits and not by their names, which would take more memory than all else. Two of a million clients
 * have the same hash, and then share a row, with a probability of 3 in 100 million.
 *
 * All hours have the same length, so the order in which they began is the order of their ends. Of two hours of a client the later one
 * counts. When the table is full, the client whose hour began first is forgotten. This bounds the memory; the price is that this client
 * begins a new hour early.
 */
export class HourTable {
  readonly #maxRows: number
  /** The hash of the client that was looked up last, and of the one before: a request looks up its client and its address several times. */
  #hash: KeyedHash
  #hashBefore: KeyedHash
  /** The first row of each bucket. The operating system gives a page of it only when it is used. */
  readonly #buckets: Uint32Array
  readonly #words: Uint32Array[] = []
  readonly #amounts: Float64Array[] = []
  #size = 0
  /** Rows that were ever used, including row 0. */
  #rows = 1
  #free = 0
  #oldest = 0
  #newest = 0

  /** @param maxSubjects number of clients, at most 2³¹ */
  constructor(maxSubjects: number) {
    this.#maxRows = maxSubjects
    const key = randomFillSync(new Uint32Array(2))
    this.#hash = new KeyedHash(key)
    this.#hashBefore = new KeyedHash(key)
    this.#buckets = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(1, maxSubjects))))
  }

  /** Number of clients. */
  get size(): number {
    return this.#size
  }

  /** Returns the row of a client; 0 if there is none. */
  find(subject: number | string): number {
    const { low, high } = this.#hashOf(subject)
    let row = this.#buckets[this.#bucketOf(low)]!
    while (row !== 0) {
      const words = this.#wordsOf(row)
      const start = startOf(row)
      if (words[start + LOW] === low && words[start + HIGH] === high) return row
      row = words[start + CHAINED]!
    }
    return 0
  }

  /** Returns the row of a client whose hour has not ended; 0 if there is none. */
  findOpen(subject: number | string, hour: HourNumber, nowMs: number): number {
    const row = this.find(subject)
    return row !== 0 && this.endSeconds(row, hour) * 1000 > nowMs ? row : 0
  }

  /**
   * Begins the next hour of a client. What it has used in the other hour stays.
   *
   * @param endSeconds Unix seconds, not before the ends of hours that have begun
   * @returns the row, whose counts are those of the hour before or of another client
   */
  begin(subject: number | string, hour: HourNumber, endSeconds: number, nowMs: number): number {
    const known = this.find(subject)
    if (known !== 0) {
      this.#unlink(known)
      this.#append(known)
      this.setEnd(known, hour, endSeconds)
      this.#forgetExpired(nowMs)
      return known
    }
    this.#forgetExpired(nowMs)
    if (this.#size >= this.#maxRows) this.#forgetOldest()
    const row = this.#add()
    this.setEnd(row, hour, endSeconds)
    return row
  }

  /** Returns the end of an hour in Unix seconds; 0 if the client never began this one. */
  endSeconds(row: number, hour: HourNumber): number {
    return this.#wordsOf(row)[startOf(row) + ENDS + hour]!
  }

  setEnd(row: number, hour: HourNumber, endSeconds: number): void {
    this.#wordsOf(row)[startOf(row) + ENDS + hour] = endSeconds
  }

  /** Returns the requests that were counted: a whole number below 2³². */
  count(row: number): number {
    return this.#wordsOf(row)[startOf(row) + COUNT]!
  }

  setCount(row: number, count: number): void {
    this.#wordsOf(row)[startOf(row) + COUNT] = count
  }

  /** Returns one of three costs. */
  amount(row: number, index: number): number {
    return this.#amounts[row >>> CHUNK_BITS]![(row & (CHUNK_ROWS - 1)) * AMOUNTS + index]!
  }

  setAmount(row: number, index: number, amount: number): void {
    this.#amounts[row >>> CHUNK_BITS]![(row & (CHUNK_ROWS - 1)) * AMOUNTS + index] = amount
  }

  /** Returns what tells whether a row still belongs to the same client: it is another number for others, and changes when they are forgotten. */
  ownerOf(row: number): number {
    const words = this.#wordsOf(row)
    const start = startOf(row)
    // 53 bits, so that it is exact.
    return words[start + LOW]! + (words[start + HIGH]! >>> 11) * 2 ** 32
  }

  #hashOf(subject: number | string): KeyedHash {
    if (this.#hash.value === subject) return this.#hash
    const hash = this.#hashBefore
    this.#hashBefore = this.#hash
    this.#hash = hash
    if (hash.value !== subject) hash.update(subject)
    return hash
  }

  #wordsOf(row: number): Uint32Array {
    return this.#words[row >>> CHUNK_BITS]!
  }

  #bucketOf(low: number): number {
    return low & (this.#buckets.length - 1)
  }

  /** Adds a row for the client that was looked up last. */
  #add(): number {
    const row = this.#take()
    const words = this.#wordsOf(row)
    const start = startOf(row)
    const { low, high } = this.#hash
    const bucket = this.#bucketOf(low)
    words[start + LOW] = low
    words[start + HIGH] = high
    words[start + CHAINED] = this.#buckets[bucket]!
    words[start + ENDS] = 0
    words[start + ENDS + 1] = 0
    this.#buckets[bucket] = row
    this.#append(row)
    this.#size++
    return row
  }

  /** Returns an unused row. */
  #take(): number {
    const free = this.#free
    if (free !== 0) {
      this.#free = this.#wordsOf(free)[startOf(free) + NEWER]!
      return free
    }
    const row = this.#rows++
    if (row >>> CHUNK_BITS === this.#words.length) {
      this.#words.push(new Uint32Array(CHUNK_ROWS * WORDS))
      this.#amounts.push(new Float64Array(CHUNK_ROWS * AMOUNTS))
    }
    return row
  }

  /** Forgets up to two clients whose hours have ended: the table shrinks faster than it grows, and no request pays for a long scan. */
  #forgetExpired(nowMs: number): void {
    for (let forgotten = 0; forgotten < 2 && this.#oldest !== 0; forgotten++) {
      const endSeconds = Math.max(this.endSeconds(this.#oldest, REQUESTS), this.endSeconds(this.#oldest, COSTS))
      if (endSeconds * 1000 > nowMs) return
      this.#forgetOldest()
    }
  }

  #forgetOldest(): void {
    const row = this.#oldest
    const words = this.#wordsOf(row)
    const start = startOf(row)
    this.#unlink(row)
    const bucket = this.#bucketOf(words[start + LOW]!)
    let at = this.#buckets[bucket]!
    if (at === row) this.#buckets[bucket] = words[start + CHAINED]!
    else {
      while (this.#wordsOf(at)[startOf(at) + CHAINED] !== row) at = this.#wordsOf(at)[startOf(at) + CHAINED]!
      this.#wordsOf(at)[startOf(at) + CHAINED] = words[start + CHAINED]!
    }
    words.fill(0, start, start + WORDS)
    words[start + NEWER] = this.#free
    this.#free = row
    this.#size--
  }

  #append(row: number): void {
    const words = this.#wordsOf(row)
    const start = startOf(row)
    words[start + OLDER] = this.#newest
    words[start + NEWER] = 0
    if (this.#newest === 0) this.#oldest = row
    else this.#wordsOf(this.#newest)[startOf(this.#newest) + NEWER] = row
    this.#newest = row
  }

  #unlink(row: number): void {
    const words = this.#wordsOf(row)
    const start = startOf(row)
    const older = words[start + OLDER]!
    const newer = words[start + NEWER]!
    if (older === 0) this.#oldest = newer
    else this.#wordsOf(older)[startOf(older) + NEWER] = newer
    if (newer === 0) this.#newest = older
    else this.#wordsOf(newer)[startOf(newer) + OLDER] = older
  }
}

/** Returns the place of a row in its chunk. */
function startOf(row: number): number {
  return (row & (CHUNK_ROWS - 1)) * WORDS
}

/** Objects for one of the hours of each client, where numbers in the row are not enough. */
export class HourObjects<T extends { readonly endSeconds: number }> {
  readonly #table: HourTable
  readonly #hour: HourNumber
  /** By row. An object stays until another client gets its row. */
  readonly #objects: T[] = []

  constructor(table: HourTable, hour: HourNumber) {
    this.#table = table
    this.#hour = hour
  }

  /** Returns the object of an hour that has not ended; undefined if there is none. */
  peek(subject: number | string, nowMs: number): T | undefined {
    const row = this.#table.find(subject)
    if (row === 0 || this.#table.endSeconds(row, this.#hour) === 0) return undefined
    const object = this.#objects[row]!
    return object.endSeconds * 1000 > nowMs ? object : undefined
  }

  /** Begins the next hour of a client that has none, or whose hour has ended. */
  begin(subject: number | string, nowMs: number, object: T): T {
    this.#objects[this.#table.begin(subject, this.#hour, object.endSeconds, nowMs)] = object
    return object
  }
}
