/** The properties of features below `/ogc`. */
import { COLUMNS, type ColumnKind } from './exports/export-writer.ts'

const KIND_SCHEMAS: Readonly<Record<ColumnKind, object>> = {
  text: { type: 'string' },
  time: { type: 'string', format: 'date-time' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  list: { type: 'string', description: 'JSON text of a list' },
}

/** The properties in OpenAPI 3.0, by name. A number is never null, because `flatProperties` omits it. */
export const PROPERTY_SCHEMAS: Readonly<Record<string, object>> = Object.fromEntries(
  COLUMNS.filter(({ name }) => name !== 'location').map(({ name, kind, isNullable }) => [
    name,
    { ...KIND_SCHEMAS[kind], ...(isNullable && kind !== 'number' ? { nullable: true } : {}) },
  ]),
)

/** Where the value of each list begins, after its name, and where it ends: at the name of the next member. */
const LISTS = COLUMNS.flatMap(({ name, kind }, index) =>
  kind === 'list' ? [{ start: `,"${name}":`, end: `,"${COLUMNS[index + 1]!.name}":` }] : [],
)
const NO_POSITION = ',"longitude":null,"latitude":null'

/**
 * Returns the properties of a feature as a GIS can store them in the columns of a table. Lists are JSON text, as in exports that are
 * tables, because QGIS and GDAL cannot save arrays in most formats. A record that is not a point has no longitude and latitude: null
 * would make GDAL take them for text.
 *
 * @param properties a record as JSON, without its location
 */
export function flatProperties(properties: string): string {
  let text = ''
  let copied = 0
  for (const { start, end } of LISTS) {
    // Quotes inside values are escaped, so these texts can only be the names of members.
    const from = properties.indexOf(start, copied) + start.length
    const to = properties.indexOf(end, from)
    text += properties.slice(copied, from) + JSON.stringify(properties.slice(from, to))
    copied = to
  }
  return text.replace(NO_POSITION, '') + properties.slice(copied)
}
