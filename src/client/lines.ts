import { ConnectionError } from './transport.ts'

/** Longest accepted line. A line holds one record, and even a whole page of records is smaller. */
const MAX_LINE_CHARACTERS = 32 * 1024 * 1024

/**
 * Splits text at line feeds. Yields empty lines too, and a last line without a line feed.
 *
 * @throws {ConnectionError} on a line that is too long
 */
export async function* readLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let incomplete = ''
  for await (const piece of pieces) {
    const text = decoder.decode(piece, { stream: true })
    if (!text.includes('\n')) {
      incomplete += text
      if (incomplete.length > MAX_LINE_CHARACTERS) throw new ConnectionError('a line of the response is too long')
      continue
    }
    const lines = (incomplete + text).split('\n')
    incomplete = lines.pop()!
    yield* lines
  }
  incomplete += decoder.decode()
  if (incomplete !== '') yield incomplete
}

/** Reads newline-delimited JSON. @throws {ConnectionError} on a line that is not JSON */
export async function* readJsonLines<T>(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<T, void, undefined> {
  for await (const line of readLines(pieces)) {
    if (line.trim() === '') continue
    let value: T
    try {
      value = JSON.parse(line) as T
    } catch (cause) {
      throw new ConnectionError('a line of the response is not JSON', { cause })
    }
    yield value
  }
}

/** One server-sent event. */
export interface ServerEvent {
  /** The last id that was sent; a client can resume after it. */
  readonly id: string
  readonly event: string
  readonly data: string
}

/** Reads an event stream (HTML standard, section 9.2.6). Also yields events without data, which only advance the id. */
export async function* readServerEvents(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerEvent, void, undefined> {
  let id = ''
  let event = ''
  let data: string[] = []
  for await (const raw of readLines(pieces)) {
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
