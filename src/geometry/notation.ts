/** A notation for locations other than GeoJSON. */
export type Notation = 'wkt' | 'wkb' | 'h3' | 'geohash' | 'lon-lat' | 'lat-lon'

/** Words that may precede the order of coordinates. None of them names another unit, such as radians. */
const DECIMAL = '^(?:(?:coordinates?|coord|decimal|degrees|dd|wgs84)[+_-]){0,3}'

/** Location types by notation; compared in lower case. */
const TYPES: readonly (readonly [pattern: RegExp, notation: Notation])[] = [
  [/^e?wkt$/, 'wkt'],
  [/^e?wkb$/, 'wkb'],
  [/^h3(?:-(?:index|cell))?$/, 'h3'],
  [/^geohash$/, 'geohash'],
  [new RegExp(`${DECIMAL}(?:lon|lng|long|longitude)[-_,]?(?:lat|latitude)$`), 'lon-lat'],
  [new RegExp(`${DECIMAL}(?:lat|latitude)[-_,]?(?:lon|lng|long|longitude)$`), 'lat-lon'],
]
/** Longer than any of these types. */
const MAX_CHARACTERS = 60

/** @returns undefined for a type whose locations are GeoJSON, and for an unsupported one */
export function findNotation(locationType: string): Notation | undefined {
  if (locationType.length > MAX_CHARACTERS) return undefined
  const type = locationType.trim().toLowerCase()
  return TYPES.find(([pattern]) => pattern.test(type))?.[1]
}

/** Removes ASCII spaces, tabs and line ends at both ends. Other white space belongs to no notation. */
export function trimAscii(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isAsciiSpace(text.charCodeAt(start))) start++
  while (end > start && isAsciiSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isAsciiSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
}
