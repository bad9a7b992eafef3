const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
/** Work for a thread that is worth a message. */
const GROUP_LINES = 256
const GROUP_BYTES = 32_768
/** A piece from this size on is not copied when nothing waits before it; smaller ones share a buffer. */
const OWN_BUFFER_BYTES = 4096

/** Lines that travel together. */
export interface LineGroup {
  /** A number stands for a line of so many bytes, which is too long. */
  readonly lines: readonly (Uint8Array | number)[]
  /** Bytes of the stream that are done with, once these lines are: blank lines and newlines too. */
  readonly streamBytes: number
}

/**
 * Cuts pieces of a stream into lines, and lines into groups, when asked for the next one: what is not asked for stays bytes
 * in one buffer, at most twice as large, in however small pieces it came. Blank lines are dropped. A line that is too long
 * is never held: its bytes are counted and thrown away.
 */
export class LineCutter {
  readonly #maxLineBytes: number
  /** Bytes [start, end) are to be cut, [start, searched) hold no newline. What was given away is never written again. */
  #buffer: Uint8Array = new Uint8Array(0)
  #start = 0
  #searched = 0
  #end = 0
  /** Bytes thrown away of a line that has not ended. */
  #skippedBytes = 0
  #isEnded = false

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes
  }

  /** @param bytes stay valid */
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

  /** The last line may lack its newline. */
  end(): void {
    this.#isEnded = true
  }

  /** Whole lines, as many as are worth a message or there are; undefined when there are none. */
  next(): LineGroup | undefined {
    const lines: (Uint8Array | number)[] = []
    let lineBytes = 0
    let streamBytes = 0
    // Not the room behind it: every call would search all of that.
    const held = this.#buffer.subarray(0, this.#end)
    while (lines.length < GROUP_LINES && lineBytes < GROUP_BYTES) {
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
    const restBytes = this.#end - this.#start
    const isWhollySearched = this.#searched === this.#end
    if (isWhollySearched && this.#skippedBytes + restBytes > this.#maxLineBytes) streamBytes += this.#skip()
    return lines.length === 0 && streamBytes === 0 ? undefined : { lines, streamBytes }
  }

  /** Where the first line ends, if it does. */
  #nextEnd(held: Uint8Array): number | undefined {
    const found = held.indexOf(NEWLINE, this.#searched)
    if (found >= 0) return found
    this.#searched = this.#end
    return this.#isEnded && this.#skippedBytes + this.#end - this.#start > 0 ? this.#end : undefined
  }

  /** @returns bytes of an unfinished line that nobody will read */
  #skip(): number {
    const bytes = this.#end - this.#start
    this.#skippedBytes += bytes
    this.#start = this.#end
    this.#searched = this.#end
    return bytes
  }

  /** Another buffer with what is held: of twice the size, so that many small pieces are not copied again for each. */
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
