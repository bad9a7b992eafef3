/** The formats of a batch's results: lines of JSON, a table, and Features of GeoJSON. */
import { extname } from 'node:path'
import type { ProblemDetails } from '../../types/generated.ts'
import { csvField } from '../csv-field.ts'
import { usage } from '../exit-codes.ts'
import type { Format } from '../inputs/source-item.ts'
import type { Operation } from '../options.ts'
import type { ShownItem } from './feeder.ts'

export interface OutputFormat {
  readonly name: 'ndjson' | 'csv' | 'geojson'
  /** Returns the text before the first item; it may be empty. */
  head(first: ShownItem): string
  /** @param json the result as JSON text */
  result(item: ShownItem, json: string): string
  /** Returns the text of a rejected item; empty if the format has only results. */
  rejection(item: ShownItem, problem: ProblemDetails): string
}

export const JSON_LINES: OutputFormat = {
  name: 'ndjson',
  head: () => '',
  result: (_item, json) => `${json}\n`,
  rejection: () => '',
}

const RESULT_COLUMNS = ['result', 'units', 'operation', 'error'] as const

/**
 * A table with the columns of the input, or with an `id` if the input is not a table, followed by `RESULT_COLUMNS`. It has a row
 * for every item.
 */
const TABLE: OutputFormat = {
  name: 'csv',
  head({ row }) {
    const columns = row?.columns ?? ['id']
    return csvLine([...columns, ...RESULT_COLUMNS.map((name) => unusedName(name, columns))])
  },
  result(item, json) {
    const [, result, units = '', operation] = RESULT.exec(json) ?? []
    if (result !== undefined) return `${inputFields(item).map(csvField).join(',')},${result},${units},${operation},\n`
    const parsed = JSON.parse(json)
    return csvLine([
      ...inputFields(item),
      parsed.result ?? parsed.matrix ?? JSON.stringify(parsed.geometry ?? [parsed.from.geometry, parsed.to.geometry]),
      parsed.units,
      parsed.operation,
      '',
    ])
  },
  rejection: (item, { detail }) => csvLine([...inputFields(item), '', '', '', detail]),
}

/** One Feature per line (GeoJSONSeq), for results that are a geometry. The members beside the geometry are its properties. */
const FEATURES: OutputFormat = {
  name: 'geojson',
  head: () => '',
  result(item, json) {
    const { id = item.id, geometry, ...properties } = JSON.parse(json)
    return `${JSON.stringify({ type: 'Feature', id, geometry, properties })}\n`
  },
  rejection: () => '',
}
/** Operations whose result is one geometry. */
const GEOMETRY_OPERATIONS: readonly (Operation | 'mixed')[] = ['buffer', 'direct', 'waypoints']
const FEATURE_EXTENSIONS = ['.geojson', '.geojsonl', '.geojsons']
/** Formats that other programs would look for under these names. */
const OTHER_EXTENSIONS = ['.gpkg', '.shp', '.fgb', '.parquet', '.kml', '.gml', '.gpx', '.xlsx']

/**
 * The beginning of a result without an id, as the engine writes it. Its values need no quotes in a table. Parsing the whole result
 * took longer than computing it.
 */
const RESULT = /^\{"result":([^,]+),(?:"units":"([^",]+)",)?"operation":"([^",]+)"/

/** Numbers a name that the input has already. A reader of two columns with one name may take the value of the input for the result. */
function unusedName(name: string, columns: readonly string[]): string {
  const used = columns.map((column) => column.trim().toLowerCase())
  let unused = name
  for (let number = 2; used.includes(unused); number++) unused = `${name}_${number}`
  return unused
}

/** Returns as many fields as the input has columns, so that the fields after them are in their columns. */
function inputFields({ row, id }: ShownItem): readonly unknown[] {
  if (row === undefined) return [id]
  const { columns, fields } = row
  return fields.length === columns.length ? fields : columns.map((_, index) => fields[index])
}

function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvField).join(',')}\n`
}

interface OutputOptions {
  readonly output: string
  readonly outputFormat?: OutputFormat['name']
  readonly attest?: 'each' | 'none'
}

/**
 * Selects the format of the results: the given one, or that of the output's name. On standard output a table gives a table,
 * unless signatures are asked for: a table has none.
 *
 * @throws {CommandError} if a table is to be signed, results without a geometry are to be Features, or the name is that of another format
 */
export function selectOutputFormat(
  operation: Operation | 'mixed',
  options: OutputOptions,
  inputFormat: Format,
): OutputFormat {
  const name = options.outputFormat ?? defaultFormat(operation, options, inputFormat)
  if (name === 'ndjson') return JSON_LINES
  if (name === 'geojson') {
    if (GEOMETRY_OPERATIONS.includes(operation)) return FEATURES
    throw usage(
      `--output-format geojson is for ${GEOMETRY_OPERATIONS.join(', ')}: a result of ${operation} is not one geometry`,
    )
  }
  if (options.attest !== 'each') return TABLE
  throw usage('a table (csv) has no signatures: give another --output or --output-format ndjson, or --attest none')
}

function defaultFormat(
  operation: Operation | 'mixed',
  { output, attest }: OutputOptions,
  inputFormat: Format,
): OutputFormat['name'] {
  if (output === '-') return inputFormat === 'csv' && attest !== 'each' ? 'csv' : 'ndjson'
  const extension = extname(output).toLowerCase()
  if (extension === '.csv') return 'csv'
  const isGeometry = GEOMETRY_OPERATIONS.includes(operation)
  if (OTHER_EXTENSIONS.includes(extension)) {
    const written = isGeometry ? 'zones.geojsonl' : 'results.csv'
    throw usage(
      `--output ${output}: ${extension} is not a format of results: write ${written}, and convert it with ogr2ogr`,
    )
  }
  return FEATURE_EXTENSIONS.includes(extension) && isGeometry ? 'geojson' : 'ndjson'
}
