/** Writes a PMTiles file (version 3) in which every tile has the same streets, for tests of the map. */
import { writeFileSync } from 'node:fs'

const EXTENT = 4096
const MAX_ZOOM = 14
type Point = readonly [x: number, y: number]

/** A line to and fro through the tile, so that some of it is in every view. */
const SNAKE = Array.from({ length: 16 }, (_, at): Point => {
  return [at % 4 === 0 || at % 4 === 3 ? 0 : EXTENT, 256 + 512 * Math.floor(at / 2)]
})

/** @param tileType 1 for vector tiles, 2 for PNG pictures */
export function writeTestTiles(file: string, tileType = 1): void {
  const tile = Buffer.concat([
    layer('water', 'kind', 'lake', 3, [
      [300, 300],
      [1500, 300],
      [1500, 1500],
      [300, 1500],
    ]),
    layer('buildings', 'kind', 'building', 3, [
      [2500, 2500],
      [2500, 3100],
      [3100, 3100],
      [3100, 2500],
    ]),
    layer('roads', 'kind', 'major_road', 2, SNAKE),
  ])
  // One entry stands for all tiles, because a run of equal tiles is stored once.
  const tiles = (4 ** (MAX_ZOOM + 1) - 1) / 3
  const directory = Buffer.from([1, 0, tiles, tile.length, 1].flatMap(varint))
  const metadata = Buffer.from(
    JSON.stringify({
      vector_layers: ['water', 'buildings', 'roads'].map((id) => ({ id, fields: { kind: 'String' } })),
      attribution: '<a href="https://example.org">© Test streets</a>',
    }),
  )
  const header = Buffer.alloc(127)
  header.write('PMTiles', 'latin1')
  header[7] = 3
  const data = 127 + directory.length + metadata.length
  const numbers = [127, directory.length, 127 + directory.length, metadata.length, 0, 0, data, tile.length, tiles, 1, 1]
  for (const [index, value] of numbers.entries()) header.writeBigUInt64LE(BigInt(value), 8 + 8 * index)
  header.set([1, 1, 1, tileType, 0, MAX_ZOOM], 96) // clustered, not compressed
  for (const [index, degrees] of [-180, -85, 180, 85].entries()) header.writeInt32LE(degrees * 1e7, 102 + 4 * index)
  writeFileSync(file, Buffer.concat([header, directory, metadata, tile]))
}

/** Encodes a layer with one feature (Mapbox Vector Tile, version 2). */
function layer(name: string, key: string, value: string, type: 2 | 3, points: readonly Point[]): Buffer {
  const feature = [...field(2, [0, 0]), ...varint(3 << 3), ...varint(type), ...field(4, commandsOf(points, type === 3))]
  const body = [
    ...field(1, [...Buffer.from(name)]),
    ...field(2, feature),
    ...field(3, [...Buffer.from(key)]),
    ...field(4, field(1, [...Buffer.from(value)])),
    ...varint(5 << 3),
    ...varint(EXTENT),
    ...varint(15 << 3),
    ...varint(2),
  ]
  return Buffer.from(field(3, body))
}

function commandsOf(points: readonly Point[], isClosed: boolean): number[] {
  let last: Point = [0, 0]
  const steps = points.map(([x, y]) => {
    const step = [x - last[0], y - last[1]].map((value) => (value << 1) ^ (value >> 31)).flatMap(varint)
    last = [x, y]
    return step
  })
  const command = (id: number, count: number) => varint((count << 3) | id)
  const [first = [], ...others] = steps
  return [
    ...command(1, 1),
    ...first,
    ...command(2, others.length),
    ...others.flat(),
    ...(isClosed ? command(7, 1) : []),
  ]
}

/** A field of bytes: its number, its length, its content. */
function field(number: number, content: readonly number[]): number[] {
  return [...varint((number << 3) | 2), ...varint(content.length), ...content]
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))]
}
