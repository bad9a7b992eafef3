/** The formats of a batch's results: lines of JSON, a table, and Features of GeoJSON. */
import { extname } from 'node:path'
import { isObject } from '../../client/forms.ts'
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
  /** True if the text of a rejected item has its whole problem. */
  readonly hasProblems?: boolean
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
    return csvLine([...columns, ...addNames(columns, RESULT_COLUMNS)])
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

/**
 * One Feature per line (GeoJSONSeq), for results that are a geometry. Its properties are those of the input, followed by the other
 * members of the result.
 */
const FEATURES: OutputFormat = {
  name: 'geojson',
  head: () => '',
  result(item, json) {
    const { id = item.id, geometry, ...members } = JSON.parse(json)
    const properties = withoutClashes(inputProperties(item), members)
    return `${JSON.stringify({ type: 'Feature', id, geometry, properties })}\n`
  },
  rejection: () => '',
}
/** Operations whose result is one geometry. */
const GEOMETRY_OPERATIONS: readonly (Operation | 'mixed')[] = ['buffer', 'direct', 'waypoints', 'repair']
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
export function inputFields({ row, id }: ShownItem): readonly unknown[] {
  if (row === undefined) return [id]
  const { columns, fields } = row
  return fields.length === columns.length ? fields : columns.map((_, index) => fields[index])
}

/** Returns the properties of a Feature, or the columns of a row; nothing for an input that has neither. */
export function inputProperties({ row, value }: ShownItem): Readonly<Record<string, unknown>> {
  if (row !== undefined) return Object.fromEntries(row.columns.map((name, index) => [name, row.fields[index] ?? '']))
  const properties = isObject(value) && value['type'] === 'Feature' ? value['properties'] : undefined
  return isObject(properties) ? properties : {}
}

/** Adds members to properties. A member whose name is in use gets a number, as a column does. */
export function withoutClashes(
  properties: Readonly<Record<string, unknown>>,
  members: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const names = addNames(Object.keys(properties), Object.keys(members))
  return { ...properties, ...Object.fromEntries(Object.values(members).map((member, index) => [names[index], member])) }
}

/** Returns the names under which columns or properties are added to those of the input. */
export function addNames(used: readonly string[], added: readonly string[]): readonly string[] {
  const all = [...used]
  return added.map((name) => {
    all.push(unusedName(name, all))
    return all.at(-1)!
  })
}

export function csvLine(values: readonly unknown[]): string {
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
    const asked = options.outputFormat === undefined ? `--output ${options.output}` : '--output-format geojson'
    throw usage(
      `${asked}: GeoJSON is for ${GEOMETRY_OPERATIONS.join(', ')}: a result of ${operation} is not one geometry; write a table (results.csv) or lines of JSON (results.ndjson)`,
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
  return formatOfName(output, GEOMETRY_OPERATIONS.includes(operation) ? 'zones.geojsonl' : 'results.csv')
}

/**
 * Returns the format that a file name asks for.
 *
 * @param instead a name for the error
 * @throws {CommandError} if the name is that of another format
 */
export function formatOfName(output: string, instead: string): OutputFormat['name'] {
  const extension = extname(output).toLowerCase()
  if (OTHER_EXTENSIONS.includes(extension))
    throw usage(
      `--output ${output}: ${extension} is not a format of results: write ${instead}, and convert it with ogr2ogr`,
    )
  if (extension === '.csv') return 'csv'
  return FEATURE_EXTENSIONS.includes(extension) ? 'geojson' : 'ndjson'
}
