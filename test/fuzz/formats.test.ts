import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { checkShape } from '../../src/geometry/check-shape.ts'
import { readLocationText } from '../../src/geometry/location-text.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { readWkb } from '../../src/geometry/wkb.ts'
import { readWkt } from '../../src/geometry/wkt.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { LIMITS } from '../format-limits.ts'
import { type Random, randomGeometry, seededRandom, TYPES } from '../random-geometry.ts'
import { scaled } from '../scale.ts'
import { writeWkb, writeWkt } from '../wkt-writer.ts'

const count = scaled(60_000)
const PIECES = [
  '(',
  ')',
  ',',
  ' ',
  'EMPTY',
  'Z',
  'M',
  'POINT',
  'SRID=1;',
  '1e999',
  '-',
  '.',
  'NaN',
  '\u0000',
  '9'.repeat(400),
]
/** Bytes that occur in counts, flags, types and NaN. */
const BYTES = [0, 1, 2, 7, 0x11, 0x20, 0x40, 0x80, 0xe9, 0xf0, 0x7f, 0xff]

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(from.length * random())]!

function mutatedText(text: string, random: Random): string {
  let changed = text
  for (let times = 1 + Math.floor(3 * random()); times > 0; times--) {
    const at = Math.floor(changed.length * random())
    const until = at + Math.floor(4 * random())
    changed = changed.slice(0, at) + (random() < 0.7 ? pick(random, PIECES) : '') + changed.slice(until)
  }
  return changed
}

/** Returns a text with one to three typing errors: characters deleted, doubled or inserted. */
function mistyped(text: string, random: Random): string {
  let changed = text
  for (let times = 1 + Math.floor(3 * random()); times > 0; times--) {
    const at = Math.floor(changed.length * random())
    const way = random()
    const inserted =
      way < 0.4 ? '' : way < 0.6 ? changed[at]! : pick(random, [',', ' ', '(', ')', '1', '\u00a0', '.', '-'])
    changed = changed.slice(0, at) + inserted + changed.slice(way < 0.5 ? at + 1 : at)
  }
  return changed
}

function listPositions(geometry: Geometry): readonly unknown[] {
  if (geometry.type === 'GeometryCollection') return geometry.geometries.flatMap(listPositions)
  if (geometry.type === 'Point') return [geometry.coordinates]
  const depth = { MultiPoint: 0, LineString: 0, MultiLineString: 1, Polygon: 1, MultiPolygon: 2 }[geometry.type]
  return (geometry.coordinates as unknown[]).flat(depth)
}

function mutatedBytes(bytes: Buffer, random: Random): Buffer {
  const changed = Buffer.from(bytes)
  for (let times = 1 + Math.floor(3 * random()); times > 0; times--) {
    changed[Math.floor(changed.length * random())] = random() < 0.7 ? pick(random, BYTES) : Math.floor(256 * random())
  }
  const way = random()
  if (way < 0.1) return changed.subarray(0, Math.floor(changed.length * random()))
  return way < 0.15 ? Buffer.concat([changed, bytes]) : changed
}

/** Checks that a reader returns a valid geometry or throws a problem, with the position in the text or bytes if `namesPlace`. */
function checkOutcome(read: () => Geometry, seen: Record<string, number>, namesPosition = true): void {
  try {
    const geometry = read()
    const shaped = checkShape(geometry)
    if (!shaped.ok) throw new Error(`what was read ${shaped.reason}`)
    readGeometry(geometry, [], LIMITS)
    seen['read'] = (seen['read'] ?? 0) + 1
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const location = error.data.invalidParts?.[0]
    expect(error.data.type).toBe('invalid-input')
    if (namesPosition) expect(location?.detail).toMatch(/^at (?:byte|character) \d+: /)
    const code = location?.code ?? 'none'
    seen[code] = (seen[code] ?? 0) + 1
  }
}

describe('WKT and WKB', () => {
  it(`is a geometry or rejected with its position, ${count} times as text and as bytes`, () => {
    const random = seededRandom(20_261_121)
    const seen: { text: Record<string, number>; bytes: Record<string, number> } = { text: {}, bytes: {} }
    for (let index = 0; index < count; index++) {
      const type = TYPES[index % TYPES.length]!
      const { geometry } = randomGeometry(random, type, [360 * random() - 180, 160 * random() - 80], 1e6 * random())
      const text = mutatedText(writeWkt(geometry, random), random)
      const bytes = mutatedBytes(writeWkb(geometry, random), random)
      try {
        checkOutcome(() => readWkt(text, [], LIMITS), seen.text)
        checkOutcome(() => readWkb(bytes, [], LIMITS), seen.bytes)
      } catch (cause) {
        throw new Error(`${JSON.stringify(text)} or ${bytes.toString('hex')}`, { cause })
      }
    }
    console.log(seen)
    for (const outcomes of [seen.text, seen.bytes]) {
      expect(outcomes['read']).toBeGreaterThan(count / 100)
      expect(Object.keys(outcomes).length).toBeGreaterThan(7)
    }
  })

  it(`loses no number of its text, ${count} times with characters inserted, deleted or doubled`, () => {
    const random = seededRandom(20_261_122)
    const seen = { read: 0, refused: 0 }
    for (let index = 0; index < count; index++) {
      const type = TYPES[index % TYPES.length]!
      const { geometry } = randomGeometry(random, type, [360 * random() - 180, 160 * random() - 80], 1e6 * random())
      const text = mistyped(writeWkt(geometry, random), random)
      let read: Geometry
      try {
        read = readWkt(text, [], LIMITS)
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error
        seen.refused++
        continue
      }
      seen.read++
      const numbers = (text.replace(/^.*;/s, '').match(/[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/gi) ?? []).map(Number)
      const positions = listPositions(read)
      const dimension = numbers.length / positions.length
      expect([2, 3, 4], text).toContain(dimension)
      expect(positions, text).toEqual(
        positions.map((_, at) => [numbers[at * dimension]! + 0, numbers[at * dimension + 1]! + 0]),
      )
    }
    console.log(seen)
    expect(seen.read).toBeGreaterThan(count / 20)
    expect(seen.refused).toBeGreaterThan(count / 4)
  })

  it('like any text is a geometry or rejected, in every notation', () => {
    const random = seededRandom(3)
    const seen: Record<string, number> = {}
    const letters = '0123456789abcdefghjkmnpqrstuvwxyz-., ()[]ZM\u0000\ud800'
    for (let index = 0; index < count / 10; index++) {
      const text = Array.from({ length: Math.floor(20 * random()) }, () => pick(random, [...letters])).join('')
      for (const type of ['wkt', 'wkb', 'h3', 'geohash', 'lon-lat', 'lat-lon', text]) {
        checkOutcome(() => readLocationText(type, text, [], LIMITS), seen, false)
      }
    }
    console.log(seen)
    for (const code of [
      'read',
      'not-wkt',
      'not-wkb',
      'not-h3',
      'not-geohash',
      'not-degrees',
      'unknown-location-type',
    ]) {
      expect(seen[code], code).toBeGreaterThan(0)
    }
  })
})
