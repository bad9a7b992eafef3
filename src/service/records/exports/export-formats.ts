import { featureText } from '../documents.ts'
import type { ExportFormat } from '../record-services.ts'
import { COLUMNS, type ExportWriter } from './export-writer.ts'

/** UTF-16 code units per write. A client that takes this much within a request deadline is fast enough. */
const PIECE_UNITS = 65_536

/** U+001E, which precedes each record (RFC 8142, section 2). */
const SEQUENCE_MARK = '\x1e'

/** Creates the writer of an export. Libraries are loaded when the first export needs them, which keeps the start short. */
export const EXPORT_WRITERS: Readonly<Record<ExportFormat, () => ExportWriter | Promise<ExportWriter>>> = {
  ndjson: () => new TextWriter({ begin: '', write: (document) => `${document}\n`, separator: '', end: '' }),
  geojsonseq: () =>
    new TextWriter({
      begin: '',
      write: (document) => `${SEQUENCE_MARK}${featureText(document)}\n`,
      separator: '',
      end: '',
    }),
  geojson: () =>
    new TextWriter({
      begin: '{"type":"FeatureCollection","features":[\n',
      write: (document) => featureText(document),
      separator: ',\n',
      end: '\n]}\n',
    }),
  csv: () =>
    new TextWriter({
      begin: `${COLUMNS.map(({ name }) => name).join(',')}\r\n`,
      write: csvRow,
      separator: '',
      end: '',
    }),
  fgb: async () => new (await import('./flatgeobuf.ts')).FlatGeobufWriter(),
  fgbz: async () => new (await import('./flatgeobuf.ts')).FlatGeobufWriter({ hasHeights: true }),
  parquet: async () => new (await import('./geoparquet.ts')).GeoParquetWriter(),
}

/** How records become text. */
interface Layout {
  readonly begin: string
  readonly write: (document: string) => string
  readonly separator: string
  readonly end: string
}

class TextWriter implements ExportWriter {
  readonly #layout: Layout
  /** The text to write before the next record. */
  #lead: string

  constructor(layout: Layout) {
    this.#layout = layout
    this.#lead = layout.begin
  }

  *write(documents: readonly string[]): Generator<string, void, undefined> {
    const { write, separator } = this.#layout
    let piece = ''
    for (const document of documents) {
      piece += this.#lead + write(document)
      this.#lead = separator
      if (piece.length < PIECE_UNITS) continue
      yield piece
      piece = ''
    }
    if (piece !== '') yield piece
  }

  *end(): Generator<string, void, undefined> {
    const { separator, end } = this.#layout
    // Without any record, the beginning has not been written yet.
    const rest = (this.#lead === separator ? '' : this.#lead) + end
    if (rest !== '') yield rest
  }
}

/** A lone surrogate has no UTF-8 encoding. JSON can escape it, CSV cannot. */
const LONE_SURROGATE = /[\ud800-\udfff]/gu

/**
 * Spreadsheets run a field that begins with one of these characters as a formula, quoted or not. The last four are the full-width
 * forms of the first four, which spreadsheets treat alike in some languages.
 */
const FORMULA_START = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/**
 * Writes a record as a row of CSV (RFC 4180). Lists are JSON text, and null is an empty field. A text that a spreadsheet would run
 * as a formula gets an apostrophe in front, because anyone can write a text into a record.
 */
function csvRow(document: string): string {
  const record = JSON.parse(document) as Readonly<Record<string, unknown>>
  const fields = COLUMNS.map(({ name, kind }) => {
    const value = record[name] ?? ''
    const whole = typeof value === 'object' ? JSON.stringify(value) : String(value).replace(LONE_SURROGATE, '\ufffd')
    const text = kind === 'text' && FORMULA_START.test(whole) ? `'${whole}` : whole
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  })
  return `${fields.join(',')}\r\n`
}
