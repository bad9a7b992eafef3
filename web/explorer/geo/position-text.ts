/**
 * Reads one position as people write it: `48.8584, 2.2945`, `38.7223° N, 9.1393° W`, `48°51'30"N 2°17'40"E`,
 * `lat 48.8584, lon 2.2945`, `geo:48.8584,2.2945`.
 */
import type { LonLat } from './shape.ts'

export type PositionText =
  | { readonly kind: 'position'; readonly position: LonLat }
  /** Either number may be the latitude, and nothing in the text decides it. The first reading has the latitude first. */
  | { readonly kind: 'ambiguous'; readonly readings: readonly [LonLat, LonLat] }
  | { readonly kind: 'invalid'; readonly reason: string }

const NUMBER = String.raw`\d+(?:[.,]\d+)?`
/** Degrees, then minutes and seconds, with or without their signs. */
const ANGLE = new RegExp(String.raw`^([+-]?)\s*(${NUMBER})\s*°?(?:[\s:]*(${NUMBER})\s*'?(?:[\s:]*(${NUMBER})\s*"?)?)?$`)
const LETTERS_AFTER = /^(.+?)\s*([NSEW])[\s,;/]*(.+?)\s*([NSEW])$/
const LETTERS_BEFORE = /^([NSEW])\s*(.+?)[\s,;/]*([NSEW])\s*(.+)$/
const NAMES = /^(LAT|LON)\s*[:=]?\s*(.+?)[\s,;/]*(LAT|LON)\s*[:=]?\s*(.+)$/

/** @returns undefined if the text is not an attempt at one position, such as a list of numbers */
export function readPosition(text: string): PositionText | undefined {
  const plain = normalized(text)
  const geo = /^GEO:([^,;]+),([^,;]+)/.exec(plain)
  if (geo !== null) return placed(geo[1]!, 'N', geo[2]!, 'E')
  const after = LETTERS_AFTER.exec(plain)
  if (after !== null) return placed(after[1]!, after[2]!, after[3]!, after[4]!)
  const before = LETTERS_BEFORE.exec(plain)
  if (before !== null) return placed(before[2]!, before[1]!, before[4]!, before[3]!)
  const named = NAMES.exec(plain)
  if (named !== null) return placed(named[2]!, letterOf(named[1]!), named[4]!, letterOf(named[3]!))
  return readBare(plain)
}

/** Converts signs that look alike to one of them, and names to `LAT` and `LON`. */
function normalized(text: string): string {
  return text
    .trim()
    .replace(/[’‘′´`]/g, "'")
    .replace(/[”“″]|''/g, '"')
    .replace(/[º˚]/g, '°')
    .replace(/[−–]/g, '-')
    .toUpperCase()
    .replace(/\bLATITUDE\b/g, 'LAT')
    .replace(/\b(?:LONGITUDE|LONG|LNG)\b/g, 'LON')
}

function letterOf(name: string): string {
  return name === 'LAT' ? 'N' : 'E'
}

/** Reads two angles whose letters say which is the latitude; undefined if the text has other words in it. */
function placed(first: string, firstLetter: string, second: string, secondLetter: string): PositionText | undefined {
  const [a, b] = [readAngle(first), readAngle(second)]
  if (a === undefined || b === undefined) return undefined
  const isLatitude = (letter: string) => letter === 'N' || letter === 'S'
  if (isLatitude(firstLetter) === isLatitude(secondLetter))
    return invalid(isLatitude(firstLetter) ? 'The text has two latitudes.' : 'The text has two longitudes.')
  const sign = (letter: string) => (letter === 'S' || letter === 'W' ? -1 : 1)
  const [x, y] = [sign(firstLetter) * a, sign(secondLetter) * b]
  const [longitude, latitude] = isLatitude(firstLetter) ? [y, x] : [x, y]
  if (Math.abs(latitude) > 90) return invalid(`The latitude ${latitude} is outside -90 to 90.`)
  if (Math.abs(longitude) > 180) return invalid(`The longitude ${longitude} is outside -180 to 180.`)
  return { kind: 'position', position: [longitude, latitude] }
}

function readBare(text: string): PositionText | undefined {
  const halves = halvesOf(text)
  // Without signs, `2 48; 3 49` is two positions, and not two angles of degrees and minutes.
  if (!/[°'":]/.test(text) && halves?.some((half) => /\s/.test(half.trim()))) return undefined
  const [a, b] = halves?.map(readAngle) ?? []
  if (a === undefined || b === undefined) return undefined
  const [latitudeFirst, longitudeFirst]: [LonLat, LonLat] = [
    [b, a],
    [a, b],
  ]
  const [isFirst, isSecond] = [isPosition(latitudeFirst), isPosition(longitudeFirst)]
  if (isFirst && isSecond && a !== b) return { kind: 'ambiguous', readings: [latitudeFirst, longitudeFirst] }
  if (isFirst) return { kind: 'position', position: latitudeFirst }
  if (isSecond) return { kind: 'position', position: longitudeFirst }
  return invalid('A latitude is between -90 and 90, and a longitude between -180 and 180.')
}

/** Splits at the separator: a comma, unless it is the decimal sign of both numbers, or the space between them. */
function halvesOf(text: string): readonly string[] | undefined {
  const decimalCommas = /^([+-]?\d+,\d+°?)(?:\s*[;/]\s*|,?\s+)([+-]?\d+,\d+°?)$/.exec(text)
  if (decimalCommas !== null) return decimalCommas.slice(1)
  const parts = text.split(/\s*[,;/]\s*/)
  if (parts.length === 2) return parts
  if (parts.length > 2) return undefined
  const spaced = /^([+-]?[\d.]+°?)\s+([+-]?[\d.]+°?)$/.exec(text)
  if (spaced !== null) return spaced.slice(1)
  // Two angles with minutes: the second one begins at its number of degrees.
  return /^([^°]+°.*?['"])\s+([^°]+°.*)$/.exec(text)?.slice(1)
}

function readAngle(text: string): number | undefined {
  const [whole, sign = '', ...parts] = ANGLE.exec(text.trim()) ?? []
  if (whole === undefined) return undefined
  const given = parts.filter((part) => part !== undefined)
  // Only the last part may have a fraction.
  if (given.slice(0, -1).some((part) => /[.,]/.test(part))) return undefined
  const [degrees = 0, minutes = 0, seconds = 0] = given.map((part) => Number(part.replace(',', '.')))
  if (minutes >= 60 || seconds >= 60) return undefined
  const value = degrees + minutes / 60 + seconds / 3600
  // Minutes and seconds have no exact binary fraction, and 1e-9 degrees are 0.1 mm.
  const rounded = given.length === 1 ? value : Number(value.toFixed(9))
  return sign === '-' ? -rounded : rounded
}

function isPosition([longitude, latitude]: LonLat): boolean {
  return Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90
}

function invalid(reason: string): PositionText {
  return { kind: 'invalid', reason }
}
