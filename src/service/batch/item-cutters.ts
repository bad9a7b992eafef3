/** Cuts the bytes of a batch into items without parsing them: a JSON batch at its commas, a stream at its newlines. */

import { setImmediate } from 'node:timers/promises'
import { ProblemError } from '../../base/problem.ts'
import { chargeTime, type RequestContext } from '../request.ts'

/** A JSON document that was split into the items of one list, or the members of one object, without parsing them. */
export interface SplitBatch {
  /** The body with an empty list or object in place of the items. */
  readonly envelope: Uint8Array
  /** Item i is bytes [starts[i], ends[i]) of the body. */
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  readonly count: number
}

export const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const SPACE = 0x20

/** For each byte value, 1 if the byte affects the structure. Most bytes are digits, which this table skips with one check. */
const IS_STRUCTURAL = new Uint8Array(256)
for (const byte of [QUOTE, COMMA, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET]) IS_STRUCTURAL[byte] = 1

/** Bytes that are searched at a time, in less than a millisecond. The largest body takes a hundred times as long. */
const SLICE_BYTES = 65_536

/**
 * Finds the items of `{"…": …, "items": [ … ]}` by counting brackets, slice by slice of the body. A thread parses each item later, and
 * the caller parses the envelope.
 *
 * Invalid JSON between two commas becomes an item, and the thread rejects that item. If `items` appears twice, only the first
 * list is taken out, and the envelope still contains both names.
 */
export class BatchSplitter {
  readonly #body: Uint8Array
  readonly #maxItems: number
  readonly #tooMany: (maxItems: number) => ProblemError
  readonly #name: Buffer
  readonly #opening: number
  #starts = new Uint32Array(256)
  #ends = new Uint32Array(256)
  #count = 0
  /** Where the search continues. */
  #offset = 0
  #depth = 0
  /** Offset of the bracket that opens the list; undefined until it is found. */
  #listOffset: number | undefined
  /** Offset of the item that is searched now. */
  #start = 0
  /** The items; undefined while they are searched, or if there is no such list. */
  result: SplitBatch | undefined

  /**
   * @param name of the member that holds the list
   * @param opening the first byte of its value: with `OPEN_BRACE` it is an object, whose members are the items
   * @param tooMany makes the problem of a list with more than `maxItems`
   */
  constructor(
    body: Uint8Array,
    maxItems: number,
    name = 'items',
    opening = OPEN_BRACKET,
    tooMany: (maxItems: number) => ProblemError = tooManyItems,
  ) {
    this.#body = body
    this.#maxItems = maxItems
    this.#tooMany = tooMany
    this.#name = Buffer.from(name)
    this.#opening = opening
  }

  /**
   * Searches the next slice of the body.
   *
   * @returns true at the end of the search
   * @throws {ProblemError} `bad-request` for more than `maxItems` items
   */
  searchSlice(): boolean {
    const sliceEnd = Math.min(this.#offset + SLICE_BYTES, this.#body.length)
    if (this.#listOffset === undefined) this.#findList(sliceEnd)
    if (this.#listOffset !== undefined) this.#splitList(sliceEnd)
    return this.result !== undefined || this.#offset >= this.#body.length
  }

  #findList(sliceEnd: number): void {
    const body = this.#body
    const name = this.#name
    let depth = this.#depth
    let offset = this.#offset
    for (; offset < sliceEnd; offset++) {
      const byte = body[offset]!
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--
      else if (byte === QUOTE) {
        const end = endOfString(body, offset)
        const isName = depth === 1 && end - offset - 1 === name.length && name.equals(body.subarray(offset + 1, end))
        offset = end
        if (!isName) continue
        const colon = skipBlank(body, end + 1)
        if (body[colon] !== COLON) continue
        const bracket = skipBlank(body, colon + 1)
        if (body[bracket] !== this.#opening) continue
        this.#listOffset = bracket
        this.#start = bracket + 1
        offset = bracket + 1
        depth = 1
        break
      }
    }
    this.#depth = depth
    this.#offset = offset
  }

  #splitList(sliceEnd: number): void {
    const body = this.#body
    let depth = this.#depth
    let offset = this.#offset
    for (; offset < sliceEnd; offset++) {
      const byte = body[offset]!
      if (IS_STRUCTURAL[byte] === 0) continue
      if (byte === QUOTE) offset = endOfString(body, offset)
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (--depth > 0) continue
        this.#finish(offset)
        return
      } else if (byte === COMMA && depth === 1) {
        this.#add(offset)
        this.#start = offset + 1
      }
    }
    this.#depth = depth
    this.#offset = offset
  }

  /** @param end offset of the bracket that closes the list */
  #finish(end: number): void {
    const body = this.#body
    if (this.#count > 0 || !isBlank(body, this.#start, end)) this.#add(end)
    const envelope = Buffer.concat([body.subarray(0, this.#listOffset! + 1), body.subarray(end)])
    this.result = { envelope, starts: this.#starts, ends: this.#ends, count: this.#count }
  }

  #add(end: number): void {
    if (this.#count === this.#maxItems) throw this.#tooMany(this.#maxItems)
    if (this.#count === this.#starts.length) {
      this.#starts = enlarged(this.#starts)
      this.#ends = enlarged(this.#ends)
    }
    this.#starts[this.#count] = this.#start
    this.#ends[this.#count++] = end
  }
}

/**
 * Searches a body to its end. Other requests have their turn after each slice. The client is charged for the time.
 *
 * @returns undefined if there is no such list
 */
export async function runSlices(
  splitter: BatchSplitter,
  context: Pick<RequestContext, 'costs'>,
): Promise<SplitBatch | undefined> {
  while (!chargeTime(context, () => splitter.searchSlice())) await setImmediate()
  return splitter.result
}

/** Returns the offset of the closing quote, or an offset past the last byte if the quote is missing. */
export function endOfString(body: Uint8Array, quote: number): number {
  let offset = quote + 1
  for (; offset < body.length; offset++) {
    const byte = body[offset]
    if (byte === BACKSLASH) offset++
    else if (byte === QUOTE) return offset
  }
  return offset
}

export function skipBlank(body: Uint8Array, from: number): number {
  let offset = from
  while (offset < body.length && body[offset]! <= SPACE) offset++
  return offset
}

function isBlank(body: Uint8Array, from: number, to: number): boolean {
  return skipBlank(body.subarray(0, to), from) === to
}

function enlarged(list: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * list.length)
  larger.set(list)
  return larger
}

function tooManyItems(maxItems: number): ProblemError {
  const detail = `more than ${maxItems} items`
  return new ProblemError({
    type: 'bad-request',
    detail,
    invalidParts: [
      {
        pointer: '#/items',
        detail,
        code: 'too-many-items',
        hint: 'send several batches, or NDJSON, which has no limit',
      },
    ],
  })
}

const NEWLINE = 0x0a
const RETURN = 0x0d
/** Limits of a group: enough work to be worth a message to a thread. */
const MAX_GROUP_LINES = 256
const MAX_GROUP_BYTES = 32_768
/** Pieces of at least this size are not copied if the buffer is empty. Smaller pieces share a buffer. */
const OWN_BUFFER_BYTES = 4096

/** Lines that go to a thread in one message. */
export interface LineGroup {
  /** A number is the byte length of a line that was too long. */
  readonly lines: readonly (Uint8Array | number)[]
  /** Bytes of the stream that these lines account for, with newlines and blank lines. */
  readonly streamBytes: number
}

/**
 * Cuts a stream into lines, and lines into groups. It cuts a group only when `next` is called. Uncut bytes stay in one buffer of
 * at most twice their size, however small the pieces were in which they arrived. Blank lines are dropped. A line that is too long
 * is never held: its bytes are counted and discarded.
 */
export class LineCutter {
  readonly #maxLineBytes: number
  /** Bytes [start, end) are uncut, and [start, searched) hold no newline. Bytes of returned lines are never overwritten. */
  #buffer: Uint8Array = new Uint8Array(0)
  #start = 0
  #searched = 0
  #end = 0
  /** Number of bytes discarded from a line that has not ended yet. */
  #skippedBytes = 0
  #isEnded = false

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes
  }

  /** @param bytes must not change afterwards: returned lines may be views of them */
  take(bytes: Uint8Array): void {
    const heldBytes = this.#end - this.#start
    if (heldBytes === 0 && bytes.byteLength >= OWN_BUFFER_BYTES) {
      this.#buffer = bytes
      this.#start = 0
      this.#searched = 0
      this.#end = bytes.byteLength
      return
    }
    if (this.#end + bytes.byteLength > this.#buffer.byteLength) this.#grow(heldBytes, bytes.byteLength)
    this.#buffer.set(bytes, this.#end)
    this.#end += bytes.byteLength
  }

  /** Marks the end of the stream. The last line may lack its newline. */
  end(): void {
    this.#isEnded = true
  }

  /** Returns the next group of complete lines, or undefined if there is none. */
  next(): LineGroup | undefined {
    const lines: (Uint8Array | number)[] = []
    let lineBytes = 0
    let streamBytes = 0
    // Excludes the unused space after the data, so that no call searches it.
    const held = this.#buffer.subarray(0, this.#end)
    while (lines.length < MAX_GROUP_LINES && lineBytes < MAX_GROUP_BYTES) {
      const end = this.#nextEnd(held)
      if (end === undefined) break
      const size = this.#skippedBytes + end - this.#start
      if (size > this.#maxLineBytes) lines.push(size)
      else {
        const line = held.subarray(this.#start, end)
        if (!isBlankLine(line)) {
          lines.push(line)
          lineBytes += size
        }
      }
      // The end of the stream ends a line without a newline.
      const next = Math.min(end + 1, this.#end)
      streamBytes += next - this.#start
      this.#start = next
      this.#searched = next
      this.#skippedBytes = 0
    }
    const remainingBytes = this.#end - this.#start
    const isFullySearched = this.#searched === this.#end
    if (isFullySearched && this.#skippedBytes + remainingBytes > this.#maxLineBytes) streamBytes += this.#skip()
    return lines.length === 0 && streamBytes === 0 ? undefined : { lines, streamBytes }
  }

  /** Returns the offset at which the first line ends, or undefined if it is incomplete. */
  #nextEnd(held: Uint8Array): number | undefined {
    const newline = held.indexOf(NEWLINE, this.#searched)
    if (newline >= 0) return newline
    this.#searched = this.#end
    return this.#isEnded && this.#skippedBytes + this.#end - this.#start > 0 ? this.#end : undefined
  }

  /** Discards the held bytes of a line that is already too long. @returns their number */
  #skip(): number {
    const bytes = this.#end - this.#start
    this.#skippedBytes += bytes
    this.#start = this.#end
    this.#searched = this.#end
    return bytes
  }

  /** Moves the held bytes to a buffer of twice their size, so that many small pieces do not each cause a copy. */
  #grow(heldBytes: number, moreBytes: number): void {
    const buffer = new Uint8Array(Math.max(heldBytes + moreBytes, 2 * heldBytes, OWN_BUFFER_BYTES))
    buffer.set(this.#buffer.subarray(this.#start, this.#end))
    this.#searched -= this.#start
    this.#buffer = buffer
    this.#start = 0
    this.#end = heldBytes
  }
}

function isBlankLine(line: Uint8Array): boolean {
  for (const byte of line) if (byte !== SPACE && byte !== RETURN && byte !== 0x09) return false
  return true
}
