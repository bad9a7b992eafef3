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
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((digits) => Number(digits ?? 0))
  const isTime = hour! <= 23 && minute! <= 59 && second! <= 60
  const midnight = Date.UTC(year!, month! - 1, day!)
  // Date.UTC carries 31 February on into March, and takes the years 0 to 99 for those of the last century.
  if (!isTime || new Date(midnight).toISOString().slice(0, 10) !== text!.slice(0, 10)) return undefined
  const [fraction = '0', sign = '+', zoneHours = '0', zoneMinutes = '0'] = found.slice(7)
  const zone = (Number(zoneHours) * 3600 + Number(zoneMinutes) * 60) * (sign === '-' ? -1 : 1)
  return midnight / 1000 + hour! * 3600 + minute! * 60 + second! + Number(fraction) - zone
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
