/** Reads the records of a service: one page after the other, a single one, or all of them. */
import { createWriteStream } from 'node:fs'
import { realpath, rename, rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readJsonLines } from '../../client/lines.ts'
import { createTransport, type Transport } from '../../client/transport.ts'
import { csvField } from '../csv-field.ts'
import { usage } from '../exit-codes.ts'
import { type ServerOptions, transportOptions } from '../options.ts'
import { createProgress, formatCount, type Progress, printable, type Terminal } from '../terminal.ts'

interface RecordFilters extends ServerOptions {
  readonly chain?: string
  readonly prover?: string
  readonly subject?: string
  readonly from?: string
  readonly to?: string
  readonly bbox?: string
}

export interface ListOptions extends RecordFilters {
  readonly format: TextFormat
  readonly limit: number
}

export interface ExportOptions extends RecordFilters {
  /** A further condition in CQL2. */
  readonly filter?: string
  readonly format: TextFormat | BinaryFormat
  /** A file, or `-` for standard output. */
  readonly output: string
}

/** Formats that this program writes. */
type TextFormat = 'json' | 'geojson' | 'csv'
/** Formats that the service writes. They have the same name there. */
type BinaryFormat = 'fgb' | 'fgbz' | 'parquet'

interface OutputFormat {
  /** Value of the parameter `f` of a page or a record. */
  readonly page: 'json' | 'geojson'
  /** Value of the parameter `f` of an export. */
  readonly export: 'ndjson' | 'geojsonseq'
  readonly start: string
  readonly separator: string
  readonly end: string
  item(value: object): string
}

const CSV_COLUMNS = [
  ...['uid', 'chain', 'prover', 'subject', 'timestamp', 'event_timestamp', 'longitude', 'latitude', 'location'],
  ...['location_type', 'srs', 'memo', 'recipe_types', 'recipe_payloads', 'media_types', 'media_data'],
  ...['revoked', 'finalized', 'created_at', 'updated_at'],
] as const

const OUTPUT_FORMATS: Readonly<Record<TextFormat, OutputFormat>> = {
  json: { page: 'json', export: 'ndjson', start: '', separator: '\n', end: '', item: JSON.stringify },
  geojson: {
    page: 'geojson',
    export: 'geojsonseq',
    start: '{"type":"FeatureCollection","features":[\n',
    separator: ',\n',
    end: ']}\n',
    item: JSON.stringify,
  },
  csv: {
    page: 'json',
    export: 'ndjson',
    start: `${CSV_COLUMNS.join(',')}\n`,
    separator: '\n',
    end: '',
    item: csvRow,
  },
}

const PATH = '/api/v0/location-records'
/** Largest page of the service. */
const MAX_PAGE_RECORDS = 1000

/** Runs `trigpoint records list`. Follows the `Link` of each page until `limit` records are printed. */
export async function listRecords(options: ListOptions, terminal: Terminal): Promise<void> {
  const format = OUTPUT_FORMATS[options.format]
  const transport = createTransport(transportOptions(options, terminal))
  let hasMore = false
  async function* records(): AsyncGenerator<object, void, undefined> {
    let query: URLSearchParams | undefined = filterQuery(options, format.page)
    for (let missing = options.limit; query !== undefined && missing > 0; ) {
      query.set('limit', String(Math.min(missing, MAX_PAGE_RECORDS)))
      const page = await readPage(transport, query, terminal)
      yield* page.records
      missing -= page.records.length
      query = page.next
    }
    hasMore = query !== undefined
  }
  const progress = createProgress(terminal, 'record')
  await printAll(recordTexts(records(), format, progress), terminal)
  if (hasMore) {
    terminal.err(
      `${formatCount(options.limit, 'record')}; there are more: give --limit, or use trigpoint records export\n`,
    )
  }
}

/** Runs `trigpoint records get`. A single GeoJSON record is a Feature, not a collection. */
export async function getRecord(
  uid: string,
  options: ServerOptions & { readonly format: TextFormat },
  terminal: Terminal,
): Promise<void> {
  const format = OUTPUT_FORMATS[options.format]
  const transport = createTransport(transportOptions(options, terminal))
  const path = `${PATH}/${encodeURIComponent(uid)}?f=${format.page}`
  const record = await transport.json<object>({ method: 'GET', path }, { signal: terminal.signal })
  const start = options.format === 'csv' ? format.start : ''
  await print(`${start}${format.item(record)}\n`, terminal)
}

/** Runs `trigpoint records export`. Memory does not grow with the number of records. */
export async function exportRecords(options: ExportOptions, terminal: Terminal): Promise<void> {
  const { format, output } = options
  const layout = format === 'fgb' || format === 'fgbz' || format === 'parquet' ? undefined : OUTPUT_FORMATS[format]
  if (layout === undefined && output === '-') throw usage(`--format ${format} is not text: name a file with --output`)
  const transport = createTransport(transportOptions(options, terminal))
  const path = `${PATH}/export?${filterQuery(options, layout?.export ?? format)}`
  const response = await transport.open({ method: 'GET', path }, { signal: terminal.signal })
  const progress = createProgress(terminal, layout === undefined ? 'byte' : 'record')
  const pieces =
    layout === undefined
      ? countedBytes(response.pieces(), progress)
      : recordTexts(readJsonLines<object>(withoutSeparators(response.pieces())), layout, progress)
  await (output === '-' ? printAll(pieces as AsyncIterable<string>, terminal) : writeWholeFile(output, pieces))
}

/**
 * Writes a file that appears complete or not at all. It replaces an existing file, or that to which a link leads. A device or a pipe
 * cannot be replaced and is written to.
 */
async function writeWholeFile(file: string, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  const isReplaced = await stat(file).then(
    (existing) => existing.isFile(),
    () => true,
  )
  const target = isReplaced ? await realpath(file).catch(() => file) : file
  // Not `.part`, which is the journal of a batch with the same output.
  const written = isReplaced ? `${target}.incomplete` : file
  try {
    await pipeline(Readable.from(pieces), createWriteStream(written, { flush: isReplaced }))
    if (isReplaced) await rename(written, target)
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (syscall === 'open' || syscall === 'write' || syscall === 'rename')
      throw usage(`${file}: cannot write the file (${code})`, error)
    throw error
  } finally {
    if (isReplaced) await rm(written, { force: true })
  }
}

/** Replaces the record separators of a GeoJSON text sequence (RFC 8142) with spaces. What remains is lines of JSON. */
async function* withoutSeparators(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of pieces) yield piece.map((byte) => (byte === 0x1e ? 0x20 : byte))
}

interface Page {
  readonly records: readonly object[]
  /** Query of the next page; undefined at the end. */
  readonly next: URLSearchParams | undefined
}

async function readPage(transport: Transport, query: URLSearchParams, { signal }: Terminal): Promise<Page> {
  const response = await transport.open({ method: 'GET', path: `${PATH}?${query}` }, { signal })
  const pieces: Uint8Array[] = []
  for await (const piece of response.pieces()) pieces.push(piece)
  const page = JSON.parse(Buffer.concat(pieces).toString('utf8')) as { data?: object[]; features?: object[] }
  // Only the query is used: behind a proxy, the service may not know its own address.
  const next = /<[^>?]*\?([^>]*)>\s*;[^,]*\brel="?next/.exec(response.headers.get('link') ?? '')?.[1]
  const parameters = next === undefined ? undefined : new URLSearchParams(next)
  const f = query.get('f')
  if (f !== null) parameters?.set('f', f)
  return { records: page.data ?? page.features ?? [], next: parameters }
}

function filterQuery(
  { chain, prover, subject, from, to, bbox, filter }: RecordFilters & Pick<ExportOptions, 'filter'>,
  f: string,
): URLSearchParams {
  const members = { f, chain, prover, subject, fromTimestamp: from, toTimestamp: to, bbox: bbox?.trim(), filter }
  return new URLSearchParams(
    Object.entries(members).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

/** Yields records in a format, and counts them. */
async function* recordTexts(
  records: AsyncIterable<object>,
  format: OutputFormat,
  progress: Progress,
): AsyncGenerator<string, void, undefined> {
  let done = 0
  try {
    yield format.start
    for await (const record of records) {
      yield `${done === 0 ? '' : format.separator}${format.item(record)}`
      progress.update({ done: ++done })
    }
  } finally {
    progress.stop()
  }
  yield `${done === 0 ? '' : '\n'}${format.end}`
}

async function* countedBytes(
  pieces: AsyncIterable<Uint8Array>,
  progress: Progress,
): AsyncGenerator<Uint8Array, void, undefined> {
  let done = 0
  try {
    for await (const piece of pieces) {
      yield piece
      done += piece.length
      progress.update({ done })
    }
  } finally {
    progress.stop()
  }
}

async function printAll(texts: AsyncIterable<string>, terminal: Terminal): Promise<void> {
  for await (const text of texts) await print(text, terminal)
}

/** Attesters choose the texts of their records, so a terminal gets no control characters. A file gets every byte. */
async function print(text: string, terminal: Terminal): Promise<void> {
  await terminal.out(terminal.columns === undefined ? text : printable(text))
}

function csvRow(record: object): string {
  const members = record as Readonly<Record<string, unknown>>
  return CSV_COLUMNS.map((name) => csvField(members[name])).join(',')
}
