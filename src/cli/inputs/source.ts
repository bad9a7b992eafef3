import { createReadStream } from 'node:fs'
import { basename, extname } from 'node:path'
import { usage } from '../exit-codes.ts'
import type { Terminal } from '../terminal.ts'
import { csvItems } from './csv-source.ts'
import { isJsonLines, jsonItems, jsonLineItems } from './json-source.ts'
import { decodeText, peek, splitLines } from './pieces.ts'
import { type Format, isWkt, loadNotationReader, SourceError, type SourceItem } from './source-item.ts'

export interface SourceOptions {
  /** Format of the text. If absent, it is detected from the name and the beginning. */
  readonly format?: Format | undefined
  /** Column names of a table without a header. */
  readonly columns?: string | undefined
}

/** Options of a source that should hold one item. */
export interface OneItemOptions extends SourceOptions {
  /** Returns what to do with several, for the error. By default, to select one. */
  readonly severalHint?: ((file: string) => string) | undefined
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
/** Formats that are not read, with their names. GDAL converts them. */
const OTHER_FORMATS: Readonly<Record<string, string>> = {
  '.gpkg': 'a GeoPackage',
  '.shp': 'a Shapefile',
  '.fgb': 'FlatGeobuf',
  '.kml': 'KML',
  '.gml': 'GML',
}
const HEAD_CHARACTERS = 65_536
/**
 * Large enough that reading takes little time, small enough that Ctrl-C is noticed soon, and that the garbage collector copies few
 * of the rows of a table.
 */
const READ_BYTES = 65_536

/** Reads all items of a text as a stream. Parameters and errors are those of `sourceGroups`. */
export async function* sourceItems(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
  options: SourceOptions = {},
): AsyncGenerator<SourceItem, void, undefined> {
  for await (const items of sourceGroups(pieces, name, options)) yield* items
}

/**
 * Reads all items of a text as a stream. Yields the items that end in one piece of the text together, because a step of an
 * asynchronous generator for each item took as long as computing its result.
 *
 * @param name name of the file, for the format and for messages
 * @throws {CommandError} on an error after which the text cannot be read
 */
export async function* sourceGroups(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
  options: SourceOptions = {},
): AsyncGenerator<readonly SourceItem[], void, undefined> {
  requireKnownFormat(name, options)
  async function* groups() {
    const { head, pieces: texts } = await peek(decodeText(pieces), HEAD_CHARACTERS)
    yield* READERS[sourceFormat(name, head.join(''), options)](texts, options)
  }
  yield* withFileName(name, groups())
}

/** Yields what a reader of a file yields, and adds the name of the file to its errors. */
export async function* withFileName<T>(name: string, all: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  try {
    yield* all
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    throw usage(`${name}: ${error.message}`, error)
  }
}

const READERS: Readonly<
  Record<Format, (texts: AsyncIterable<string>, options: SourceOptions) => AsyncIterable<readonly SourceItem[]>>
> = {
  json: jsonItems,
  ndjson: jsonLineItems,
  csv: (texts, { columns }) => csvItems(texts, columns),
  async *gpx(texts) {
    const { gpxItems } = await import('./gpx-source.ts')
    yield* gpxItems(texts)
  },
  wkt: wktItems,
}

/** How GDAL converts a file to a format that is read, and the extensions that need no conversion. */
const CONVERSIONS = {
  // A table of results has the columns of the input; lines of JSON have only the id of a feature.
  items: { extension: '.csv', gdalOptions: '-f CSV -t_srs EPSG:4326 -lco GEOMETRY=AS_WKT', read: '' },
  features: { extension: '.geojsonl', gdalOptions: '-f GeoJSONSeq -t_srs EPSG:4326', read: '.fgb' },
}

/**
 * @param use what the file is read for: items of a batch, or features with their properties
 * @throws {CommandError} if the name is that of a format that is not read
 */
export function requireKnownFormat(
  name: string,
  { format }: SourceOptions,
  use: keyof typeof CONVERSIONS = 'items',
): void {
  const { extension, gdalOptions, read } = CONVERSIONS[use]
  const found = extname(name).toLowerCase()
  const other = OTHER_FORMATS[found]
  if (other === undefined || found === read || format !== undefined) return
  const converted = `${basename(name, extname(name))}${extension}`
  throw usage(`${name}: is ${other}, which is not read; convert it: ogr2ogr ${gdalOptions} ${converted} ${name}`)
}

/**
 * Returns the format of a text: the given one, or that of the file's name, or the one that the text begins like.
 *
 * @param head the first `HEAD_CHARACTERS` of the text
 * @throws {CommandError} if the name is that of a format that is not read
 */
export function sourceFormat(name: string, head: string, options: SourceOptions): Format {
  requireKnownFormat(name, options)
  return options.format ?? EXTENSIONS[extname(name).toLowerCase()] ?? detectFormat(head)
}

function detectFormat(head: string): Format {
  const start = head.trimStart()
  if (start.startsWith('<')) return 'gpx'
  if (start.startsWith('{') || start.startsWith('[')) return isJsonLines(head) ? 'ndjson' : 'json'
  return isWkt(start) ? 'wkt' : 'csv'
}

/** Reads one geometry per line. */
async function* wktItems(texts: AsyncIterable<string>): AsyncGenerator<SourceItem[], void, undefined> {
  const read = await loadNotationReader()
  for await (const lines of splitLines(texts)) {
    const filled = lines.filter(({ text }) => text.trim() !== '')
    yield filled.map(({ text, number }) => ({ place: `line ${number}`, ...read('wkt', text.trim()) }))
  }
}

/**
 * Reads the bytes of a file, or of standard input for `-`.
 *
 * @throws {CommandError} if it cannot be read
 */
export async function* readFileBytes(file: string, terminal: Terminal): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* file === '-'
      ? terminal.input
      : createReadStream(file, { signal: terminal.signal, highWaterMark: READ_BYTES })
  } catch (error) {
    if (terminal.signal.aborted) throw terminal.signal.reason
    const { code, message } = error as NodeJS.ErrnoException
    throw usage(
      `${file}: ${code === 'ENOENT' ? missingFileText(file) : code === 'EISDIR' ? 'is a folder' : message}`,
      error,
    )
  }
}

/** Explains a missing file. In `2.29 48.86` each number is a separate argument, which would be read as a file name. */
export function missingFileText(file: string): string {
  return /^[-+]?\d+(?:\.\d+)?,?$/.test(file) ? 'no such file; write a point as lon,lat without a space' : 'no such file'
}
