import { MAX_ITEM_CHARACTERS, SourceError } from './source-item.ts'

/**
 * Text of bytes, without a byte order mark.
 *
 * @throws {SourceError} where they are not UTF-8
 */
export async function* textOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (piece?: Uint8Array) => {
    try {
      return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true })
    } catch {
      throw new SourceError('', 'is not UTF-8 text: save it as UTF-8')
    }
  }
  for await (const piece of pieces) yield decode(piece)
  const rest = decode()
  if (rest !== '') yield rest
}

export interface Line {
  readonly text: string
  /** From 1. */
  readonly number: number
}

/** Lines without their ends (`\n` or `\r\n`); the last one needs none. */
export async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<Line, void, undefined> {
  let number = 0
  let rest = ''
  for await (const piece of texts) {
    const lines = piece.split('\n')
    lines[0] = rest + lines[0]
    rest = lines.pop()!
    for (const text of lines) yield { text: withoutReturn(text), number: ++number }
    if (rest.length > MAX_ITEM_CHARACTERS) throw new SourceError(`line ${number + 1}`, 'is longer than 32 MiB')
  }
  if (rest !== '') yield { text: withoutReturn(rest), number: number + 1 }
}

function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text
}

/** The beginning of a text, and all of it. */
export interface Peeked {
  readonly head: string
  /** False: more comes after the head. */
  readonly isWhole: boolean
  readonly texts: AsyncIterable<string>
}

/** @param characters how many of them the head has at least, where there are so many */
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
