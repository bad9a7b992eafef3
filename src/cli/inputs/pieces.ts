import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { MAX_ITEM_CHARACTERS, SourceError } from './source-item.ts'

/**
 * Reads ahead until the pieces together have at least `length` bytes or characters, or the stream ends.
 *
 * @returns those pieces, and the whole stream including them
 */
export async function peek<T extends string | Uint8Array>(all: AsyncIterable<T>, length: number) {
  const iterator = all[Symbol.asyncIterator]()
  const head: T[] = []
  for (let size = 0; size < length; size += head.at(-1)!.length) {
    const { done, value } = await iterator.next()
    if (done === true) break
    head.push(value)
  }
  async function* pieces(): AsyncGenerator<T, void, undefined> {
    try {
      yield* head
      yield* { [Symbol.asyncIterator]: () => iterator }
    } finally {
      await iterator.return?.()
    }
  }
  return { head, pieces: pieces() }
}

/** How much of a stream was read, and the hash of it. */
export interface ReadBytes {
  readonly bytes: number
  readonly sha256: string
}

/**
 * Wraps a stream to count and hash what is read of it.
 *
 * @param before what an earlier run read of the stream
 * @param onMismatch called if the stream begins with other bytes; must throw
 */
export function countedBytes(all: AsyncIterable<Uint8Array>, before: ReadBytes | undefined, onMismatch: () => never) {
  const hash = createHash('sha256')
  let bytes = 0
  async function* pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of all) {
      const remaining = before === undefined ? 0 : before.bytes - bytes
      const reachesEnd = remaining > 0 && remaining <= piece.length
      if (reachesEnd && hash.copy().update(piece.subarray(0, remaining)).digest('hex') !== before!.sha256) onMismatch()
      hash.update(piece)
      bytes += piece.length
      yield piece
    }
    if (before !== undefined && bytes < before.bytes) onMismatch()
  }
  // Until this run has passed the end of the earlier one, the next run has to compare with the earlier one.
  const read = (): ReadBytes =>
    before !== undefined && bytes < before.bytes ? before : { bytes, sha256: hash.copy().digest('hex') }
  return { pieces: pieces(), read, bytes: () => bytes }
}

/**
 * Decodes UTF-8 and removes a byte order mark.
 *
 * @throws {SourceError} on invalid UTF-8
 */
export async function* decodeText(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let rest: Uint8Array = new Uint8Array(0)
  let isStart = true
  for await (const piece of pieces) {
    const bytes = rest.length === 0 ? toBuffer(piece) : Buffer.concat([rest, piece])
    const end = endOfCharacters(bytes)
    rest = bytes.subarray(end)
    if (end === 0) continue
    const text = requireUtf8(bytes.subarray(0, end)).toString('utf8')
    yield isStart && text.startsWith('\ufeff') ? text.slice(1) : text
    isStart = false
  }
  requireUtf8(rest)
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Returns the end of the last complete character. A character has at most four bytes. */
function endOfCharacters(bytes: Uint8Array): number {
  for (let count = 1; count <= Math.min(3, bytes.length); count++) {
    const byte = bytes[bytes.length - count]!
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    return length > count ? bytes.length - count : bytes.length
  }
  return bytes.length
}

function requireUtf8<T extends Uint8Array>(bytes: T): T {
  if (isUtf8(bytes)) return bytes
  throw new SourceError('', 'not UTF-8 text: save it as UTF-8')
}

/** Where a line is in the bytes of several lines, without its line end. */
export interface LineRange {
  readonly start: number
  readonly end: number
  /** Line number, from 1. */
  readonly number: number
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/**
 * Splits a text into lines as `splitLines` does, but does not decode them. Yields the lines that end in one piece together.
 *
 * @throws {SourceError} on invalid UTF-8, and on a line that is too long
 */
export async function* byteLines(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly bytes: Buffer; readonly lines: readonly LineRange[] }, void, undefined> {
  let open: Uint8Array[] = []
  let openBytes = 0
  let number = 0
  const cut = (bytes: Buffer): LineRange[] => {
    requireUtf8(bytes)
    const lines: LineRange[] = []
    const hasMark = number === 0 && BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte)
    for (let start = hasMark ? BYTE_ORDER_MARK.length : 0; start < bytes.length; ) {
      const lineFeed = bytes.indexOf(LINE_FEED, start)
      const next = lineFeed < 0 ? bytes.length : lineFeed + 1
      const end = lineFeed < 0 ? bytes.length : lineFeed
      const hasReturn = end > start && bytes[end - 1] === CARRIAGE_RETURN
      lines.push({ start, end: hasReturn ? end - 1 : end, number: ++number })
      start = next
    }
    return lines
  }
  for await (const piece of pieces) {
    const end = piece.lastIndexOf(LINE_FEED) + 1
    if (end > 0) {
      const bytes = Buffer.concat([...open, piece.subarray(0, end)])
      yield { bytes, lines: cut(bytes) }
      open = []
      openBytes = 0
    }
    open.push(piece.subarray(end))
    openBytes += piece.length - end
    if (openBytes > MAX_ITEM_CHARACTERS) throw new SourceError(`line ${number + 1}`, 'is longer than 32 MiB')
  }
  const bytes = Buffer.concat(open)
  yield { bytes, lines: cut(bytes) }
}

export interface Line {
  readonly text: string
  /** Line number, from 1. */
  readonly number: number
}

/**
 * Splits a text into lines without their ends (`\n` or `\r\n`). The last line needs no end. Yields the lines that end in one piece
 * of the text together.
 */
export async function* splitLines(texts: AsyncIterable<string>): AsyncGenerator<Line[], void, undefined> {
  let number = 0
  let remainder = ''
  for await (const piece of texts) {
    const lines = piece.split('\n')
    lines[0] = remainder + lines[0]
    remainder = lines.pop()!
    yield lines.map((text) => ({ text: stripCarriageReturn(text), number: ++number }))
    if (remainder.length > MAX_ITEM_CHARACTERS) throw new SourceError(`line ${number + 1}`, 'is longer than 32 MiB')
  }
  if (remainder !== '') yield [{ text: stripCarriageReturn(remainder), number: number + 1 }]
}

function stripCarriageReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text
}
