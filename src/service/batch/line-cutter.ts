const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
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
    // Without the unused space after the data, which every call would search otherwise.
    const held = this.#buffer.subarray(0, this.#end)
    while (lines.length < MAX_GROUP_LINES && lineBytes < MAX_GROUP_BYTES) {
      const end = this.#nextEnd(held)
      if (end === undefined) break
      const size = this.#skippedBytes + end - this.#start
      if (size > this.#maxLineBytes) lines.push(size)
      else {
        const line = held.subarray(this.#start, end)
        if (!isBlank(line)) {
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

function isBlank(line: Uint8Array): boolean {
  for (const byte of line) if (byte !== SPACE && byte !== RETURN && byte !== 0x09) return false
  return true
}
