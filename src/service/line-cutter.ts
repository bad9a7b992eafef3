const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
/** Work for a thread that is worth a message. */
const GROUP_LINES = 256
const GROUP_BYTES = 32_768

/** Lines that travel together. */
export interface LineGroup {
  /** A number stands for a line of so many bytes, which is too long. */
  readonly lines: readonly (Uint8Array | number)[]
  /** Bytes of the stream that are done with, once these lines are: blank lines and newlines too. */
  readonly streamBytes: number
}

/**
 * Cuts pieces of a stream into lines, and lines into groups. Blank lines are dropped. A line that is too long is never held:
 * its bytes are counted and thrown away.
 */
export class LineCutter {
  readonly #maxLineBytes: number
  readonly #emit: (group: LineGroup) => void
  /** Beginning of a line whose end has not come yet; nothing of it once it is too long. */
  #rest: Uint8Array[] = []
  #restBytes = 0
  #lines: (Uint8Array | number)[] = []
  #lineBytes = 0
  #streamBytes = 0

  constructor(maxLineBytes: number, emit: (group: LineGroup) => void) {
    this.#maxLineBytes = maxLineBytes
    this.#emit = emit
  }

  /** @param bytes stay valid */
  take(bytes: Uint8Array): void {
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      this.#endLine(bytes.subarray(start, end))
      this.#streamBytes++
      if (this.#lines.length >= GROUP_LINES || this.#lineBytes >= GROUP_BYTES) this.#flush()
      start = end + 1
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start))
    // What is complete does not wait for more: a slow sender gets its answers.
    this.#flush()
  }

  /** The last line may lack its newline. */
  end(): void {
    if (this.#restBytes > 0) this.#endLine(new Uint8Array(0))
    this.#flush()
  }

  #keep(bytes: Uint8Array): void {
    this.#restBytes += bytes.byteLength
    this.#rest.push(bytes)
    if (this.#restBytes <= this.#maxLineBytes) return
    for (const part of this.#rest) this.#streamBytes += part.byteLength
    this.#rest = []
  }

  #endLine(tail: Uint8Array): void {
    const size = this.#restBytes + tail.byteLength
    const held = this.#rest
    const line = held.length === 0 ? tail : Buffer.concat([...held, tail])
    this.#streamBytes += line.byteLength
    this.#rest = []
    this.#restBytes = 0
    if (size > this.#maxLineBytes) this.#lines.push(size)
    else if (!isBlank(line)) {
      this.#lines.push(line)
      this.#lineBytes += size
    }
  }

  #flush(): void {
    if (this.#lines.length === 0 && this.#streamBytes === 0) return
    const group = { lines: this.#lines, streamBytes: this.#streamBytes }
    this.#lines = []
    this.#lineBytes = 0
    this.#streamBytes = 0
    this.#emit(group)
  }
}

function isBlank(line: Uint8Array): boolean {
  for (const byte of line) if (byte !== SPACE && byte !== RETURN && byte !== 0x09) return false
  return true
}
