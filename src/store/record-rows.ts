import { AddressTable } from './address-table.ts'
import { bytesOf } from './record-conditions.ts'

/** One record as it comes from the database: uid, chain, prover, subject, block time, event time, bounds; big-endian. */
const ROW_BYTES = 32 + 8 + 20 + 20 + 8 + 8 + 32
export const UID_BYTES = 32
const CHAIN_AT = UID_BYTES
const PROVER_AT = CHAIN_AT + 8
const SUBJECT_AT = PROVER_AT + 20
const TIME_AT = SUBJECT_AT + 20
const BOUNDS_AT = TIME_AT + 16
/** Beside the chain of a row whose record is gone. */
export const GONE = 0x8000
const MIN_ROWS = 1024

/** Columns of all records, a row each, in the order in which they came. */
export class RecordRows {
  readonly addresses = new AddressTable()
  /** By the number that stands in `chains`. */
  readonly chainIds: number[] = []
  /** Rows, those of records that are gone as well. */
  count = 0
  gone = 0
  uids = new Uint8Array(MIN_ROWS * UID_BYTES)
  chains = new Uint16Array(MIN_ROWS)
  provers = new Uint32Array(MIN_ROWS)
  subjects = new Uint32Array(MIN_ROWS)
  times = new Float64Array(MIN_ROWS)
  eventTimes = new Float64Array(MIN_ROWS)
  /** West, south, east, north of each. */
  bounds = new Float64Array(4 * MIN_ROWS)

  /** @param expected rows that room is made for at once */
  constructor(expected: number) {
    this.#reserve(expected)
  }

  /**
   * @param bytes rows of `ROW_BYTES`
   * @param mayBeKnown whether some of the records may be here already; each stays once
   */
  add(bytes: Uint8Array, mayBeKnown: boolean): void {
    const count = bytes.length / ROW_BYTES
    const known = mayBeKnown ? this.#known(bytes) : undefined
    this.#reserve(this.count + count)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    for (let i = 0; i < count; i++) {
      const at = i * ROW_BYTES
      if (known?.has(keyAt(bytes, at))) continue
      const row = this.count++
      this.uids.set(bytes.subarray(at, at + UID_BYTES), row * UID_BYTES)
      this.chains[row] = this.#ordinalOf(Number(view.getBigInt64(at + CHAIN_AT)))
      this.provers[row] = this.addresses.add(bytes, at + PROVER_AT)
      this.subjects[row] = this.addresses.add(bytes, at + SUBJECT_AT)
      this.times[row] = Number(view.getBigInt64(at + TIME_AT))
      this.eventTimes[row] = Number(view.getBigInt64(at + TIME_AT + 8))
      // A box is sent with its upper right corner first.
      this.bounds[4 * row] = view.getFloat64(at + BOUNDS_AT + 16)
      this.bounds[4 * row + 1] = view.getFloat64(at + BOUNDS_AT + 24)
      this.bounds[4 * row + 2] = view.getFloat64(at + BOUNDS_AT)
      this.bounds[4 * row + 3] = view.getFloat64(at + BOUNDS_AT + 8)
    }
  }

  /** Takes the records of these uids out, on whichever chain they are. */
  remove(uids: readonly string[]): void {
    const wanted = new Set(uids.map((uid) => uid.slice(2)))
    const starts = new Set(uids.map((uid) => startAt(bytesOf(uid), 0)))
    for (let row = 0; row < this.count; row++) {
      if (!starts.has(startAt(this.uids, row * UID_BYTES)) || this.isGone(row)) continue
      if (!wanted.has(this.uidOf(row).slice(2))) continue
      this.chains[row]! |= GONE
      this.gone++
    }
  }

  /** Newest first, then by uid and chain, the larger first. */
  compare(a: number, b: number): number {
    const byTime = this.times[b]! - this.times[a]!
    if (byTime !== 0) return byTime
    for (let i = 0; i < UID_BYTES; i++) {
      const byUid = this.uids[b * UID_BYTES + i]! - this.uids[a * UID_BYTES + i]!
      if (byUid !== 0) return byUid
    }
    return this.chainOf(b) - this.chainOf(a)
  }

  chainOf(row: number): number {
    return this.chainIds[this.chains[row]! & ~GONE]!
  }

  isGone(row: number): boolean {
    return this.chains[row]! >= GONE
  }

  uidOf(row: number): string {
    return `0x${Buffer.from(this.uids.buffer, row * UID_BYTES, UID_BYTES).toString('hex')}`
  }

  /** Which of some rows are here already, by uid and chain. */
  #known(bytes: Uint8Array): Set<string> {
    const starts = new Set<number>()
    for (let at = 0; at < bytes.length; at += ROW_BYTES) starts.add(startAt(bytes, at))
    const known = new Set<string>()
    for (let row = 0; row < this.count; row++) {
      if (!starts.has(startAt(this.uids, row * UID_BYTES)) || this.isGone(row)) continue
      known.add(`${this.uidOf(row).slice(2)} ${this.chainOf(row)}`)
    }
    return known
  }

  #ordinalOf(chainId: number): number {
    const found = this.chainIds.indexOf(chainId)
    return found >= 0 ? found : this.chainIds.push(chainId) - 1
  }

  #reserve(rows: number): void {
    if (rows <= this.chains.length) return
    const capacity = Math.ceil(rows * 1.05) + MIN_ROWS
    this.uids = enlarge(this.uids, new Uint8Array(capacity * UID_BYTES))
    this.chains = enlarge(this.chains, new Uint16Array(capacity))
    this.provers = enlarge(this.provers, new Uint32Array(capacity))
    this.subjects = enlarge(this.subjects, new Uint32Array(capacity))
    this.times = enlarge(this.times, new Float64Array(capacity))
    this.eventTimes = enlarge(this.eventTimes, new Float64Array(capacity))
    this.bounds = enlarge(this.bounds, new Float64Array(4 * capacity))
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
