import type { Notation } from '../../geometry/notation.ts'
import { csvRecords, separatorOf } from './csv-records.ts'
import { readNotation } from './place-text.ts'
import { pointOf, SourceError, type SourceItem } from './source-item.ts'
import { peek } from './text.ts'

/** Names of columns, in lower case. */
const LONGITUDE = ['lon', 'lng', 'long', 'longitude', 'x']
const LATITUDE = ['lat', 'latitude', 'y']
const TEXTS: readonly (readonly [names: readonly string[], notation: Notation])[] = [
  [['wkt', 'geometry', 'geom', 'the_geom'], 'wkt'],
  [['wkb'], 'wkb'],
  [['h3'], 'h3'],
  [['geohash'], 'geohash'],
]
/** Members of an operation that a column may begin with: `from_lon`. */
const MEMBERS = ['from', 'to', 'geometry', 'target', 'container', 'containee', 'geometry1', 'geometry2']
const HEADER_CHARACTERS = 65_536

/** How a row becomes one input: a pair of columns, or one. */
type Place =
  | { readonly kind: 'point'; readonly lon: number; readonly lat: number }
  | { readonly kind: 'uid'; readonly column: number }
  | { readonly kind: 'text'; readonly column: number; readonly notation: Notation }

interface Columns {
  readonly names: readonly string[]
  /** By member of an operation; `''` is the row's only one. */
  readonly places: ReadonlyMap<string, Place>
  readonly id: number
  readonly radius: number
}

/**
 * Rows of a table with a header. A row is a point (`lon` and `lat`), a geometry (`wkt`, `wkb`, `h3`, `geohash`) or an attestation (`uid`); or the
 * members of an operation (`from_lon`, `from_lat`, `to_lon`, `to_lat`), with `radius`. A column `id` comes back with the result.
 *
 * @param header names of the columns where the file has no line for them, separated by commas
 * @throws {SourceError} on a header that names no place: an order is never guessed
 */
export async function* csvItems(
  texts: AsyncIterable<string>,
  header: string | undefined,
): AsyncGenerator<SourceItem, void, undefined> {
  const { head, texts: all } = await peek(texts, HEADER_CHARACTERS)
  const separator = separatorOf(head.slice(0, Math.max(0, head.indexOf('\n')) || head.length))
  let columns = header === undefined ? undefined : columnsOf(header.split(','), 1)
  for await (const { fields, line } of csvRecords(all, separator)) {
    if (columns === undefined) columns = columnsOf(fields, line)
    else yield await rowItem(fields, columns, line)
  }
}

function columnsOf(header: readonly string[], line: number): Columns {
  const names = header.map((name) => name.trim().toLowerCase())
  const places = new Map<string, Place>()
  for (const member of ['', ...MEMBERS]) {
    const place = placeOf(names, member === '' ? '' : `${member}_`)
    if (place !== undefined) places.set(member, place)
  }
  if (places.size > 1) places.delete('') // `geometry_wkt` and the like say more
  if (places.size === 0) {
    const found = names.slice(0, 8).map((name) => JSON.stringify(name.slice(0, 20)))
    throw new SourceError(
      `line ${line}`,
      `the header names no place, it has ${found.join(', ')}: name two columns lon and lat, or one wkt or uid, ` +
        'or say what they are with --columns lon,lat',
    )
  }
  return { names, places, id: names.indexOf('id'), radius: names.indexOf('radius') }
}

function placeOf(names: readonly string[], prefix: string): Place | undefined {
  const find = (known: readonly string[]) => names.findIndex((name) => known.some((one) => name === prefix + one))
  const [lon, lat, uid] = [find(LONGITUDE), find(LATITUDE), find(['uid'])]
  if (lon >= 0 && lat >= 0) return { kind: 'point', lon, lat }
  for (const [known, notation] of TEXTS) {
    const column = find(known)
    if (column >= 0) return { kind: 'text', column, notation }
  }
  return uid >= 0 ? { kind: 'uid', column: uid } : undefined
}

async function rowItem(fields: readonly string[], columns: Columns, line: number): Promise<SourceItem> {
  const { names, places } = columns
  const id = fields[columns.id]
  const place = { place: `line ${line}`, ...(id === undefined || id === '' ? {} : { id }) }
  if (fields.length > names.length)
    return { ...place, fault: `has ${fields.length} fields, the header ${names.length}` }
  const members: Record<string, unknown> = {}
  for (const [member, where] of places) {
    const read = await inputOf(fields, where, names)
    if ('fault' in read) return { ...place, fault: read.fault }
    members[member] = read.value
  }
  const radius = fields[columns.radius]
  if (radius !== undefined && radius.trim() !== '') {
    if (!Number.isFinite(Number(radius)))
      return { ...place, fault: `column "radius": ${JSON.stringify(radius)} is no number` }
    members['radius'] = Number(radius)
  }
  const isSingle = '' in members
  const value = isSingle && Object.keys(members).length === 1 ? members[''] : renamed(members)
  return { ...place, value }
}

/** `input` is the row's place where it has members beside it. */
function renamed({ '': input, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return input === undefined ? rest : { input, ...rest }
}

async function inputOf(
  fields: readonly string[],
  where: Place,
  names: readonly string[],
): Promise<{ readonly value: unknown } | { readonly fault: string }> {
  if (where.kind === 'point') {
    const [lon, lat] = [fields[where.lon] ?? '', fields[where.lat] ?? '']
    const point = pointOf(lon, lat)
    if ('value' in point) return point
    const column = point.fault.startsWith('longitude') ? where.lon : where.lat
    return { fault: `column ${JSON.stringify(names[column])}: ${point.fault}` }
  }
  const text = (fields[where.column] ?? '').trim()
  const named = `column ${JSON.stringify(names[where.column])}`
  if (where.kind === 'uid') {
    return /^0x[0-9a-fA-F]{64}$/.test(text)
      ? { value: { uid: text } }
      : { fault: `${named}: is no UID (0x and 64 hex digits)` }
  }
  const read = await readNotation(where.notation, text)
  return 'fault' in read ? { fault: `${named}: ${read.fault}` } : read
}
