import { isObject } from '../../client/forms.ts'
import { JsonCutter, type JsonPiece } from './json-documents.ts'
import type { SourceItem } from './source-item.ts'
import { linesOf } from './text.ts'

/** JSON documents one after the other, of any number of lines each: geometries, Features, FeatureCollections. */
export async function* jsonItems(texts: AsyncIterable<string>): AsyncGenerator<SourceItem, void, undefined> {
  const cutter = new JsonCutter()
  for await (const text of texts) {
    for (const piece of cutter.push(text)) yield* parsed(piece)
  }
  cutter.end()
}

/** One document a line: one that is wrong spoils no other. */
export async function* jsonLineItems(texts: AsyncIterable<string>): AsyncGenerator<SourceItem, void, undefined> {
  for await (const { text, number } of linesOf(texts)) {
    // RFC 8142 has a record separator before each text.
    const line = text.startsWith('\u001e') ? text.slice(1) : text
    if (line.trim() !== '') yield* parsed({ text: line, line: number })
  }
}

function* parsed({ text, line }: JsonPiece): Generator<SourceItem, void, undefined> {
  const place = `line ${line}`
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    yield { place, fault: `is no JSON: ${(error as Error).message}` }
    return
  }
  if (!isObject(value)) yield { place, fault: 'is no JSON object' }
  else if (value['type'] !== 'FeatureCollection') yield itemOf(value, place)
  else if (!Array.isArray(value['features'])) yield { place, fault: 'a FeatureCollection without a list "features"' }
  else for (const feature of value['features']) yield itemOf(feature, place)
}

function itemOf(value: unknown, place: string): SourceItem {
  if (!isObject(value)) return { place, fault: 'a member of "features" is no object' }
  const { id } = value
  return { place, value, ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}) }
}

/** Whether a text has one document in each line, seen from its beginning. */
export function isJsonLines(head: string): boolean {
  const end = head.indexOf('\n')
  if (end < 0) return false
  const first = head.slice(0, end).trim()
  return first.startsWith('{') && first.endsWith('}') && head.slice(end).trim() !== ''
}
