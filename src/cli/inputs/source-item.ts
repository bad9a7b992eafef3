import type { Point } from '../../types/generated.ts'

/** One item of a file: its value, or why it is invalid. */
export interface SourceItem {
  /** Its position in the file, for people: `line 7`. */
  readonly place: string
  /** A geometry, a Feature, another form of input, or the members of an operation. Absent with `fault`. */
  readonly value?: unknown
  /** Why the item is invalid. The items after it are still read. */
  readonly fault?: string
  /** The `id` of the Feature or the row. */
  readonly id?: string | number
}

/** An error after which the remaining file cannot be read. */
export class SourceError extends Error {
  constructor(place: string, reason: string) {
    super(place === '' ? reason : `${place}: ${reason}`)
    this.name = 'SourceError'
  }
}

/** Longest line, record or geometry in memory, in characters. */
export const MAX_ITEM_CHARACTERS = 32 * 1024 * 1024

/**
 * Parses a point from two texts.
 *
 * @returns the point, or a fault that names the invalid text
 */
export function parsePoint(
  longitude: string,
  latitude: string,
): { readonly value: Point } | { readonly fault: string } {
  const read = (text: string, name: string, limit: number): number | string => {
    const value = Number(text)
    if (text.trim() === '' || !Number.isFinite(value))
      return `${name} ${JSON.stringify(text.slice(0, 40))} is not a number`
    if (Math.abs(value) <= limit) return value
    const hint = limit === 90 && Math.abs(value) <= 180 ? ' (are longitude and latitude swapped?)' : ''
    return `${name} ${value} is outside -${limit}..${limit}${hint}`
  }
  const lon = read(longitude, 'longitude', 180)
  const lat = read(latitude, 'latitude', 90)
  if (typeof lon === 'string') return { fault: lon }
  return typeof lat === 'string' ? { fault: lat } : { value: { type: 'Point', coordinates: [lon, lat] } }
}
