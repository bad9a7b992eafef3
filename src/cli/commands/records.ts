/** Reads the records of a service: one page after the other, a single one, or all of them. */
import { readJsonLines } from '../../client/lines.ts'
import { createTransport, type Transport } from '../../client/transport.ts'
import { csvField } from '../csv-field.ts'
import { type ServerOptions, transportOptions } from '../options.ts'
import { createProgress, formatCount, printable, type Terminal } from '../terminal.ts'

export interface RecordsOptions extends ServerOptions {
  readonly format: RecordFormat
  readonly chain?: string
  readonly prover?: string
  readonly subject?: string
  readonly from?: string
  readonly to?: string
  readonly bbox?: string
}

export type RecordFormat = 'json' | 'geojson' | 'csv'

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

const OUTPUT_FORMATS: Readonly<Record<RecordFormat, OutputFormat>> = {
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
export async function listRecords(
  options: RecordsOptions & { readonly limit: number },
  terminal: Terminal,
): Promise<void> {
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
  await printRecords(records(), format, terminal)
  if (hasMore) {
    terminal.err(
      `${formatCount(options.limit, 'record')}; there are more: give --limit, or use trigpoint records export\n`,
    )
  }
}

/** Runs `trigpoint records get`. A single GeoJSON record is a Feature, not a collection. */
export async function getRecord(
  uid: string,
  options: Pick<RecordsOptions, 'format' | keyof ServerOptions>,
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
export async function exportRecords(options: RecordsOptions, terminal: Terminal): Promise<void> {
  const format = OUTPUT_FORMATS[options.format]
  const transport = createTransport(transportOptions(options, terminal))
  const path = `${PATH}/export?${filterQuery(options, format.export)}`
  const response = await transport.open({ method: 'GET', path }, { signal: terminal.signal })
  await printRecords(readJsonLines<object>(withoutSeparators(response.pieces())), format, terminal)
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

function filterQuery({ chain, prover, subject, from, to, bbox }: RecordsOptions, f: string): URLSearchParams {
  const members = { f, chain, prover, subject, fromTimestamp: from, toTimestamp: to, bbox: bbox?.trim() }
  return new URLSearchParams(
    Object.entries(members).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

async function printRecords(records: AsyncIterable<object>, format: OutputFormat, terminal: Terminal): Promise<void> {
  const progress = createProgress(terminal, 'record')
  let done = 0
  try {
    await print(format.start, terminal)
    for await (const record of records) {
      await print(`${done === 0 ? '' : format.separator}${format.item(record)}`, terminal)
      progress.update({ done: ++done })
    }
  } finally {
    progress.stop()
  }
  await print(`${done === 0 ? '' : '\n'}${format.end}`, terminal)
}

/** Attesters choose the texts of their records, so a terminal gets no control characters. A file gets every byte. */
async function print(text: string, terminal: Terminal): Promise<void> {
  await terminal.out(terminal.columns === undefined ? text : printable(text))
}

function csvRow(record: object): string {
  const members = record as Readonly<Record<string, unknown>>
  return CSV_COLUMNS.map((name) => csvField(members[name])).join(',')
}
