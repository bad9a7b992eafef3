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
