import { MAX_ITEM_CHARACTERS, SourceError } from './source-item.ts'

export interface CsvRecord {
  readonly fields: readonly string[]
  /** Line of its first character, from 1. */
  readonly line: number
}

/**
 * Reads records of comma-separated values (RFC 4180). Quoted fields may contain separators, line ends and doubled quotes. Empty
 * lines are skipped.
 *
 * @param separator one character
 * @throws {SourceError} on an unclosed quote
 */
export async function* csvRecords(
  texts: AsyncIterable<string>,
  separator: string,
): AsyncGenerator<CsvRecord, void, undefined> {
  let fields: string[] = []
  let field = ''
  let line = 1
  let startLine = 1
  let isQuoted = false
  /** True after a quote inside quotes, which either closes them or is the first of two. */
  let isAfterQuote = false
  let length = 0
  const endRecord = (): CsvRecord | undefined => {
    const isEmpty = fields.length === 0 && field.trim() === ''
    const record = { fields: [...fields, field], line: startLine }
    fields = []
    field = ''
    length = 0
    startLine = line
    return isEmpty ? undefined : record
  }
  for await (const text of texts) {
    for (const character of text) {
      if (character === '\n') line++
      if (++length > MAX_ITEM_CHARACTERS) throw new SourceError(`line ${startLine}`, 'is longer than 32 MiB')
      if (isQuoted && !isAfterQuote) {
        if (character === '"') isAfterQuote = true
        else field += character
        continue
      }
      if (isAfterQuote) {
        isAfterQuote = false
        if (character === '"') {
          field += '"'
          continue
        }
        isQuoted = false
      }
      if (character === '"' && field.trim() === '') {
        isQuoted = true
        field = ''
      } else if (character === separator) {
        fields.push(field)
        field = ''
      } else if (character === '\n') {
        const record = endRecord()
        if (record !== undefined) yield record
      } else if (character !== '\r') field += character
    }
  }
  if (isQuoted && !isAfterQuote) throw new SourceError(`line ${startLine}`, 'a quote is not closed')
  const last = endRecord()
  if (last !== undefined) yield last
}

/** Returns the separator of a header, which is the most frequent one. */
export function detectSeparator(header: string): string {
  const count = (separator: string) => header.split(separator).length - 1
  return [',', ';', '\t'].reduce((best, separator) => (count(separator) > count(best) ? separator : best))
}
