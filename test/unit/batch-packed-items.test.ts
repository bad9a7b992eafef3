import { describe, expect, it } from 'vitest'
import { pack, unpack } from '../../src/base/bytes.ts'
import { ProblemError } from '../../src/base/problem.ts'
import { createEntry, type ItemRule, operationComposer } from '../../src/cli/batch/feeder.ts'
import type { PackedGroup } from '../../src/cli/batch/packed-items.ts'
import { packLines } from '../../src/cli/batch/packed-lines.ts'
import { packRows } from '../../src/cli/batch/packed-rows.ts'
import { csvItems } from '../../src/cli/inputs/csv-source.ts'
import { jsonLineItems } from '../../src/cli/inputs/json-source.ts'
import { decodeText } from '../../src/cli/inputs/pieces.ts'
import type { SourceItem } from '../../src/cli/inputs/source-item.ts'
import { createLocalEngine } from '../../src/cli/local-engine.ts'
import type { JsonObject } from '../../src/validation/json-body.ts'

const POINT = '{"type":"Point","coordinates":[2,48]}'
const PARIS = '{"type":"Point","coordinates":[2.3522,48.8566]}'
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
      const object = JSON.parse(Buffer.from(unpack(group.items, index)).toString())
      inGroup[position] = group.composer === undefined ? object : compose(group, object, index)
    })
    for (const position of group.faults) {
      const { place, fault } = group.read(position)
      inGroup[position] = `${place}: ${fault}`
    }
    found.push(...inGroup)
  }
  return found
}

/** Does what the engine does with an object. A fault is found again when the item is read. */
function compose({ composer, positions, read }: PackedGroup, object: JsonObject, index: number): unknown {
  try {
    return composer!.compose(object, index)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const { place, fault } = read(positions[index]!)
    expect(fault).toBe(error.data.detail)
    return `${place}: ${fault}`
  }
}

/** Returns the same for items that are all parsed. */
async function parsedItems(source: AsyncIterable<readonly SourceItem[]>, rule: ItemRule): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const items of source) {
    for (const item of items) {
      const entry = createEntry(item, found.length + 1, operationComposer(rule))
      found.push(entry.item ?? `${entry.place}: ${entry.fault}`)
    }
  }
  return found
}

describe('a line of JSON that is packed as bytes', () => {
  it.each([
    ['without an id', DISTANCE, `{"from":${POINT},"to":${POINT}}`],
    ['with an id', DISTANCE, `{"id":"a","from":${POINT},"to":${POINT}}`],
    ['with an id that is null', DISTANCE, `{"id":null,"from":${POINT},"to":${POINT}}`],
    ['with an id that is a list', DISTANCE, `{"id":[1],"from":${POINT},"to":${POINT}}`],
    ['with spaces and other members', DISTANCE, `{"note" : ["id", "op"], "from":${POINT},"to" :\t${POINT}}`],
    ['with a fixed input', TO_PARIS, `{"from":${POINT}}`],
    ['with a radius', WITHIN, `{"geometry":${POINT},"id":7}`],
    ['of any operation', MIXED, `{"op":"area","geometry":${POINT},"chainId":8453}`],
    ['that is a geometry', TO_PARIS, POINT],
    ['that is a Feature', TO_PARIS, `{"type":"Feature","id":"f","properties":{"id":9},"geometry":${POINT}}`],
    ['that is a Feature without a geometry', TO_PARIS, '{"type":"Feature","properties":{},"geometry":null}'],
    ['with a type', DISTANCE, `{"type":"trip","from":${POINT},"to":${POINT}}`],
    ['with an input without a name', TO_PARIS, `{"input":${POINT}}`],
    ['with its own value of a fixed input', TO_PARIS, `{"from":${POINT},"to":${POINT}}`],
    ['with its own radius', WITHIN, `{"geometry":${POINT},"radius":1}`],
    ['with an operation of its own', DISTANCE, `{"op":"area","geometry":${POINT}}`],
    ['without an operation', MIXED, `{"from":${POINT},"to":${POINT}}`],
    ['with a Feature', DISTANCE, `{"from":{"type":"Feature","properties":{},"geometry":${POINT}},"to":${POINT}}`],
    ['with an escape', DISTANCE, `{"\\u0069d":1,"from":${POINT},"to":${POINT}}`],
    ['with two features', TO_PARIS, `{"features":[${POINT},${POINT}],"type":"Feature\\u0043ollection"}`],
    ['without members', DISTANCE, '{}'],
    ['with a list', DISTANCE, '[1]'],
    ['with an input of all items that is invalid', INVALID, `{"from":${POINT}}`],
  ])('is the item of the parsed line: %s', async (_case, rule, line) => {
    const text = `${line}\n${line}\r\n${line}`
    const packed = await packedItems(packLines(pieces(text), rule, 0))
    expect(packed).toEqual(await parsedItems(jsonLineItems(decodeText(pieces(text))), rule))
    expect(packed.length).toBeGreaterThanOrEqual(3)
  })

  it('is computed with its own id, or its number if it has none', async () => {
    const { computeUnsigned } = createLocalEngine({ env: {}, now: () => 0 })
    const lines = [
      `{"from":${POINT},"to":${PARIS}}`,
      `{"from":${POINT},"to":${PARIS}}`,
      `{"id" : 7,"from":${POINT},"to":${PARIS}}`,
      `{"id" : 7,"from":${POINT},"to":${PARIS}}`,
      `{"id":"a","from":${POINT},"to":${PARIS}}`,
      `{"id":"b","from":${POINT},"to":${PARIS}}`,
      `{"from":{"type":"Feature","properties":{"id":1},"geometry":${POINT}},"to":${PARIS}}`,
      `{"from":{"type":"Feature","properties":{"id":2},"geometry":${POINT}},"to":${PARIS}}`,
      `{"id":null,"from":${POINT},"to":${PARIS}}`,
      `{"from":"here","to":${PARIS}}`,
      `{"from":${POINT}`,
      `{"from":${POINT},"to":${PARIS}}`,
    ]
    const options = { chainId: 84532, recipient: undefined, attest: 'none' } as const
    const ids: unknown[] = []
    for await (const { items, composer } of packLines(pieces(`${lines.join('\n')}\n`), DISTANCE, 0)) {
      const results = computeUnsigned(items, options, true, composer)
      expect(results.rejected).toEqual([9, 10])
      const text = Buffer.from(results.lines.buffer).toString()
      ids.push(
        ...text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).id),
      )
    }
    expect(ids).toEqual([1, 2, 7, 7, 'a', 'b', 7, 8, 9, 12])
  })

  it('is computed without references only if it is a distance between points', () => {
    const { computeUnsigned } = createLocalEngine({ env: {}, now: () => 0 })
    const line = '{"type":"LineString","coordinates":[[2,48],[3,49]]}'
    const items = pack(
      [
        `{"op":"distance","from":${POINT},"to":{"type":"Point","coordinates":[3,49]}}`,
        `{"op":"distance","from":${POINT},"to":${line}}`,
        `{"op":"within","geometry":${POINT},"target":${POINT},"radius":5}`,
      ].map((text) => Buffer.from(text)),
    )
    const resultsOf = (hasRefs: boolean) => {
      const { lines } = computeUnsigned(
        items,
        { chainId: 84532, recipient: undefined, attest: 'none' },
        hasRefs,
        undefined,
      )
      return Buffer.from(lines.buffer)
        .toString()
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text))
    }
    const [distance, ...others] = resultsOf(true)
    expect(distance.inputRefs).toHaveLength(2)
    expect(resultsOf(false)).toEqual([{ ...distance, inputRefs: [] }, ...others])
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
