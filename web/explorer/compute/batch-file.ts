/** Reads a CSV or GeoJSON file as the rows of a batch, and writes the rows with their results in both formats. */
import { checkShape } from '../../../src/geometry/check-shape.ts'
import type { BatchResult, Geometry } from '../../../src/types/generated.ts'
import { readPosition } from '../geo/position-text.ts'
import { readText } from '../geo/read-text.ts'

export interface BatchRow {
  readonly name: string
  /** The cells of the CSV row, or the properties of the feature. */
  readonly properties: Readonly<Record<string, unknown>>
  /** Undefined if the row has no usable geometry; `problem` then says why. */
  readonly geometry: Geometry | undefined
  readonly problem: string | undefined
}

export type BatchFile =
  | { readonly ok: true; readonly rows: readonly BatchRow[] }
  | { readonly ok: false; readonly reason: string }

export const MAX_ROWS = 10_000
const LATITUDES = ['latitude', 'lat', 'y']
const LONGITUDES = ['longitude', 'lon', 'lng', 'long', 'x']
const SHAPES = ['wkt', 'geojson', 'geometry', 'geom', 'position', 'coordinates']
const NAMES = ['name', 'title', 'label', 'id']

/** @returns the rows, or a `reason` that says what the file needs; no text makes it throw */
export function readBatchFile(text: string, maxRows = MAX_ROWS): BatchFile {
  const trimmed = text.replace(/^\uFEFF/, '').trim()
  const file = trimmed.startsWith('{') ? readGeoJson(trimmed) : readCsv(trimmed)
  if (!file.ok) return file
  if (file.rows.length === 0) return { ok: false, reason: 'The file has no rows.' }
  if (file.rows.length > maxRows)
    return { ok: false, reason: `The file has ${file.rows.length} rows; this page takes at most ${maxRows}.` }
  return file
}

function readGeoJson(text: string): BatchFile {
  let value: { type?: unknown; features?: unknown; geometry?: unknown; properties?: unknown }
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { ok: false, reason: `The file is not valid JSON: ${(error as Error).message}` }
  }
  const features = value.type === 'FeatureCollection' && Array.isArray(value.features) ? value.features : [value]
  const rows = features.map((feature, index) => {
    const isFeature = feature?.type === 'Feature'
    const properties = (isFeature ? feature.properties : undefined) ?? {}
    return rowOf(properties, index, isFeature ? feature.geometry : feature)
  })
  return { ok: true, rows }
}

function readCsv(text: string): BatchFile {
  const [header = [], ...lines] = parseCsv(text)
  const columnOf = (names: readonly string[]) => header.findIndex((title) => names.includes(title.trim().toLowerCase()))
  const [latitude, longitude, shape] = [columnOf(LATITUDES), columnOf(LONGITUDES), columnOf(SHAPES)]
  if ((latitude < 0 || longitude < 0) && shape < 0) {
    const reason =
      'A CSV file needs a first row with the columns latitude and longitude, or a column wkt. GeoJSON needs neither.'
    return { ok: false, reason }
  }
  const rows = lines.map((cells, index) => {
    const properties = Object.fromEntries(header.map((title, at) => [title.trim(), cells[at] ?? '']))
    if (shape >= 0) {
      const read = readText(cells[shape] ?? '')
      return rowOf(properties, index, read.ok ? read.input : undefined, read.ok ? undefined : read.reason)
    }
    // The columns say which number is which.
    const read = readPosition(`lat ${cells[latitude]}, lon ${cells[longitude]}`)
    if (read?.kind === 'position') return rowOf(properties, index, { type: 'Point', coordinates: [...read.position] })
    return rowOf(properties, index, undefined, read?.kind === 'invalid' ? read.reason : 'The row has no coordinates.')
  })
  return { ok: true, rows }
}

function rowOf(
  properties: Readonly<Record<string, unknown>>,
  index: number,
  value: unknown,
  problem?: string,
): BatchRow {
  const key = Object.keys(properties).find((title) => NAMES.includes(title.toLowerCase()))
  const given = key === undefined ? '' : String(properties[key] ?? '')
  const read = problem === undefined ? checkShape(value) : undefined
  return {
    name: given === '' ? `Row ${index + 1}` : given,
    properties,
    geometry: read?.ok === true ? (read.geometry as Geometry) : undefined,
    problem: read?.ok === false ? `This ${read.reason}.` : problem,
  }
}

/** Splits CSV (RFC 4180). The separator is a semicolon or a tab if the first line has more of them than commas. */
export function parseCsv(text: string): string[][] {
  const [first = ''] = text.split('\n', 1)
  const count = (sign: string) => first.split(sign).length
  const separator = [',', ';', '\t'].reduce((best, sign) => (count(sign) > count(best) ? sign : best))
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!
    if (isQuoted) {
      if (sign !== '"') cell += sign
      else if (text[at + 1] === '"') cell += text[++at]
      else isQuoted = false
    } else if (sign === '"' && cell === '') isQuoted = true
    else if (sign === separator) {
      row.push(cell)
      cell = ''
    } else if (sign === '\n') {
      row.push(cell)
      rows.push(row)
      ;[row, cell] = [[], '']
    } else if (sign !== '\r') cell += sign
  }
  rows.push([...row, cell])
  return rows.filter((cells) => cells.some((content) => content.trim() !== ''))
}

/** Returns why a row has no result; undefined if it has one, or waits for it. */
export function problemOf(row: BatchRow, result: BatchResult | undefined): string | undefined {
  return row.problem ?? result?.error?.detail
}

export function writeCsv(rows: readonly BatchRow[], results: readonly (BatchResult | undefined)[]): string {
  const titles = [...new Set(rows.flatMap(({ properties }) => Object.keys(properties)))]
  const added = ['result', 'units', 'operation', 'timestamp', 'error', 'signature']
  const lines = rows.map((row, index) => {
    const result = results[index]
    const { result: value, units, operation, timestamp, attestation } = result ?? {}
    const own = titles.map((title) => row.properties[title])
    return [...own, value, units, operation, timestamp, problemOf(row, result), attestation?.signature]
  })
  return `${[[...titles, ...added], ...lines].map((cells) => cells.map(cellOf).join(',')).join('\r\n')}\r\n`
}

function cellOf(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Writes a FeatureCollection; each feature has the whole response to its row, which can be verified. */
export function writeGeoJson(rows: readonly BatchRow[], results: readonly (BatchResult | undefined)[]): string {
  const features = rows.map((row, index) => {
    const response = results[index]
    const error = problemOf(row, response)
    const properties = {
      ...row.properties,
      ...(error === undefined ? { result: response?.result, response } : { error }),
    }
    return { type: 'Feature', properties, geometry: row.geometry ?? null }
  })
  return `${JSON.stringify({ type: 'FeatureCollection', features })}\n`
}
