/** Reading signals: foreign JSON whose members may be missing or of any type. Nothing here throws. */
export type Signals = Readonly<Record<string, unknown>>

export function signalOf(signals: Signals, name: string): unknown {
  return Object.hasOwn(signals, name) ? signals[name] : undefined
}

/** @returns a finite number, or undefined */
export function numberOf(signals: Signals, name: string): number | undefined {
  const value = signalOf(signals, name)
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** The same where numbers may be written as text, as in the lines of a CSV file. */
export function numericOf(signals: Signals, name: string): number | undefined {
  const value = signalOf(signals, name)
  if (typeof value !== 'string') return numberOf(signals, name)
  const text = value.trim()
  return /^[+-]?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?$/.test(text) ? Number(text) : undefined
}

export function textOf(signals: Signals, name: string): string | undefined {
  const value = signalOf(signals, name)
  return typeof value === 'string' ? value : undefined
}

const MOMENT = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?)? ?(?:[Zz]|([+-])(\d\d):?(\d\d))?$/

/**
 * A moment as ISO 8601 writes it, in UTC where it names no zone: what a clock of ours is set to must not matter. Second 60
 * is that of a leap second.
 *
 * @returns Unix seconds; undefined for any other text
 */
export function momentOf(text: string | undefined): number | undefined {
  const found = MOMENT.exec(text ?? '')
  if (found === null) return undefined
  const part = (index: number) => Number(found[index] ?? 0)
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)]
  if (hour > 23 || minute > 59 || second > 60 || !isDate(year, month, day)) return undefined
  const zone = (part(9) * 3600 + part(10) * 60) * (found[8] === '-' ? -1 : 1)
  return Date.UTC(year, month - 1, day) / 1000 + hour * 3600 + minute * 60 + second + part(7) - zone
}

const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** `Date.UTC` carries 31 February on into March, and takes the years 0 to 99 for those of the last century. */
function isDate(year: number, month: number, day: number): boolean {
  if (year < 100 || day < 1 || day > (MONTH_DAYS[month - 1] ?? 0)) return false
  return month !== 2 || day < 29 || (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0))
}

export function objectOf(signals: Signals, name: string): Signals | undefined {
  return asObject(signalOf(signals, name))
}

export function asObject(value: unknown): Signals | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Signals) : undefined
}

/** @returns the objects of a list; undefined when it is none or holds anything else */
export function objectsOf(signals: Signals, name: string): readonly Signals[] | undefined {
  const value = signalOf(signals, name)
  if (!Array.isArray(value)) return undefined
  const objects = value.map(asObject)
  return objects.includes(undefined) ? undefined : (objects as Signals[])
}

/** What a check says it measured: the value where it can be shown, else its kind. */
export function shown(value: unknown): string | number | boolean | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return Array.isArray(value) ? 'array' : typeof value
}
