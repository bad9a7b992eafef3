import { createReadStream } from 'node:fs'
import { extname } from 'node:path'
import { usage } from '../exit-codes.ts'
import type { Terminal } from '../terminal.ts'
import { csvItems } from './csv-source.ts'
import type { Format } from './formats.ts'
import { gpxItems } from './gpx-source.ts'
import { isJsonLines, jsonItems, jsonLineItems } from './json-source.ts'
import { isWkt, readNotation } from './place-text.ts'
import { SourceError, type SourceItem } from './source-item.ts'
import { linesOf, peek, textOf } from './text.ts'

export interface SourceOptions {
  /** What the text is; seen from the name and the beginning when absent. */
  readonly format?: Format | undefined
  /** Names of the columns of a table without a header. */
  readonly columns?: string | undefined
}

const EXTENSIONS: Readonly<Record<string, Format>> = {
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.geojsonl': 'ndjson',
  '.geojsons': 'ndjson',
  '.csv': 'csv',
  '.tsv': 'csv',
  '.gpx': 'gpx',
  '.wkt': 'wkt',
}
const HEAD_CHARACTERS = 65_536

/**
 * Everything in a text, one after the other, whatever its size.
 *
 * @param name of the file, for the format and for messages
 * @throws {CommandError} on what is wrong with the text as a whole
 */
export async function* sourceItems(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
  options: SourceOptions = {},
): AsyncGenerator<SourceItem, void, undefined> {
  try {
    const { head, texts } = await peek(textOf(pieces), HEAD_CHARACTERS)
    const format = options.format ?? EXTENSIONS[extname(name).toLowerCase()] ?? formatOf(head)
    yield* readers[format](texts, options)
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    throw usage(`${name}: ${error.message}`, error)
  }
}

const readers: Readonly<
  Record<Format, (texts: AsyncIterable<string>, options: SourceOptions) => AsyncIterable<SourceItem>>
> = {
  json: jsonItems,
  ndjson: jsonLineItems,
  csv: (texts, { columns }) => csvItems(texts, columns),
  gpx: gpxItems,
  wkt: wktItems,
}

function formatOf(head: string): Format {
  const start = head.trimStart()
  if (start.startsWith('<')) return 'gpx'
  if (start.startsWith('{') || start.startsWith('[')) return isJsonLines(head) ? 'ndjson' : 'json'
  return isWkt(start) ? 'wkt' : 'csv'
}

/** One geometry a line. */
async function* wktItems(texts: AsyncIterable<string>): AsyncGenerator<SourceItem, void, undefined> {
  for await (const { text, number } of linesOf(texts)) {
    if (text.trim() === '') continue
    yield { place: `line ${number}`, ...(await readNotation('wkt', text.trim())) }
  }
}

/**
 * Bytes of a file, or of standard input for `-`.
 *
 * @throws {CommandError} when it cannot be read
 */
export async function* bytesOf(file: string, terminal: Terminal): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* file === '-' ? terminal.input : createReadStream(file, { signal: terminal.signal })
  } catch (error) {
    if (terminal.signal.aborted) throw terminal.signal.reason
    const { code, message } = error as NodeJS.ErrnoException
    throw usage(`${file}: ${code === 'ENOENT' ? missing(file) : code === 'EISDIR' ? 'is a folder' : message}`, error)
  }
}

/** Of `2.29 48.86` each number comes as an input of its own, and none of them is a file. */
function missing(file: string): string {
  return /^[-+]?\d+(?:\.\d+)?,?$/.test(file) ? 'no such file; a point is one word: lon,lat' : 'no such file'
}
