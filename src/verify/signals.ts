/** Signals as received: untrusted JSON whose members may be missing or of any type. No function of this file throws. */
export type Signals = Readonly<Record<string, unknown>>

export function readSignal(signals: Signals, name: string): unknown {
  return Object.hasOwn(signals, name) ? signals[name] : undefined
}

/** @returns a finite number, or undefined */
export function readNumber(signals: Signals, name: string): number | undefined {
  const value = readSignal(signals, name)
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** As `readNumber`, but also reads numbers that are written as text, as in a CSV file. */
export function readNumeric(signals: Signals, name: string): number | undefined {
  const value = readSignal(signals, name)
  if (typeof value !== 'string') return readNumber(signals, name)
  const text = value.trim()
  return /^[+-]?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?$/.test(text) ? Number(text) : undefined
}

/** @returns a string, or undefined */
export function readText(signals: Signals, name: string): string | undefined {
  const value = readSignal(signals, name)
  return typeof value === 'string' ? value : undefined
}

const MOMENT = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?)? ?(?:[Zz]|([+-])(\d\d):?(\d\d))?$/

/**
 * Parses an ISO 8601 time. Without a zone it is UTC, because the local time zone of the service must not matter. Second
 * 60 is a leap second.
 *
 * @returns Unix seconds; undefined for any other text
 */
export function parseTime(text: string | undefined): number | undefined {
  const match = MOMENT.exec(text ?? '')
  if (match === null) return undefined
  const part = (index: number) => Number(match[index] ?? 0)
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)]
  if (hour > 23 || minute > 59 || second > 60 || !isDate(year, month, day)) return undefined
  const zone = (part(9) * 3600 + part(10) * 60) * (match[8] === '-' ? -1 : 1)
  return Date.UTC(year, month - 1, day) / 1000 + hour * 3600 + minute * 60 + second + part(7) - zone
}

const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Checks a date. Needed because `Date.UTC` turns 31 February into March, and reads the years 0 to 99 as 1900 to 1999.
 */
function isDate(year: number, month: number, day: number): boolean {
  if (year < 100 || day < 1 || day > (MONTH_DAYS[month - 1] ?? 0)) return false
  return month !== 2 || day < 29 || (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0))
}

export function readObject(signals: Signals, name: string): Signals | undefined {
  return asObject(readSignal(signals, name))
}

export function asObject(value: unknown): Signals | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Signals) : undefined
}

/** @returns the objects of an array; undefined when it is not an array or contains anything else */
export function readObjects(signals: Signals, name: string): readonly Signals[] | undefined {
  const value = readSignal(signals, name)
  if (!Array.isArray(value)) return undefined
  const objects = value.map(asObject)
  return objects.includes(undefined) ? undefined : (objects as Signals[])
}

/** Returns what a check reports as measured: a primitive value as it is, otherwise only its type. */
export function printable(value: unknown): string | number | boolean | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return Array.isArray(value) ? 'array' : typeof value
}
