import type { Point } from '../../types/generated.ts'

/** One thing found in a file: what stands there, or why it is nothing. */
export interface SourceItem {
  /** Where it stands, for people: `line 7`. */
  readonly place: string
  /** A geometry, a Feature, another form of input, or the members of an operation; absent with `fault`. */
  readonly value?: unknown
  /** What is wrong with it. Those after it are read all the same. */
  readonly fault?: string
  /** Of the Feature or the row. */
  readonly id?: string | number
}

/** What is wrong in a file as a whole: nothing after it can be read. */
export class SourceError extends Error {
  constructor(place: string, reason: string) {
    super(place === '' ? reason : `${place}: ${reason}`)
    this.name = 'SourceError'
  }
}

/** Longest line, record or geometry that is held at one time, in characters. */
export const MAX_ITEM_CHARACTERS = 32 * 1024 * 1024

/**
 * A point from two texts.
 *
 * @returns why it is none, naming the text that is wrong
 */
export function pointOf(longitude: string, latitude: string): { readonly value: Point } | { readonly fault: string } {
  const read = (text: string, name: string, most: number): number | string => {
    const value = Number(text)
    if (text.trim() === '' || !Number.isFinite(value))
      return `${name} ${JSON.stringify(text.slice(0, 40))} is no number`
    if (Math.abs(value) <= most) return value
    const hint = most === 90 && Math.abs(value) <= 180 ? ' (are longitude and latitude the wrong way round?)' : ''
    return `${name} ${value} is outside -${most}..${most}${hint}`
  }
  const lon = read(longitude, 'longitude', 180)
  const lat = read(latitude, 'latitude', 90)
  if (typeof lon === 'string') return { fault: lon }
  return typeof lat === 'string' ? { fault: lat } : { value: { type: 'Point', coordinates: [lon, lat] } }
}
