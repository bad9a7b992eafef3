import { MAX_ITEM_CHARACTERS, SourceError } from './source-item.ts'

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

/** Splits a text into lines without their ends (`\n` or `\r\n`). The last line needs no end. */
export async function* splitLines(texts: AsyncIterable<string>): AsyncGenerator<Line, void, undefined> {
  let number = 0
  let remainder = ''
  for await (const piece of texts) {
    const lines = piece.split('\n')
    lines[0] = remainder + lines[0]
    remainder = lines.pop()!
    for (const text of lines) yield { text: stripCarriageReturn(text), number: ++number }
    if (remainder.length > MAX_ITEM_CHARACTERS) throw new SourceError(`line ${number + 1}`, 'is longer than 32 MiB')
  }
  if (remainder !== '') yield { text: stripCarriageReturn(remainder), number: number + 1 }
}

function stripCarriageReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text
}

/** The beginning of a text, and the whole text including it. */
export interface Peeked {
  readonly head: string
  /** True if `head` is the whole text. */
  readonly isWhole: boolean
  readonly texts: AsyncIterable<string>
}

/** Reads ahead. @param characters minimum length of the head, if the text is long enough */
export async function peek(texts: AsyncIterable<string>, characters: number): Promise<Peeked> {
  const iterator = texts[Symbol.asyncIterator]()
  const head: string[] = []
  let isWhole = false
  for (let length = 0; length < characters; ) {
    const { done, value } = await iterator.next()
    if (done === true) {
      isWhole = true
      break
    }
    head.push(value)
    length += value.length
  }
  async function* all(): AsyncGenerator<string, void, undefined> {
    try {
      yield* head
      for (;;) {
        const { done, value } = await iterator.next()
        if (done === true) return
        yield value
      }
    } finally {
      await iterator.return?.()
    }
  }
  return { head: head.join(''), isWhole, texts: all() }
}
