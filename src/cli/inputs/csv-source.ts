import { parseDecimal } from '../../base/decimal.ts'
import type { Notation } from '../../geometry/notation.ts'
import { formatCount } from '../terminal.ts'
import { peek } from './pieces.ts'
import {
  loadNotationReader,
  MAX_ITEM_CHARACTERS,
  type NotationReader,
  notANumber,
  parsePoint,
  SourceError,
  type SourceItem,
} from './source-item.ts'

export interface CsvRecord {
  readonly fields: readonly string[]
  /** Line of its first character, from 1. */
  readonly line: number
}

const QUOTE = 0x22
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/**
 * Splits text into records of comma-separated values (RFC 4180). Quoted fields may contain separators, line ends and doubled
 * quotes. Empty lines are skipped.
 */
class CsvCutter {
  readonly #separator: string
  readonly #separatorCode: number
  #fields: string[] = []
  #field = ''
  /** Line at the end of the text so far, and line of the first character of the open record. */
  #line = 1
  #startLine = 1
  #isQuoted = false
  /** True after a quote inside quotes, which either closes them or is the first of two. */
  #isAfterQuote = false
  /** Characters of the open record. */
  #length = 0

  /** @param separator one character */
  constructor(separator: string) {
    this.#separator = separator
    this.#separatorCode = separator.charCodeAt(0)
  }

  /** Returns the records that end in `text`. @throws {SourceError} on a record that is too long */
  push(text: string): CsvRecord[] {
    const records: CsvRecord[] = []
    for (let index = 0; index < text.length; ) {
      if (this.#isQuoted && !this.#isAfterQuote) {
        index = this.#pushQuoted(text, index)
        continue
      }
      const next = this.#pushPlainLine(text, index, records)
      if (next !== undefined) {
        index = next
        continue
      }
      const code = text.charCodeAt(index)
      if (this.#isAfterQuote) {
        this.#isAfterQuote = false
        this.#isQuoted = code === QUOTE
      }
      if (code === QUOTE && (this.#isQuoted || this.#field.trim() === '')) {
        // The second of two quotes is one quote of the field; any other opens the field.
        this.#field = this.#isQuoted ? `${this.#field}"` : ''
        this.#isQuoted = true
        index = this.#advance(index, index + 1)
      } else if (code === this.#separatorCode) {
        this.#fields.push(this.#field)
        this.#field = ''
        index = this.#advance(index, index + 1)
      } else if (code === LINE_FEED) {
        this.#line++
        const record = this.#endRecord()
        if (record !== undefined) records.push(record)
        index++
      } else if (code === CARRIAGE_RETURN) index++
      else {
        const end = this.#endOfPlain(text, index)
        this.#field += text.slice(index, end)
        index = this.#advance(index, end)
      }
    }
    return records
  }

  /** Returns the last record if it has no line end. @throws {SourceError} on an unclosed quote */
  end(): CsvRecord | undefined {
    if (this.#isQuoted && !this.#isAfterQuote) throw new SourceError(`line ${this.#startLine}`, 'a quote is not closed')
    return this.#endRecord()
  }

  /**
   * Takes a whole line without quotes, which needs no look at each character.
   *
   * @returns the index after it; undefined if the text there is not such a line
   */
  #pushPlainLine(text: string, start: number, records: CsvRecord[]): number | undefined {
    if (this.#length > 0) return undefined
    const lineFeed = text.indexOf('\n', start)
    if (lineFeed < 0 || lineFeed - start > MAX_ITEM_CHARACTERS) return undefined
    const line = text.slice(start, text.charCodeAt(lineFeed - 1) === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed)
    if (line.includes('"') || line.includes('\r')) return undefined
    const fields = line.split(this.#separator)
    if (fields.length > 1 || fields[0]!.trim() !== '') records.push({ fields, line: this.#line })
    this.#startLine = ++this.#line
    return lineFeed + 1
  }

  /** Takes text inside quotes, up to the next quote. Returns the index after it. */
  #pushQuoted(text: string, start: number): number {
    const quote = text.indexOf('"', start)
    const end = quote < 0 ? text.length : quote
    for (let at = text.indexOf('\n', start); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) this.#line++
    this.#field += text.slice(start, end)
    this.#isAfterQuote = quote >= 0
    return this.#advance(start, quote < 0 ? end : end + 1)
  }

  /** Returns the end of the characters that have no meaning of their own. The first of them is at `start`. */
  #endOfPlain(text: string, start: number): number {
    for (let index = start + 1; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code === this.#separatorCode || code === LINE_FEED || code === CARRIAGE_RETURN || code === QUOTE) return index
    }
    return text.length
  }

  #advance(start: number, end: number): number {
    this.#length += end - start
    if (this.#length > MAX_ITEM_CHARACTERS) throw new SourceError(`line ${this.#startLine}`, 'is longer than 32 MiB')
    return end
  }

  /** Returns undefined for an empty line. */
  #endRecord(): CsvRecord | undefined {
    const isEmpty = this.#fields.length === 0 && this.#field.trim() === ''
    this.#fields.push(this.#field)
    const record = { fields: this.#fields, line: this.#startLine }
    this.#fields = []
    this.#field = ''
    this.#length = 0
    this.#startLine = this.#line
    return isEmpty ? undefined : record
  }
}

/**
 * Returns the separator of a table: the one that splits its first line into as many fields as there are names, or else the most
 * frequent one. The first line may have decimal commas between semicolons.
 */
function detectSeparator(firstLine: string, names: readonly string[] | undefined): string {
  const count = (separator: string) => firstLine.split(separator).length
  const fitting = [';', '\t', ','].find(
    (separator) => names !== undefined && names.length > 1 && count(separator) === names.length,
  )
  return fitting ?? [',', ';', '\t'].reduce((best, one) => (count(one) > count(best) ? one : best))
}

/** Column names, in lower case. */
const LONGITUDE = ['lon', 'lng', 'long', 'longitude', 'x']
const LATITUDE = ['lat', 'latitude', 'y']
const TEXT_COLUMNS: readonly (readonly [names: readonly string[], notation: Notation])[] = [
  [['wkt', 'geometry', 'geom', 'the_geom'], 'wkt'],
  [['wkb'], 'wkb'],
  [['h3'], 'h3'],
  [['geohash'], 'geohash'],
]
/** Members of an operation that may be the prefix of a column: `from_lon`. */
const MEMBERS = ['from', 'to', 'geometry', 'target', 'container', 'containee', 'geometry1', 'geometry2']
const HEADER_CHARACTERS = 65_536

/** Where a row holds one input: in a pair of columns, or in one column. */
export type InputColumns =
  | { readonly kind: 'point'; readonly lon: number; readonly lat: number }
  | { readonly kind: 'uid'; readonly column: number }
  | { readonly kind: 'text'; readonly column: number; readonly notation: Notation }

/** The columns of a table. */
export interface Columns {
  /** Names as the header has them. */
  readonly header: readonly string[]
  /** True if the names are those of `--columns`. */
  readonly areGiven: boolean
  /** Names in lower case, without spaces around them. */
  readonly names: readonly string[]
  /** Inputs by member of an operation. The key `''` is an input whose columns name no member. */
  readonly inputs: ReadonlyMap<string, InputColumns>
  /** Undefined if no input is text. */
  readonly readText: NotationReader | undefined
  readonly id: number
  readonly radius: number
}

/** Reads the rows of a table as items. The parameters and the columns are those of `csvRecords`. */
export async function* csvItems(
  texts: AsyncIterable<string>,
  columnNames: string | undefined,
): AsyncGenerator<SourceItem[], void, undefined> {
  for await (const { columns, records } of csvRecords(texts, columnNames))
    yield records.map((record) => readRow(record, columns))
}

/**
 * Splits a table with a header into its rows. A row is a point (`lon` and `lat`), a geometry (`wkt`, `wkb`, `h3`, `geohash`), an
 * attestation (`uid`), or the members of an operation (`from_lon`, `from_lat`, `to_lon`, `to_lat`), with `radius`. A column `id`
 * is returned with the result.
 *
 * @param columnNames column names, separated by commas, for a file without a header line
 * @throws {SourceError} on a header without a known column, because the order of columns is never guessed
 */
export async function* csvRecords(
  texts: AsyncIterable<string>,
  columnNames: string | undefined,
): AsyncGenerator<{ readonly columns: Columns; readonly records: readonly CsvRecord[] }, void, undefined> {
  const { head: start, pieces: allTexts } = await peek(texts, HEADER_CHARACTERS)
  const head = start.join('')
  const names = columnNames?.split(',')
  const cutter = new CsvCutter(detectSeparator(head.slice(0, Math.max(0, head.indexOf('\n')) || head.length), names))
  let columns: Columns | undefined
  const withColumns = async (records: CsvRecord[]) => {
    if (columns === undefined && records.length > 0) {
      columns = await readHeader(names ?? records[0]!.fields, names === undefined ? records[0]!.line : undefined)
      if (names === undefined) records.shift()
      else requireColumns(columns, records[0]!)
    }
    return { columns: columns!, records }
  }
  for await (const text of allTexts) {
    const records = cutter.push(text)
    if (records.length > 0) yield await withColumns(records)
  }
  const last = cutter.end()
  if (last !== undefined) yield await withColumns([last])
}

/** Checks that the first row has the columns that `--columns` names. @throws {SourceError} that lists its fields */
function requireColumns({ names, inputs }: Columns, { fields, line }: CsvRecord): void {
  const needed = [...inputs.values()].flatMap((input) =>
    input.kind === 'point' ? [input.lon, input.lat] : [input.column],
  )
  const isHeader = needed.every((column) => names[column] === fields[column]?.trim().toLowerCase())
  const absent = needed.filter((column) => column >= fields.length).map((column) => JSON.stringify(names[column]))
  if (!isHeader && absent.length === 0 && fields.length <= names.length) return
  const found = `line ${line} has ${formatCount(fields.length, 'field')}: ${shown(fields)}`
  throw new SourceError(
    '',
    isHeader
      ? `line ${line} is a header: leave out --columns, which is for files without one`
      : absent.length > 0
        ? `--columns names ${absent.join(' and ')}, but ${found}`
        : `--columns names ${formatCount(names.length, 'column')}, but ${found}; name every column of the file in its order, or leave out --columns if the file has a header`,
  )
}

function shown(names: readonly string[]): string {
  return names
    .slice(0, 8)
    .map((name) => JSON.stringify(name.slice(0, 20)))
    .join(', ')
}

/** @param line line of the header; undefined if the names are those of `--columns` */
async function readHeader(header: readonly string[], line: number | undefined): Promise<Columns> {
  const names = header.map((name) => name.trim().toLowerCase())
  const inputs = new Map<string, InputColumns>()
  for (const member of ['', ...MEMBERS]) {
    const inputColumns = findInputColumns(names, member === '' ? '' : `${member}_`)
    if (inputColumns !== undefined) inputs.set(member, inputColumns)
  }
  if (inputs.size > 1) inputs.delete('') // columns such as `geometry_wkt` take precedence
  if (inputs.size === 0) {
    const where = line === undefined ? '--columns has' : `line ${line}: the header has`
    throw new SourceError(
      '',
      `${where} no known geometry column, found ${shown(names)}: name two columns lon and lat, or one wkt or uid` +
        `${line === undefined ? '' : ', or give the names with --columns lon,lat if the file has no header'}`,
    )
  }
  const readText = [...inputs.values()].some(({ kind }) => kind === 'text') ? await loadNotationReader() : undefined
  return {
    header,
    areGiven: line === undefined,
    names,
    inputs,
    readText,
    id: names.indexOf('id'),
    radius: names.indexOf('radius'),
  }
}

function findInputColumns(names: readonly string[], prefix: string): InputColumns | undefined {
  const find = (known: readonly string[]) => names.findIndex((name) => known.some((one) => name === prefix + one))
  const [lon, lat, uid] = [find(LONGITUDE), find(LATITUDE), find(['uid'])]
  if (lon >= 0 && lat >= 0) return { kind: 'point', lon, lat }
  for (const [known, notation] of TEXT_COLUMNS) {
    const column = find(known)
    if (column >= 0) return { kind: 'text', column, notation }
  }
  return uid >= 0 ? { kind: 'uid', column: uid } : undefined
}

/** Reads a row as an item. */
export function readRow(record: CsvRecord, columns: Columns): SourceItem {
  const { fields, line } = record
  const { header, areGiven, names, inputs } = columns
  const id = fields[columns.id]
  const row = { columns: header, fields }
  const base = { place: `line ${line}`, row, ...(id === undefined || id === '' ? {} : { id }) }
  if (fields.length > names.length) {
    const hint = ': quote a field that contains the separator, and write numbers with a decimal point'
    const expected = areGiven ? `--columns names ${names.length}` : `the header has ${names.length}`
    return { ...base, fault: `has ${fields.length} fields, but ${expected}${hint}` }
  }
  const members: Record<string, unknown> = {}
  for (const [member, inputColumns] of inputs) {
    const read = readRowInput(fields, inputColumns, columns)
    if ('fault' in read) return { ...base, fault: `${read.fault}${headerHint(record, inputColumns, areGiven)}` }
    members[member] = read.value
  }
  const radius = fields[columns.radius]
  if (radius !== undefined && radius.trim() !== '') {
    const radiusMeters = parseDecimal(radius)
    if (radiusMeters === undefined) return { ...base, fault: `column "radius": ${notANumber(radius, '500')}` }
    members['radius'] = radiusMeters
  }
  const isSingle = '' in members
  const value = isSingle && Object.keys(members).length === 1 ? members[''] : renameInput(members)
  return { ...base, value }
}

/** Returns a hint if `--columns` made an item of what is probably a header: the coordinates of the first line have no digit. */
function headerHint({ fields, line }: CsvRecord, columns: InputColumns, areGiven: boolean): string {
  if (!areGiven || line !== 1 || columns.kind !== 'point') return ''
  const isText = [fields[columns.lon], fields[columns.lat]].every((text = '') => /^[^\d]+$/.test(text.trim()))
  return isText ? '; this looks like a header: remove the line, or rename its columns and leave out --columns' : ''
}

/** Renames the member `''` to `input`, for an input next to other members. */
function renameInput({ '': input, ...otherMembers }: Record<string, unknown>): Record<string, unknown> {
  return input === undefined ? otherMembers : { input, ...otherMembers }
}

function readRowInput(
  fields: readonly string[],
  inputColumns: InputColumns,
  { names, readText }: Columns,
): { readonly value: unknown } | { readonly fault: string } {
  if (inputColumns.kind === 'point') {
    const [lon, lat] = [fields[inputColumns.lon] ?? '', fields[inputColumns.lat] ?? '']
    const point = parsePoint(lon, lat)
    if ('value' in point) return point
    const column = point.fault.startsWith('longitude') ? inputColumns.lon : inputColumns.lat
    return { fault: `column ${JSON.stringify(names[column])}: ${point.fault}` }
  }
  const text = (fields[inputColumns.column] ?? '').trim()
  const columnName = `column ${JSON.stringify(names[inputColumns.column])}`
  if (inputColumns.kind === 'uid') {
    return /^0x[0-9a-fA-F]{64}$/.test(text)
      ? { value: { uid: text } }
      : { fault: `${columnName}: not a UID (0x and 64 hex digits)` }
  }
  const read = readText!(inputColumns.notation, text)
  return 'fault' in read ? { fault: `${columnName}: ${read.fault}` } : read
}
