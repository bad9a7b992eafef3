import type { Notation } from '../../geometry/notation.ts'
import { peek } from './pieces.ts'
import { MAX_ITEM_CHARACTERS, parsePoint, readNotation, SourceError, type SourceItem } from './source-item.ts'

interface CsvRecord {
  readonly fields: readonly string[]
  /** Line of its first character, from 1. */
  readonly line: number
}

/**
 * Reads records of comma-separated values (RFC 4180). Quoted fields may contain separators, line ends and doubled quotes. Empty
 * lines are skipped.
 *
 * @param separator one character
 * @throws {SourceError} on an unclosed quote
 */
async function* csvRecords(
  texts: AsyncIterable<string>,
  separator: string,
): AsyncGenerator<CsvRecord, void, undefined> {
  let fields: string[] = []
  let field = ''
  let line = 1
  let startLine = 1
  let isQuoted = false
  /** True after a quote inside quotes, which either closes them or is the first of two. */
  let isAfterQuote = false
  let length = 0
  const endRecord = (): CsvRecord | undefined => {
    const isEmpty = fields.length === 0 && field.trim() === ''
    const record = { fields: [...fields, field], line: startLine }
    fields = []
    field = ''
    length = 0
    startLine = line
    return isEmpty ? undefined : record
  }
  for await (const text of texts) {
    for (const character of text) {
      if (character === '\n') line++
      if (++length > MAX_ITEM_CHARACTERS) throw new SourceError(`line ${startLine}`, 'is longer than 32 MiB')
      if (isQuoted && !isAfterQuote) {
        if (character === '"') isAfterQuote = true
        else field += character
        continue
      }
      if (isAfterQuote) {
        isAfterQuote = false
        if (character === '"') {
          field += '"'
          continue
        }
        isQuoted = false
      }
      if (character === '"' && field.trim() === '') {
        isQuoted = true
        field = ''
      } else if (character === separator) {
        fields.push(field)
        field = ''
      } else if (character === '\n') {
        const record = endRecord()
        if (record !== undefined) yield record
      } else if (character !== '\r') field += character
    }
  }
  if (isQuoted && !isAfterQuote) throw new SourceError(`line ${startLine}`, 'a quote is not closed')
  const last = endRecord()
  if (last !== undefined) yield last
}

/** Returns the separator of a header, which is the most frequent one. */
function detectSeparator(header: string): string {
  const count = (separator: string) => header.split(separator).length - 1
  return [',', ';', '\t'].reduce((best, separator) => (count(separator) > count(best) ? separator : best))
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
type InputColumns =
  | { readonly kind: 'point'; readonly lon: number; readonly lat: number }
  | { readonly kind: 'uid'; readonly column: number }
  | { readonly kind: 'text'; readonly column: number; readonly notation: Notation }

interface Columns {
  readonly names: readonly string[]
  /** Inputs by member of an operation. The key `''` is an input whose columns name no member. */
  readonly inputs: ReadonlyMap<string, InputColumns>
  readonly id: number
  readonly radius: number
}

/**
 * Reads the rows of a table with a header. A row is a point (`lon` and `lat`), a geometry (`wkt`, `wkb`, `h3`, `geohash`), an
 * attestation (`uid`), or the members of an operation (`from_lon`, `from_lat`, `to_lon`, `to_lat`), with `radius`. A column `id`
 * is returned with the result.
 *
 * @param header column names, separated by commas, for a file without a header line
 * @throws {SourceError} on a header without a known column, because the order of columns is never guessed
 */
export async function* csvItems(
  texts: AsyncIterable<string>,
  header: string | undefined,
): AsyncGenerator<SourceItem, void, undefined> {
  const { head: start, pieces: allTexts } = await peek(texts, HEADER_CHARACTERS)
  const head = start.join('')
  const separator = detectSeparator(head.slice(0, Math.max(0, head.indexOf('\n')) || head.length))
  let columns = header === undefined ? undefined : readHeader(header.split(','), 1)
  for await (const { fields, line } of csvRecords(allTexts, separator)) {
    if (columns === undefined) columns = readHeader(fields, line)
    else yield await readRow(fields, columns, line)
  }
}

function readHeader(header: readonly string[], line: number): Columns {
  const names = header.map((name) => name.trim().toLowerCase())
  const inputs = new Map<string, InputColumns>()
  for (const member of ['', ...MEMBERS]) {
    const inputColumns = findInputColumns(names, member === '' ? '' : `${member}_`)
    if (inputColumns !== undefined) inputs.set(member, inputColumns)
  }
  if (inputs.size > 1) inputs.delete('') // columns such as `geometry_wkt` take precedence
  if (inputs.size === 0) {
    const shownNames = names.slice(0, 8).map((name) => JSON.stringify(name.slice(0, 20)))
    throw new SourceError(
      `line ${line}`,
      `the header has no known geometry column, found ${shownNames.join(', ')}: name two columns lon and lat, or one wkt or uid, ` +
        'or give the names with --columns lon,lat',
    )
  }
  return { names, inputs, id: names.indexOf('id'), radius: names.indexOf('radius') }
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

async function readRow(fields: readonly string[], columns: Columns, line: number): Promise<SourceItem> {
  const { names, inputs } = columns
  const id = fields[columns.id]
  const base = { place: `line ${line}`, ...(id === undefined || id === '' ? {} : { id }) }
  if (fields.length > names.length)
    return { ...base, fault: `has ${fields.length} fields, but the header has ${names.length}` }
  const members: Record<string, unknown> = {}
  for (const [member, inputColumns] of inputs) {
    const read = await readRowInput(fields, inputColumns, names)
    if ('fault' in read) return { ...base, fault: read.fault }
    members[member] = read.value
  }
  const radius = fields[columns.radius]
  if (radius !== undefined && radius.trim() !== '') {
    if (!Number.isFinite(Number(radius)))
      return { ...base, fault: `column "radius": ${JSON.stringify(radius)} is not a number` }
    members['radius'] = Number(radius)
  }
  const isSingle = '' in members
  const value = isSingle && Object.keys(members).length === 1 ? members[''] : renameInput(members)
  return { ...base, value }
}

/** Renames the member `''` to `input`, for an input next to other members. */
function renameInput({ '': input, ...otherMembers }: Record<string, unknown>): Record<string, unknown> {
  return input === undefined ? otherMembers : { input, ...otherMembers }
}

async function readRowInput(
  fields: readonly string[],
  inputColumns: InputColumns,
  names: readonly string[],
): Promise<{ readonly value: unknown } | { readonly fault: string }> {
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
  const read = await readNotation(inputColumns.notation, text)
  return 'fault' in read ? { fault: `${columnName}: ${read.fault}` } : read
}
