/** Packs lines of JSON as bytes. Parsing each line and writing it again took longer than computing its result. */
import { parseLine } from '../inputs/json-source.ts'
import { byteLines, type LineRange } from '../inputs/pieces.ts'
import { createEntry, type ItemRule } from './feeder.ts'
import { ItemPacker, type PackedGroup, requireItems, sharedMembers } from './packed-items.ts'

/**
 * Yields the items of lines of JSON. A line with anything unusual is parsed.
 *
 * @param skippedItems number of items at the beginning that are left out
 * @throws {SourceError} on text that is not UTF-8, a line that is too long, and fewer items than `skippedItems`
 */
export async function* packLines(
  pieces: AsyncIterable<Uint8Array>,
  rule: ItemRule,
  skippedItems: number,
): AsyncGenerator<PackedGroup, void, undefined> {
  const readLine = createLineReader(rule)
  const members = JSON.stringify(sharedMembers(rule) ?? {}).slice(0, -1)
  const beginning = members === '{' ? members : `${members},`
  const packer = new ItemPacker()
  let number = 0
  for await (const { bytes, lines } of byteLines(pieces)) {
    const parse = ({ start, end, number: line }: LineRange) =>
      parseLine({ text: bytes.toString('utf8', start, end), number: line })
    let packed: LineRange[] = []
    const takeGroup = () => {
      const [ranges, first] = [packed, number - packed.length + 1]
      packed = []
      return packer.take((index) => createEntry(parse(ranges[index]!)[0]!, first + index, rule))
    }
    for (const range of lines) {
      const kind = readLine(bytes, range.start, range.end)
      // Unlike this one, a line that is parsed may have no item or several.
      for (const item of kind === 'unusual' ? parse(range) : UNPARSED) {
        if (++number <= skippedItems) continue
        packed.push(range)
        if (item !== undefined) packer.addEntry(createEntry(item, number, rule))
        else packer.addLine(kind === 'with-id' ? beginning : `${beginning}"id":${number},`, bytes, range)
        if (packer.isFull) yield takeGroup()
      }
    }
    if (!packer.isEmpty) yield takeGroup()
  }
  requireItems(number, skippedItems)
}

/** The one item of a line that is not parsed. */
const UNPARSED = [undefined]

/** How a line becomes an item: by adding the shared members, by adding also an id, or by parsing it. */
export type LineKind = 'with-id' | 'without-id' | 'unusual'

/** Names with a meaning that depends on other members or on their values. */
const PARSED_NAMES = ['type', 'uid', 'uri', 'verifiedProof', 'input']

/**
 * Returns a function that looks at the names of a line's members, without those of nested objects. If the line is not unusual, the
 * item that it becomes is the one that `createEntry` makes, as far as the engine accepts it.
 */
export function createLineReader(rule: ItemRule): (bytes: Uint8Array, start: number, end: number) => LineKind {
  const shared = sharedMembers(rule)
  if (shared === undefined) return () => 'unusual'
  const excluded = [...PARSED_NAMES, ...Object.keys(shared)].map((name) => Buffer.from(name))
  const needsOperation = rule.operation === 'mixed'
  return (bytes, start, end) => {
    if (bytes[start] !== OPEN_BRACE) return 'unusual'
    let depth = 0
    let names = 0
    let hasId = false
    let hasOperation = false
    for (let index = start; index < end; index++) {
      const code = bytes[index]
      if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
      else if (code === QUOTE) {
        const from = index + 1
        index = endOfText(bytes, from, end)
        if (index < 0 || beginsWith(bytes, from, FEATURE)) return 'unusual'
        if (depth !== 1 || !isName(bytes, index + 1)) continue
        // A callback for each name would take a quarter of the time of this function.
        for (const name of excluded) if (isEqual(bytes, from, index, name)) return 'unusual'
        names++
        hasId ||= isEqual(bytes, from, index, ID)
        hasOperation ||= isEqual(bytes, from, index, OPERATION)
      }
    }
    if (depth !== 0 || names === 0 || (needsOperation && !hasOperation)) return 'unusual'
    return hasId ? 'with-id' : 'without-id'
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const COLON = 0x3a
const SPACE = 0x20
const ID = Buffer.from('id')
const OPERATION = Buffer.from('op')
/** Of a Feature or a FeatureCollection, which is more than its members. */
const FEATURE = Buffer.from('Feature')

/** Returns the index of the quote that closes a text; −1 if there is none, or the text has an escape. */
function endOfText(bytes: Uint8Array, from: number, end: number): number {
  for (let index = from; index < end; index++) {
    if (bytes[index] === QUOTE) return index
    if (bytes[index] === BACKSLASH) return -1
  }
  return -1
}

function beginsWith(bytes: Uint8Array, from: number, text: Uint8Array): boolean {
  for (let index = 0; index < text.length; index++) if (bytes[from + index] !== text[index]) return false
  return true
}

function isEqual(bytes: Uint8Array, from: number, end: number, text: Uint8Array): boolean {
  return end - from === text.length && beginsWith(bytes, from, text)
}

function isName(bytes: Uint8Array, afterQuote: number): boolean {
  let index = afterQuote
  while (bytes[index]! <= SPACE) index++
  return bytes[index] === COLON
}
