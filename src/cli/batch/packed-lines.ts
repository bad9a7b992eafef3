/** Packs lines of JSON as bytes. Parsing each line and writing it again took longer than computing its result. */
import { problemAt } from '../../base/problem.ts'
import { parseLine } from '../inputs/json-source.ts'
import { byteLines, type LineRange } from '../inputs/pieces.ts'
import { composeItem, createEntry, type ItemRule, operationComposer } from './feeder.ts'
import { ItemPacker, type PackedGroup, requireItems } from './packed-items.ts'

/**
 * Yields the items of lines of JSON, most of them unparsed: the engine makes these items, and validates objects that differ only in
 * their coordinates once. Lines are parsed if the run has fixed inputs: the engine reads the coordinates of a line, and would take those
 * of a fixed input for references to them.
 *
 * @param skippedItems number of items at the beginning that are left out
 * @throws {SourceError} on text that is not UTF-8, a line that is too long, and fewer items than `skippedItems`
 */
export async function* packLines(
  pieces: AsyncIterable<Uint8Array>,
  rule: ItemRule,
  skippedItems: number,
): AsyncGenerator<PackedGroup, void, undefined> {
  const packer = new ItemPacker()
  const compose = operationComposer(rule)
  let number = 0
  for await (const { bytes, lines } of byteLines(pieces)) {
    const hasFixed = Object.keys(rule.fixed).length > 0
    const isForEngine = hasFixed ? () => false : createLineTest(bytes)
    const parse = ({ start, end, number: line }: LineRange) =>
      parseLine({ text: bytes.toString('utf8', start, end), number: line })
    let packed: LineRange[] = []
    const takeGroup = () => {
      const [ranges, first] = [packed, number - packed.length + 1]
      packed = []
      return packer.take({
        read: (index) => createEntry(parse(ranges[index]!)[0]!, first + index, compose),
        composer: hasFixed
          ? undefined
          : {
              compose: (object, index) => composeObject(object, first + index, rule),
              idOf: (index) => first + index,
            },
      })
    }
    for (const range of lines) {
      for (const item of isForEngine(range) ? UNPARSED : parse(range)) {
        if (++number <= skippedItems) continue
        packed.push(range)
        if (item === undefined) packer.addLine(bytes, range)
        else packer.addEntry(createEntry(item, number, compose))
        if (packer.isFull) yield takeGroup()
      }
    }
    if (!packer.isEmpty) yield takeGroup()
  }
  requireItems(number, skippedItems)
}

/** The one item of a line that is not parsed. */
const UNPARSED = [undefined]

const OPEN_BRACE = 0x7b
/**
 * A line that contains one of these is parsed here. A FeatureCollection may have several items, and its type may be written with
 * escapes. Features differ in their properties, so the engine would have to check each anew.
 */
const PARSED_MARKS = ['Feature', '\\']

/** Returns a test for lines in their order: true if the engine can make the item of a line. A blank line has no item. */
function createLineTest(bytes: Buffer): (line: LineRange) => boolean {
  const next = PARSED_MARKS.map(() => -1)
  return ({ start, end }) => {
    if (bytes[start] !== OPEN_BRACE) return false
    return PARSED_MARKS.every((mark, index) => {
      if (next[index]! < start) next[index] = positionOf(bytes, mark, start)
      return next[index]! >= end
    })
  }
}

/** Returns the position of a text at or after `from`; the length if there is none. */
function positionOf(bytes: Buffer, text: string, from: number): number {
  const at = bytes.indexOf(text, from)
  return at < 0 ? bytes.length : at
}

/** Makes the item of a line. @throws {ProblemError} if it has a fault; `PackedGroup.read` then finds it again, to report it */
function composeObject(object: Record<string, unknown>, number: number, rule: ItemRule): Record<string, unknown> {
  const { id } = object
  const source = { place: '', value: object, ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}) }
  const composed = composeItem(source, number, rule)
  if ('fault' in composed) throw problemAt('invalid-input', [], composed.fault)
  return { ...composed.item }
}
