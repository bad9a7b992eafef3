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
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (piece?: Uint8Array) => {
    try {
      return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true })
    } catch {
      throw new SourceError('', 'not UTF-8 text: save it as UTF-8')
    }
  }
  for await (const piece of pieces) yield decode(piece)
  const remainder = decode()
  if (remainder !== '') yield remainder
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
