/** Formats numbers and times for people. */

const GROUPED = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** `1234567.891`, 2 → `1,234,567.89`. */
export function decimal(value: number, places: number): string {
  return new Intl.NumberFormat('en', { minimumFractionDigits: places, maximumFractionDigits: places }).format(value)
}

export function whole(value: number): string {
  return GROUPED.format(value)
}

export interface Measure {
  /** Lengths to the centimetre, as they are signed; areas to 0.01 m², or to 1 m² from 1,000 km² on. */
  readonly value: string
  readonly unit: string
  /** The same value in other units, rounded. */
  readonly also: readonly string[]
}

const METERS_PER_MILE = 1609.344
const METERS_PER_NAUTICAL_MILE = 1852

export function lengthMeasure(meters: number): Measure {
  const also =
    meters < 1000
      ? [`${decimal(meters / 0.3048, 1)} ft`]
      : [
          `${short(meters / 1000)} km`,
          `${short(meters / METERS_PER_MILE)} mi`,
          `${short(meters / METERS_PER_NAUTICAL_MILE)} nmi`,
        ]
  return { value: decimal(meters, 2), unit: 'm', also }
}

export function areaMeasure(squareMeters: number): Measure {
  const also =
    squareMeters < 1e6
      ? [`${short(squareMeters / 1e4)} ha`]
      : [`${short(squareMeters / 1e6)} km²`, `${short(squareMeters / METERS_PER_MILE ** 2)} mi²`]
  return { value: decimal(squareMeters, squareMeters < 1e9 ? 2 : 0), unit: 'm²', also }
}

/** About four significant digits; a whole number from 1,000 on. */
export function short(value: number): string {
  return value >= 1000 ? whole(value) : decimal(value, value >= 100 ? 1 : value >= 10 ? 2 : 3)
}

/** `4.2 km`, `310 m`; without zeros at the end, because `1.000 km` could be read as a thousand kilometres. */
export function shortMeters(meters: number): string {
  const text = meters >= 1000 ? `${short(meters / 1000)} km` : `${decimal(meters, meters < 10 ? 2 : 0)} m`
  return text.replace(/(?:\.|(\.\d*[1-9]))0+(?= )/, '$1')
}

/** `1,234.56 m`: every centimetre of a length that is signed. */
export function exactMeters(meters: number): string {
  return `${new Intl.NumberFormat('en', { maximumFractionDigits: 2 }).format(meters)} m`
}

export function degreesText(longitude: number, latitude: number, places = 4): string {
  const side = (value: number, positive: string, negative: string) =>
    `${Math.abs(value).toFixed(places)}° ${value < 0 ? negative : positive}`
  return `${side(latitude, 'N', 'S')}, ${side(longitude, 'E', 'W')}`
}

/** The same with every decimal that the numbers have. */
export function exactDegreesText(longitude: number, latitude: number): string {
  const side = (value: number, letters: string) => `${Math.abs(value)}° ${letters[value < 0 ? 1 : 0]}`
  return `${side(latitude, 'NS')}, ${side(longitude, 'EW')}`
}

/** `21 Nov 2026, 12:03:11 UTC`. */
export function timeUtc(seconds: number): string {
  if (!(Math.abs(seconds) * 1000 <= 8.64e15)) return `second ${seconds}`
  const date = new Date(seconds * 1000)
  const day = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
  return `${day}, ${date.toISOString().slice(11, 19)} UTC`
}

export function clockUtc(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(11, 19)} UTC`
}

/** `59 min 12 s`. */
export function duration(seconds: number): string {
  const total = Math.max(0, Math.round(seconds))
  if (total >= 172_800) return `${Math.floor(total / 86_400)} days`
  if (total >= 3600) return `${Math.floor(total / 3600)} h ${Math.floor((total % 3600) / 60)} min`
  return total >= 60 ? `${Math.floor(total / 60)} min ${total % 60} s` : `${total} s`
}

/** `0x1234abcd…9876`. */
export function shortHex(hex: string, head = 8, tail = 4): string {
  return hex.length <= head + tail + 3 ? hex : `${hex.slice(0, head)}…${hex.slice(-tail)}`
}

export function bytesText(bytes: number): string {
  return bytes >= 2 ** 30 ? `${decimal(bytes / 2 ** 30, 2)} GiB` : `${decimal(bytes / 2 ** 20, 0)} MiB`
}

/** Rounds a time up to a minute: it is shown without seconds, and must not be too early. */
export function nextMinute(ms: number): Date {
  return new Date(Math.ceil(ms / 60_000) * 60_000)
}
