/**
 * Settings as rows of tables. A table has one row for each member of the configuration; a row names the environment variable and
 * says how its value is read. Tables may be nested, as the configuration is.
 */

export type Environment = Readonly<Record<string, string | undefined>>

/** Invalid or missing settings. `trigpoint` exits with code 78 and this message. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  /** What is wrong, one text for each fault. */
  readonly faults: readonly string[]

  constructor(faults: string | readonly string[], options?: ErrorOptions) {
    const texts = [faults].flat()
    const [first = ''] = texts
    const all = texts.map((fault, index) => `(${index + 1}) ${fault}`).join('; ')
    super(texts.length === 1 ? first : `${texts.length} settings are missing or wrong: ${all}`, options)
    this.faults = texts
  }
}

/**
 * Runs all checks. A fault that several of them find counts once.
 *
 * @throws {ConfigError} with the faults of all checks
 */
export function checkAll(checks: Iterable<() => void>): void {
  const faults = new Set<string>()
  for (const check of checks) {
    try {
      check()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      for (const fault of error.faults) faults.add(fault)
    }
  }
  if (faults.size > 0) throw new ConfigError([...faults])
}

/** What settings are read from. */
export interface Source {
  readonly env: Environment
  /** True with `NODE_ENV=production`. */
  readonly production: boolean
  /** Number of available processors. */
  readonly cores: number
}

export interface Setting<T> {
  /** Environment variables that the row reads. Empty for a constant. */
  readonly names: readonly string[]
  /** The default; undefined if there is none or if it depends on other settings. */
  readonly fallback?: T
  /** Settings that are read only if this one is on. */
  readonly parts?: SettingTable
  /** @throws {ConfigError} on an invalid value; the message names the variable and what is allowed */
  readonly read: (source: Source) => T
}

export type SettingTable = { readonly [member: string]: Setting<unknown> | SettingTable }

/** The values of a table, under the names of its rows. */
export type Values<T> = {
  readonly [K in keyof T]: T[K] extends { readonly read: (source: Source) => infer V } ? V : Values<T[K]>
}

/** Reads all rows of a table. @throws {ConfigError} with all invalid values */
export function readSettings<T extends SettingTable>(table: T, source: Source): Values<T> {
  const values: Record<string, unknown> = {}
  const rows = Object.entries(table)
  checkAll(
    rows.map(([member, row]) => () => {
      values[member] = isSetting(row) ? row.read(source) : readSettings(row, source)
    }),
  )
  return values as Values<T>
}

/** Yields the rows of a table, nested ones included, each with the name of its member. */
export function* settingRows(table: SettingTable): Generator<readonly [member: string, setting: Setting<unknown>]> {
  for (const [member, row] of Object.entries(table)) {
    if (!isSetting(row)) yield* settingRows(row)
    else {
      yield [member, row]
      if (row.parts !== undefined) yield* settingRows(row.parts)
    }
  }
}

function isSetting(row: Setting<unknown> | SettingTable): row is Setting<unknown> {
  return typeof row['read'] === 'function'
}

/** A value, or how to compute it from other settings. */
type Computed<T> = T | ((source: Source) => T)
/** Rejects a value. @param expected completes the sentence "must be …" */
type Fail = (expected: string) => never

/** A value that operators cannot change. */
export function constant<T>(value: T): Setting<T> {
  return { names: [], fallback: value, read: () => value }
}

/** A value that follows from other settings. */
export function derived<T>(read: (source: Source) => T): Setting<T> {
  return { names: [], read }
}

/** A row with a parser of its own. An empty value counts as absent. */
export function parsed<T>(name: string, fallback: Computed<T>, parse: (text: string, fail: Fail) => T): Setting<T> {
  return {
    names: [name],
    ...(isComputed(fallback) ? {} : { fallback }),
    read(source) {
      const text = source.env[name]
      return text ? parse(text, failure(name, text)) : resolve(fallback, source)
    },
  }
}

/** A number in decimal digits, with or without a fraction. */
export function number(name: string, fallback: number, low: number, high: number): Setting<number> {
  return numeric(name, fallback, (text, _source, fail) => {
    const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    return value >= low && value <= high
      ? value
      : fail(`a number from ${decimal(low)} to ${decimal(high)} in decimal digits, such as 1 or 0.5`)
  })
}

/** A whole number in decimal digits. */
export function integer(
  name: string,
  fallback: Computed<number>,
  low: Computed<number>,
  high: number,
): Setting<number> {
  return numeric(name, fallback, (text, source, fail) => wholeNumber(text, resolve(low, source), high, fail))
}

function numeric(
  name: string,
  fallback: Computed<number>,
  parse: (text: string, source: Source, fail: Fail) => number,
): Setting<number> {
  return {
    names: [name],
    ...(isComputed(fallback) ? {} : { fallback }),
    read(source) {
      const text = source.env[name]
      // Settings files may leave white space around a number.
      return text?.trim() ? parse(text.trim(), source, failure(name, text)) : resolve(fallback, source)
    },
  }
}

export function flag(name: string, fallback: boolean): Setting<boolean> {
  return parsed(name, fallback, (text, fail) => {
    if (text === '1' || text === 'true') return true
    return text === '0' || text === 'false' ? false : fail('1 or 0')
  })
}

/** A flag that counts only in production, where it is off by default. Elsewhere the value is always true. */
export function productionFlag(name: string): Setting<boolean> {
  const setting = flag(name, false)
  return { ...setting, read: (source) => !source.production || setting.read(source) }
}

/** One of several words. The first is the default. */
export function choice<const T extends readonly string[]>(name: string, choices: T): Setting<T[number]> {
  return parsed<T[number]>(name, choices[0]!, (text, fail) =>
    choices.includes(text) ? text : fail(`one of ${choices.join(', ')}`),
  )
}

export function text(name: string, fallback: Computed<string>): Setting<string> {
  return parsed(name, fallback, (value) => value)
}

export function optionalText(name: string): Setting<string | undefined> {
  return parsed<string | undefined>(name, undefined, (value) => value)
}

/** Text that is shown to people: without control characters. */
export function shortText(name: string, fallback: string, maxCharacters: number): Setting<string> {
  return parsed(name, fallback, (value, fail) => {
    const isShown = value.trim() !== '' && !/\p{C}/u.test(value)
    return isShown && value.length <= maxCharacters ? value : fail(`text of 1 to ${maxCharacters} characters`)
  })
}

/** An http or https URL, without slashes at its end. */
export function url(name: string): Setting<string | undefined> {
  return parsed<string | undefined>(name, undefined, (value, fail) => {
    if (!/^https?:\/\/\S+$/.test(value) || !URL.canParse(value)) fail('an absolute http or https URL')
    return value.replace(/\/+$/, '')
  })
}

/** Tells whether a text is a URL of this machine, which may get the secrets of this machine. */
export function isThisMachine(url: string): boolean {
  return URL.canParse(url) && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
}

/** 32 bytes in hex, in lower case. */
export function bytes32(name: string): Setting<string | undefined> {
  return parsed<string | undefined>(name, undefined, (value, fail) =>
    /^0x[0-9a-fA-F]{64}$/.test(value) ? value.toLowerCase() : fail('0x and 64 hex digits'),
  )
}

/** Entries separated by commas. */
export function list(name: string): Setting<readonly string[]> {
  return parsed<readonly string[]>(name, [], splitList)
}

export function splitList(value: string): string[] {
  return value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** Accepts decimal digits only, so that every setting is read the same way: no exponent, sign, separators or spaces. */
export function wholeNumber(digits: string, low: number, high: number, fail: Fail): number {
  const value = /^\d+$/.test(digits) ? Number(digits) : Number.NaN
  if (value >= low && value <= high) return value
  const example = Math.min(Math.max(low, 1000), high)
  return fail(`a whole number from ${low} to ${high} in decimal digits, such as ${example}`)
}

/** Returns the function that rejects the value of one setting. */
export function failure(name: string, value: string): Fail {
  return (expected) => {
    throw new ConfigError(`${name}=${JSON.stringify(value)}: must be ${expected}`)
  }
}

/** Formats a number without an exponent. */
function decimal(value: number): string {
  return value.toLocaleString('en', { useGrouping: false, maximumFractionDigits: 20 })
}

function isComputed<T>(value: Computed<T>): value is (source: Source) => T {
  return typeof value === 'function'
}

function resolve<T>(value: Computed<T>, source: Source): T {
  return isComputed(value) ? value(source) : value
}
