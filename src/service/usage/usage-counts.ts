/**
 * Counts what each subject used, in memory, until it is stored. A row is one subject, one day of UTC and one kind of request, in 32
 * bytes besides the entry of its subject in a map; see `docs/limits.md` for what the amounts mean.
 */
import { OTHER_SUBJECTS, USAGE_AMOUNTS } from '../../wire/usage-messages.ts'

const DAY_MS = 86_400_000
/** A clock that jumps could begin any number of days. Beyond this many, what is counted belongs to the day that is open. */
const MAX_DAYS = 64

const AMOUNTS = USAGE_AMOUNTS.length
/** The amounts, and a word that links the row to an older one of its subject. */
const WORDS = AMOUNTS + 1
const CHUNK_ROWS = 1024
const MAX_AMOUNT = 2 ** 32 - 1
/** The low bits of a link are the kind of the row, the others the index of the next row plus one. */
const KIND_BITS = 6
const KIND_MASK = 2 ** KIND_BITS - 1
export const MAX_KINDS = 2 ** KIND_BITS

/** The rows of one day. Rows of one subject form a list, newest first. */
class DayRows {
  readonly day: number
  readonly #newest = new Map<string, number>()
  readonly #chunks: Uint32Array[] = []
  size = 0

  constructor(day: number) {
    this.day = day
  }

  /**
   * Adds amounts to a row if each sum fits.
   *
   * @returns false if there is no such row, or it is full
   */
  add(subject: string, kind: number, amounts: ArrayLike<number>): boolean {
    let row = this.#newest.get(subject)
    while (row !== undefined) {
      const chunk = this.#chunks[row >>> 10]!
      const start = (row & (CHUNK_ROWS - 1)) * WORDS
      const link = chunk[start + AMOUNTS]!
      if ((link & KIND_MASK) === kind) {
        for (let index = 0; index < AMOUNTS; index++)
          if (chunk[start + index]! + amounts[index]! > MAX_AMOUNT) return false
        for (let index = 0; index < AMOUNTS; index++) chunk[start + index]! += amounts[index]!
        return true
      }
      const next = link >>> KIND_BITS
      row = next === 0 ? undefined : next - 1
    }
    return false
  }

  /** Begins a row in front of the others of its subject. */
  begin(subject: string, kind: number, amounts: ArrayLike<number>): void {
    const row = this.size++
    if ((row & (CHUNK_ROWS - 1)) === 0) this.#chunks.push(new Uint32Array(CHUNK_ROWS * WORDS))
    const chunk = this.#chunks[row >>> 10]!
    const start = (row & (CHUNK_ROWS - 1)) * WORDS
    for (let index = 0; index < AMOUNTS; index++) chunk[start + index] = amounts[index]!
    const older = this.#newest.get(subject)
    chunk[start + AMOUNTS] = ((older === undefined ? 0 : older + 1) << KIND_BITS) | kind
    this.#newest.set(subject, row)
  }

  *rows(): Generator<UsageCount> {
    for (const [subject, newest] of this.#newest) {
      for (let next = newest + 1; next > 0; ) {
        const chunk = this.#chunks[(next - 1) >>> 10]!
        const start = ((next - 1) & (CHUNK_ROWS - 1)) * WORDS
        const link = chunk[start + AMOUNTS]!
        yield { subject, day: this.day, kind: link & KIND_MASK, amounts: chunk.subarray(start, start + AMOUNTS) }
        next = link >>> KIND_BITS
      }
    }
  }
}

/** What a subject used on a day, which is counted from 1970, for one kind of request. */
export interface UsageCount {
  readonly subject: string
  readonly day: number
  readonly kind: number
  /** By `USAGE_AMOUNTS`. */
  readonly amounts: Uint32Array
}

/** What was counted until a moment. It no longer changes. */
export interface SealedCounts {
  readonly rows: Iterable<UsageCount>
  /** Must be called when the rows are stored. */
  release(): void
}

export class UsageCounts {
  readonly #maxRows: number
  /** Called when half of the rows are in use, so that they are stored before the others are needed. */
  readonly #onHalfFull: () => void
  #days = new Map<number, DayRows>()
  #open: DayRows | undefined
  #openEndMs = 0
  /** Rows that are sealed and not released. */
  #sealedRows = 0
  #rows = 0
  /** Amounts that were counted for `others`, in requests. */
  #otherRequests = 0
  readonly #amounts = new Float64Array(AMOUNTS)

  /**
   * @param maxRows beyond it, further subjects are counted as `others`
   * @param onHalfFull called when half of the rows are in use and not sealed
   */
  constructor(maxRows: number, onHalfFull: () => void = () => {}) {
    this.#onHalfFull = onHalfFull
    this.#maxRows = Math.min(maxRows, 2 ** (32 - KIND_BITS) - 2 * CHUNK_ROWS)
  }

  /** Rows that wait to be stored. */
  get rows(): number {
    return this.#rows + this.#sealedRows
  }

  /** True if half of the rows are in use and not sealed. */
  get isHalfFull(): boolean {
    return this.#rows >= this.#halfRows
  }

  get #halfRows(): number {
    return Math.ceil(this.#maxRows / 2)
  }

  get otherRequests(): number {
    return this.#otherRequests
  }

  /**
   * Counts a request, or a part of one.
   *
   * @param kind below `MAX_KINDS`
   * @param atMs since the epoch; decides the day
   * @param cpuMs milliseconds, which are counted as whole microseconds
   * @param status of the response; 0 if this is not a response
   */
  add(
    subject: string,
    kind: number,
    atMs: number,
    operations: number,
    bytes: number,
    vertices: number,
    cpuMs: number,
    status: number,
  ): void {
    const amounts = this.#amounts
    amounts[0] = status === 0 ? 0 : 1
    amounts[1] = operations
    amounts[2] = Math.min(bytes, MAX_AMOUNT)
    amounts[3] = Math.min(vertices, MAX_AMOUNT)
    amounts[4] = Math.min(Math.round(cpuMs * 1000), MAX_AMOUNT)
    amounts[5] = status >= 400 && status < 500 ? 1 : 0
    amounts[6] = status >= 500 ? 1 : 0
    const day = atMs < this.#openEndMs && atMs >= this.#openEndMs - DAY_MS ? this.#open! : this.#openDay(atMs)
    if (day.add(subject, kind, amounts)) return
    if (this.rows < this.#maxRows) this.#begin(day, subject, kind)
    else {
      this.#otherRequests += amounts[0]!
      if (!day.add(OTHER_SUBJECTS, kind, amounts)) this.#begin(day, OTHER_SUBJECTS, kind)
    }
  }

  #begin(day: DayRows, subject: string, kind: number): void {
    day.begin(subject, kind, this.#amounts)
    this.#rows++
    if (this.#rows === this.#halfRows) this.#onHalfFull()
  }

  #openDay(atMs: number): DayRows {
    const number = Math.floor(atMs / DAY_MS)
    let day = this.#days.get(number)
    if (day === undefined) {
      if (this.#open !== undefined && this.#days.size >= MAX_DAYS) return this.#open
      day = new DayRows(number)
      this.#days.set(number, day)
    }
    this.#open = day
    this.#openEndMs = (number + 1) * DAY_MS
    return day
  }

  /** Takes out what was counted so far. Its rows count towards the limit until they are released. */
  seal(): SealedCounts {
    const days = this.#days
    this.#days = new Map()
    this.#open = undefined
    this.#openEndMs = 0
    this.#sealedRows += this.#rows
    const sealed = this.#rows
    this.#rows = 0
    return {
      rows: (function* () {
        for (const day of days.values()) yield* day.rows()
      })(),
      release: () => {
        this.#sealedRows -= sealed
      },
    }
  }
}
