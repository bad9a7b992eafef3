import { ConnectionError } from './api-error.ts'

/** No line of an answer is longer: a record has at most what a page has. */
const MAX_LINE_CHARACTERS = 32 * 1024 * 1024

/**
 * Text cut at line feeds, empty lines included; a last line without one as well.
 *
 * @throws {ConnectionError} on a line without end
 */
export async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of pieces) {
    const text = decoder.decode(piece, { stream: true })
    if (!text.includes('\n')) {
      rest += text
      if (rest.length > MAX_LINE_CHARACTERS) throw new ConnectionError('a line of the answer has no end')
      continue
    }
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    yield* lines
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}

/** Values of newline-delimited JSON. @throws {ConnectionError} on a line that is none */
export async function* valuesOf<T>(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<T, void, undefined> {
  for await (const line of linesOf(pieces)) {
    if (line.trim() === '') continue
    let value: T
    try {
      value = JSON.parse(line) as T
    } catch (cause) {
      throw new ConnectionError('a line of the answer is no JSON', { cause })
    }
    yield value
  }
}

/** One server-sent event. */
export interface ServerEvent {
  /** To go on from after a break; the last one sent. */
  readonly id: string
  readonly event: string
  readonly data: string
}

/** The event stream format of the HTML standard, section 9.2.6. Events without data only move the id. */
export async function* eventsOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  let id = ''
  let event = ''
  let data: string[] = []
  for await (const raw of linesOf(pieces)) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
    if (line === '') {
      yield { id, event: event === '' ? 'message' : event, data: data.join('\n') }
      event = ''
      data = []
      continue
    }
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!
    if (name === 'id') id = value
    else if (name === 'event') event = value
    else if (name === 'data') data.push(value)
  }
}
