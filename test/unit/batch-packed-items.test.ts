import { describe, expect, it } from 'vitest'
import { unpack } from '../../src/base/bytes.ts'
import { createEntry, type ItemRule } from '../../src/cli/batch/feeder.ts'
import type { PackedGroup } from '../../src/cli/batch/packed-items.ts'
import { createLineReader, packLines } from '../../src/cli/batch/packed-lines.ts'
import { packRows } from '../../src/cli/batch/packed-rows.ts'
import { csvItems } from '../../src/cli/inputs/csv-source.ts'
import { jsonLineItems } from '../../src/cli/inputs/json-source.ts'
import { decodeText } from '../../src/cli/inputs/pieces.ts'
import type { SourceItem } from '../../src/cli/inputs/source-item.ts'

const POINT = '{"type":"Point","coordinates":[2,48]}'
const MIXED: ItemRule = { operation: 'mixed', fixed: {}, radius: undefined }
const DISTANCE: ItemRule = { operation: 'distance', fixed: {}, radius: undefined }
const TO_PARIS: ItemRule = { ...DISTANCE, fixed: { to: { type: 'Point', coordinates: [2.3522, 48.8566] } } }
const WITHIN: ItemRule = { operation: 'within', fixed: { target: { type: 'Point', coordinates: [0, 1] } }, radius: 500 }
const AREA: ItemRule = { operation: 'area', fixed: {}, radius: undefined }
const INVALID: ItemRule = { ...DISTANCE, fixed: { to: { type: 'Feature', geometry: null } as never } }

async function* pieces(text: string, pieceBytes = 65_536) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

/** Returns the items that the engine gets, and the faults of the others with where they are. */
async function packedItems(groups: AsyncIterable<PackedGroup>): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const group of groups) {
    const inGroup: unknown[] = []
    group.positions.forEach((position, index) => {
      inGroup[position] = JSON.parse(Buffer.from(unpack(group.items, index)).toString())
    })
    for (const position of group.faults) {
      const { place, fault } = group.read(position)
      inGroup[position] = `${place}: ${fault}`
    }
    found.push(...inGroup)
  }
  return found
}

/** Returns the same for items that are all parsed. */
async function parsedItems(source: AsyncIterable<readonly SourceItem[]>, rule: ItemRule): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const items of source) {
    for (const item of items) {
      const entry = createEntry(item, found.length + 1, rule)
      found.push(entry.item ?? `${entry.place}: ${entry.fault}`)
    }
  }
  return found
}

describe('a line of JSON that is packed as bytes', () => {
  const kindOf = (rule: ItemRule, line: string) => {
    const bytes = Buffer.from(line)
    return createLineReader(rule)(bytes, 0, bytes.length)
  }

  it.each([
    ['without an id', DISTANCE, `{"from":${POINT},"to":${POINT}}`, 'without-id'],
    ['with an id', DISTANCE, `{"id":"a","from":${POINT},"to":${POINT}}`, 'with-id'],
    [
      'with spaces and other members',
      DISTANCE,
      `{"note" : ["id", "op"], "from":${POINT},"to" :\t${POINT}}`,
      'without-id',
    ],
    ['with a fixed input', TO_PARIS, `{"from":${POINT}}`, 'without-id'],
    ['with a radius', WITHIN, `{"geometry":${POINT},"id":7}`, 'with-id'],
    ['of any operation', MIXED, `{"op":"area","geometry":${POINT},"chainId":8453}`, 'without-id'],
  ])('is the item of the parsed line: %s', async (_case, rule, line, kind) => {
    expect(kindOf(rule, line)).toBe(kind)
    const text = `${line}\n${line}\r\n${line}`
    const packed = await packedItems(packLines(pieces(text), rule, 0))
    expect(packed).toEqual(await parsedItems(jsonLineItems(decodeText(pieces(text))), rule))
    expect(packed).toHaveLength(3)
  })

  it.each([
    ['a geometry', TO_PARIS, POINT],
    ['a member that makes it an input', DISTANCE, `{"type":"trip","from":${POINT},"to":${POINT}}`],
    ['an input without a name', TO_PARIS, `{"input":${POINT}}`],
    ['its own value of a fixed input', TO_PARIS, `{"from":${POINT},"to":${POINT}}`],
    ['its own radius', WITHIN, `{"geometry":${POINT},"radius":1}`],
    ['an operation of its own', DISTANCE, `{"op":"area","geometry":${POINT}}`],
    ['no operation', MIXED, `{"from":${POINT},"to":${POINT}}`],
    ['a Feature', DISTANCE, `{"from":{"type":"Feature","properties":{},"geometry":${POINT}},"to":${POINT}}`],
    ['an escape', DISTANCE, `{"\\u0069d":1,"from":${POINT},"to":${POINT}}`],
    ['no members', DISTANCE, '{}'],
    ['an end that is missing', DISTANCE, `{"from":${POINT}`],
    ['a quote that is not closed', DISTANCE, '{"from'],
    ['a list', DISTANCE, '[1]'],
    ['an input of all items that is invalid', INVALID, `{"from":${POINT}}`],
  ])('is parsed if it has %s', (_case, rule, line) => {
    expect(kindOf(rule, line)).toBe('unusual')
  })
})

describe('packed items', () => {
  const lines = [
    `\ufeff{"from":${POINT},"note":"é🌍"}`,
    '',
    `{"type":"FeatureCollection","features":[${POINT},{"type":"Feature","id":"f","geometry":${POINT}}]}`,
    'nonsense',
    ...Array.from(
      { length: 600 },
      (_, index) => `{"id":"${index}","from":{"type":"Point","coordinates":[${index / 4},1]}}`,
    ),
    `\u001e${POINT}`,
    `{"from":${POINT}}`,
  ]
  const rows = [
    'id,lon,lat,note',
    '1,2.5,48.25,"a, b"',
    ',-2.5e1,48,',
    'x y,+2.5, 48 ,',
    'é"🌍,0,0,',
    '"a\nb",.5,5.,',
    `${'i'.repeat(129)},1,1,`,
    '3,far,48,',
    '4,0x10,48,',
    '5,"2,5",48,',
    '6,1,,',
    '',
    '7,1',
    '8,1,2,3,4',
    ...Array.from({ length: 600 }, (_, index) => `${index},${index / 4},${index / 8},plain`),
    'last,1,2,"no end"',
  ]
  it.each([1, 7, 1000, 65_536])(
    'are those of the parser, wherever the pieces of a file of JSON end (%d)',
    async (size) => {
      const text = lines.join('\n')
      const parsed = await parsedItems(jsonLineItems(decodeText(pieces(text))), TO_PARIS)
      expect(await packedItems(packLines(pieces(text, size), TO_PARIS, 0))).toEqual(parsed)
      const rest = await packedItems(packLines(pieces(text, size), TO_PARIS, 300))
      expect(rest).toEqual(parsed.slice(300))
    },
  )

  it.each([1, 7, 1000, 65_536])('are those of the parser, wherever the pieces of a table end (%d)', async (size) => {
    const text = rows.join('\r\n')
    const packed = (skippedItems: number) => {
      const options = { columns: undefined, skippedItems, hasIds: true }
      return packedItems(packRows(decodeText(pieces(text, size)), TO_PARIS, options))
    }
    const parsed = await parsedItems(csvItems(decodeText(pieces(text)), undefined), TO_PARIS)
    expect(await packed(0)).toEqual(parsed)
    expect(await packed(300)).toEqual(parsed.slice(300))
  })

  it.each([
    ['two points', 'from_lon,from_lat,to_lon,to_lat\n1,2,3,4\n', DISTANCE],
    ['a point and one of all items', 'from_lon,from_lat\n1,2\n', TO_PARIS],
    ['a radius of its own', 'lon,lat,radius\n1,2,70\n1,2,\n1,2,1e999\n', { ...WITHIN, radius: undefined }],
    ['no radius', 'lon,lat\n1,2\n', { ...WITHIN, radius: undefined }],
    ['a geometry', 'wkt\n"POLYGON ((0 0, 1 0, 1 1, 0 0))"\nPOINT\n', AREA],
    ['an input that the operation lacks', 'geometry_lon,geometry_lat,to_lon,to_lat\n1,2,3,4\n', AREA],
    ['no second input', 'lon,lat\n1,2\n', DISTANCE],
    ['no operation', 'lon,lat\n1,2\n', MIXED],
    ['an input of all items that is invalid', 'lon,lat\n1,2\n', INVALID],
  ] as const)('are those of the parser if the rows have %s', async (_case, text, rule) => {
    const options = { columns: undefined, skippedItems: 0, hasIds: true }
    const packed = await packedItems(packRows(decodeText(pieces(text)), rule, options))
    expect(packed).toEqual(await parsedItems(csvItems(decodeText(pieces(text)), undefined), rule))
  })

  it('say that a file has become shorter', async () => {
    await expect(packedItems(packLines(pieces(`{"from":${POINT}}`), TO_PARIS, 2))).rejects.toThrow(/^shorter than/)
  })
})
