import { asObject } from '../signals.ts'

/** Members of one record. */
const MAX_MEMBERS = 500

/**
 * The record that a device signed, as names and texts: a JSON object, or CSV (RFC 4180) of two lines – names, then values –
 * or of lines of a name and a value.
 *
 * @returns undefined when it is none of these or a name stands in it twice
 */
export function readRecord(text: string): ReadonlyMap<string, string> | undefined {
  const entries = text.trimStart().startsWith('{') ? jsonEntries(text) : csvEntries(text)
  if (entries === undefined || entries.length === 0 || entries.length > MAX_MEMBERS) return undefined
  const record = new Map(entries)
  return record.size === entries.length ? record : undefined
}

function jsonEntries(text: string): [string, string][] | undefined {
  try {
    const object = asObject(JSON.parse(text))
    if (object === undefined) return undefined
    const entries = Object.entries(object).map(([name, value]): [string, string] => [name, textOf(value)])
    return entries.length === namesWritten(text) ? entries : undefined
  } catch {
    return undefined
  }
}

/**
 * How many members of the outermost object JSON text writes down: `JSON.parse` keeps the last of one name without a word,
 * where another reader may keep the first.
 */
function namesWritten(text: string): number {
  let [depth, count] = [0, 0]
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    else if (token === ':' && depth === 1) count++
  }
  return count
}

/** A signal as the record would write it. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === null || value === undefined ? '' : JSON.stringify(value)
}

function csvEntries(text: string): [string, string][] | undefined {
  const rows = csvRows(text)?.filter((row) => row.join('') !== '')
  if (rows === undefined || rows.length === 0) return undefined
  const [names, values] = rows as [string[], string[] | undefined]
  if (rows.length === 2 && values !== undefined && names.length === values.length) {
    // A separator after the last name makes an empty one more.
    return names.flatMap((name, index): [string, string][] => (name === '' ? [] : [[name, values[index]!]]))
  }
  return rows.every((row) => row.length === 2) ? rows.map((row): [string, string] => [row[0]!, row[1]!]) : undefined
}

/** @returns undefined on a quote that is not closed or stands within a field */
function csvRows(text: string): string[][] | undefined {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y
  const rows: string[][] = [[]]
  while (field.lastIndex < text.length) {
    const found = field.exec(text)
    if (found === null) return undefined
    const [, quoted, plain = '', separator] = found
    rows.at(-1)!.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (separator === ',' && field.lastIndex === text.length) rows.at(-1)!.push('')
    else if (separator !== ',' && separator !== '') rows.push([])
  }
  return rows
}
