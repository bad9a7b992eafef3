/** What every format of an export has in common: the writer, and the columns of the formats that are tables. */
import type { LocationRecord } from '../../../types/generated.ts'
import { type Geometry, parseGeometry } from '../documents.ts'

/** Writes the records of one export. The pieces in their order are the file. */
export interface ExportWriter {
  /**
   * Yields the next records, which begin the file if they are the first. A piece takes a few milliseconds, so that other requests
   * can be served in between. It is empty if there is nothing to send yet.
   *
   * @param documents records as JSON
   */
  write(documents: readonly string[]): Generator<string | Uint8Array, void, undefined>
  /** Yields the end of the file, if the format has one. Without any record this is the whole file. */
  end(): Generator<string | Uint8Array, void, undefined>
}

/** What a column contains. A list is JSON text where the format has no lists; a time is ISO 8601 where it has no times. */
export type ColumnKind = 'text' | 'time' | 'number' | 'boolean' | 'list'

export interface Column {
  readonly name: keyof LocationRecord
  readonly kind: ColumnKind
  readonly isNullable?: true
}

/** The members of a record as columns, in their order in the JSON text. `location` is the text of the geometry. */
export const COLUMNS: readonly Column[] = [
  { name: 'uid', kind: 'text' },
  { name: 'chain', kind: 'text' },
  { name: 'prover', kind: 'text' },
  { name: 'subject', kind: 'text' },
  { name: 'timestamp', kind: 'time' },
  { name: 'event_timestamp', kind: 'time' },
  { name: 'srs', kind: 'text' },
  { name: 'location_type', kind: 'text' },
  { name: 'location', kind: 'text' },
  { name: 'longitude', kind: 'number', isNullable: true },
  { name: 'latitude', kind: 'number', isNullable: true },
  { name: 'recipe_types', kind: 'list' },
  { name: 'recipe_payloads', kind: 'list' },
  { name: 'media_types', kind: 'list' },
  { name: 'media_data', kind: 'list' },
  { name: 'memo', kind: 'text', isNullable: true },
  { name: 'revoked', kind: 'boolean' },
  { name: 'created_at', kind: 'time' },
  { name: 'updated_at', kind: 'time' },
  { name: 'finalized', kind: 'boolean' },
]

/**
 * Parses a location for formats in which all positions of a geometry have the same dimension.
 *
 * @returns a geometry whose positions all have two numbers, or all have three; undefined if the location is not a geometry
 */
export function parseUniformGeometry(location: string): Geometry | undefined {
  let fewest = 3
  let most = 2
  const geometry = parseGeometry(location, (position) => {
    fewest = Math.min(fewest, position.length)
    most = Math.max(most, position.length)
    return position
  })
  return fewest === most ? geometry : parseGeometry(location, (position) => position.slice(0, fewest))
}
