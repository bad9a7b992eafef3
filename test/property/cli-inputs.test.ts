import { describe, expect, it } from 'vitest'
import { type SourceOptions, sourceItems } from '../../src/cli/inputs/source.ts'
import type { SourceItem } from '../../src/cli/inputs/source-item.ts'
import { scaled } from '../scale.ts'
import fc from '../seeded.ts'

async function readItems(
  pieces: readonly Uint8Array[],
  name: string,
  options: SourceOptions = {},
): Promise<SourceItem[] | string> {
  async function* chunks() {
    yield* pieces
  }
  const found: SourceItem[] = []
  try {
    for await (const item of sourceItems(chunks(), name, options)) found.push(item)
  } catch (error) {
    return (error as Error).message
  }
  return found
}

/** Splits the UTF-8 bytes at the offsets (modulo the length), which may fall inside a character. */
function split(text: string, offsets: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text)
  const ends = [...offsets.map((offset) => offset % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '{', '}', '[', ']', ',', ':', 'é', '🌍', '\n', ' ') })
const position = fc.tuple(fc.integer({ min: -180, max: 180 }), fc.integer({ min: -90, max: 90 }))
const feature = fc.record({
  type: fc.constant('Feature' as const),
  id: fc.option(fc.oneof(text, fc.nat()), { nil: undefined }),
  properties: fc.dictionary(text, fc.oneof(text, fc.array(text), fc.record({ features: fc.array(text) }))),
  geometry: fc.record({ type: fc.constant('Point' as const), coordinates: position }),
})
const offsetLists = fc.array(fc.nat(5000), { maxLength: 12 })
const spaces = fc.constantFrom(undefined, 1, '\t')

describe('reading items from a file', () => {
  it('yields every feature of a collection, for any split into chunks and any characters in its strings', async () => {
    const property = fc.asyncProperty(
      fc.array(feature),
      text,
      offsetLists,
      spaces,
      async (features, name, offsets, space) => {
        const collection = { type: 'FeatureCollection', name, crs: { features: ['not these'] }, features, note: [name] }
        const found = await readItems(split(JSON.stringify(collection, null, space), offsets), 'x.geojson', {
          format: 'json',
        })
        expect(found).toMatchObject(features.map((value) => ({ value: JSON.parse(JSON.stringify(value)) })))
        expect(found).toHaveLength(features.length)
      },
    )
    await fc.assert(property, { numRuns: scaled(300) })
  })

  it('yields every line of NDJSON, and a malformed line does not affect the others', async () => {
    const line = fc.oneof(
      feature.map((value) => ({ text: JSON.stringify(value), isGood: true })),
      fc.constantFrom('{"a"', '7', 'null', '[]', '"x"').map((broken) => ({ text: broken, isGood: false })),
    )
    const property = fc.asyncProperty(
      fc.array(line),
      offsetLists,
      fc.constantFrom('\n', '\r\n', '\n\n'),
      async (lines, offsets, end) => {
        const found = await readItems(split(lines.map((line) => line.text + end).join(''), offsets), 'x.ndjson')
        expect((found as SourceItem[]).map(({ fault }) => fault === undefined)).toEqual(
          lines.map(({ isGood }) => isGood),
        )
      },
    )
    await fc.assert(property, { numRuns: scaled(300) })
  })

  it('yields every row of a table whose quoted fields contain separators, quotes and line ends', async () => {
    const quote = (field: string) => `"${field.replaceAll('"', '""')}"`
    const property = fc.asyncProperty(
      fc.array(
        fc.tuple(
          text.filter((id) => id !== ''),
          position,
        ),
      ),
      offsetLists,
      fc.constantFrom(',', ';', '\t'),
      async (rows, offsets, separator) => {
        const table = [
          ['id', 'note', 'lat', 'lon'],
          ...rows.map(([id, [lon, lat]]) => [quote(id), quote(`${id},;`), lat, lon]),
        ]
        const found = await readItems(split(table.map((row) => row.join(separator)).join('\r\n'), offsets), 'x.csv')
        const expected = rows.map(([id, coordinates]) => ({ id, value: { type: 'Point', coordinates } }))
        expect((found as SourceItem[]).map(({ id, value }) => ({ id, value }))).toEqual(expected)
      },
    )
    await fc.assert(property, { numRuns: scaled(300) })
  })

  it('does not depend on how a GPX file is split', async () => {
    const property = fc.asyncProperty(fc.array(position, { minLength: 2 }), offsetLists, async (walk, offsets) => {
      const points = walk
        .map(([lon, lat]) => `<trkpt lat="${lat}" lon='${lon}'><name>é &lt;🌍&gt;</name></trkpt>`)
        .join('')
      const gpx = `<gpx><!-- <wpt lat="1" lon="1"/> --><trk><trkseg>${points}</trkseg></trk></gpx>`
      const found = await readItems(split(gpx, offsets), 'x.gpx')
      expect(found).toEqual([{ place: 'line 1', value: { type: 'LineString', coordinates: walk } }])
    })
    await fc.assert(property, { numRuns: scaled(200) })
  })

  it('yields items or an error message that names the file, never another error, when bytes are changed', async () => {
    const samples = [
      '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}}]}',
      'id,lon,lat\n1,2,3\n"4",5,6\n',
      '<gpx><wpt lat="1" lon="2"/><rte><rtept lat="1" lon="2"/><rtept lat="2" lon="2"/></rte></gpx>',
      'POINT (1 2)\nLINESTRING (0 0, 1 1)\n',
      '{"a":1}\n{"b":2}\n',
    ]
    const change = fc.tuple(fc.nat(200), fc.nat(255))
    const property = fc.asyncProperty(
      fc.constantFrom(...samples),
      fc.array(change, { maxLength: 6 }),
      async (sample, changes) => {
        const bytes = Buffer.from(sample)
        for (const [offset, byte] of changes) bytes[offset % bytes.length] = byte
        const found = await readItems([bytes], 'x')
        expect(typeof found === 'string' ? found.startsWith('x: ') : Array.isArray(found)).toBe(true)
      },
    )
    await fc.assert(property, { numRuns: scaled(1000) })
  })
})
