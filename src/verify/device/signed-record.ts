import { asObject } from '../signals.ts'

/** The most members of one record. */
const MAX_MEMBERS = 500

/**
 * Reads the record that a device signed, as names and texts. It is a JSON object, or CSV (RFC 4180) with a line of
 * names and a line of values, or CSV with a name and a value on each line.
 *
 * @returns undefined when it has another form, or when a name is repeated
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
    const entries = Object.entries(object).map(([name, value]): [string, string] => [name, toRecordText(value)])
    return entries.length === countMembers(text) ? entries : undefined
  } catch {
    return undefined
  }
}

/**
 * Counts the members of the outermost object in JSON text. Needed to detect repeated names: `JSON.parse` silently keeps
 * the last one, while another parser may keep the first.
 */
function countMembers(text: string): number {
  let [depth, count] = [0, 0]
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    else if (token === ':' && depth === 1) count++
  }
  return count
}

/** Returns a signal as a record would write it. */
export function toRecordText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === null || value === undefined ? '' : JSON.stringify(value)
}

function csvEntries(text: string): [string, string][] | undefined {
  const rows = csvRows(text)?.filter((row) => row.join('') !== '')
  if (rows === undefined || rows.length === 0) return undefined
  const [names, values] = rows as [string[], string[] | undefined]
  if (rows.length === 2 && values !== undefined && names.length === values.length) {
    // A separator after the last name adds an empty name.
    return names.flatMap((name, index): [string, string][] => (name === '' ? [] : [[name, values[index]!]]))
  }
  return rows.every((row) => row.length === 2) ? rows.map((row): [string, string] => [row[0]!, row[1]!]) : undefined
}

/** @returns undefined when a quote is not closed or is inside an unquoted field */
function csvRows(text: string): string[][] | undefined {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y
  const rows: string[][] = [[]]
  while (field.lastIndex < text.length) {
    const match = field.exec(text)
    if (match === null) return undefined
    const [, quoted, plain = '', separator] = match
    rows.at(-1)!.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (separator === ',' && field.lastIndex === text.length) rows.at(-1)!.push('')
    else if (separator !== ',' && separator !== '') rows.push([])
  }
  return rows
}
