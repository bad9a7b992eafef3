import { isObject } from '../../client/forms.ts'
import { JsonCutter, type JsonPiece } from './json-documents.ts'
import type { SourceItem } from './source-item.ts'
import { splitLines } from './text.ts'

/** Reads a sequence of JSON documents of any number of lines: geometries, Features, FeatureCollections. */
export async function* jsonItems(texts: AsyncIterable<string>): AsyncGenerator<SourceItem, void, undefined> {
  const cutter = new JsonCutter()
  for await (const text of texts) {
    for (const piece of cutter.push(text)) yield* parseItems(piece)
  }
  cutter.end()
}

/** Reads one document per line. An invalid line does not affect the others. */
export async function* jsonLineItems(texts: AsyncIterable<string>): AsyncGenerator<SourceItem, void, undefined> {
  for await (const { text, number } of splitLines(texts)) {
    // RFC 8142 puts a record separator before each text.
    const line = text.startsWith('\u001e') ? text.slice(1) : text
    if (line.trim() !== '') yield* parseItems({ text: line, line: number })
  }
}

function* parseItems({ text, line }: JsonPiece): Generator<SourceItem, void, undefined> {
  const place = `line ${line}`
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    yield { place, fault: `is no JSON: ${(error as Error).message}` }
    return
  }
  if (!isObject(value)) yield { place, fault: 'is not a JSON object' }
  else if (value['type'] !== 'FeatureCollection') yield toSourceItem(value, place)
  else if (!Array.isArray(value['features'])) yield { place, fault: 'a FeatureCollection without a list "features"' }
  else for (const feature of value['features']) yield toSourceItem(feature, place)
}

function toSourceItem(value: unknown, place: string): SourceItem {
  if (!isObject(value)) return { place, fault: 'a member of "features" is not an object' }
  const { id } = value
  return { place, value, ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}) }
}

/** Tells from the beginning of a text whether it has one document per line. */
export function isJsonLines(head: string): boolean {
  const end = head.indexOf('\n')
  if (end < 0) return false
  const first = head.slice(0, end).trim()
  return first.startsWith('{') && first.endsWith('}') && head.slice(end).trim() !== ''
}
