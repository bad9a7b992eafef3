import { describe, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { computeBounds } from '../../src/geometry/bounds.ts'
import { checkShape } from '../../src/geometry/check-shape.ts'
import { createPoleResolver } from '../../src/geometry/pole-resolver.ts'
import type { Geometry } from '../../src/types/generated.ts'
import vectors from '../vectors/bounds.json' with { type: 'json' }

const resolvePole = createPoleResolver()

describe('the bounding box of a geometry', () => {
  it('has sides that are exactly coordinates of its positions', () => {
    // Regression: sums such as 0.1 + (0.3 − 0.1) were off by an ulp, and a box drawn to the corner missed the record.
    const random = randomFrom(11)
    const decimal = (maximum: number) => Math.round(random() * maximum * 1e6) / 1e6
    for (let round = 0; round < 200; round++) {
      const coordinates = Array.from({ length: 30 }, (): [number, number] => [decimal(170), decimal(80)])
      const [longitudes, latitudes] = [coordinates.map(([x]) => x), coordinates.map(([, y]) => y)]
      expect(computeBounds({ type: 'LineString', coordinates }, resolvePole)).toEqual([
        Math.min(...longitudes),
        Math.min(...latitudes),
        Math.max(...longitudes),
        Math.max(...latitudes),
      ])
    }
  })

  it.each(vectors.boxes)('encloses $name', ({ geometry, bounds }) => {
    expect(computeBounds(geometry as Geometry, resolvePole)).toEqual(bounds)
  })
})

describe('a geometry in an attestation', () => {
  it('loses foreign members and keeps the others', () => {
    const checked = checkShape({ type: 'Point', coordinates: [1, 2, 3], crs: 'x' })
    expect(checked).toEqual({ ok: true, geometry: { type: 'Point', coordinates: [1, 2, 3] } })
  })

  it.each<[string, unknown]>([
    ['is not a geometry', null],
    ['is not a geometry', 'Point'],
    ['has an unknown geometry type', { type: 'Circle', coordinates: [0, 0] }],
    ['has an unknown geometry type', { type: 'toString', coordinates: [0, 0] }],
    ['has a position that is not two to four finite numbers', { type: 'Point', coordinates: [1] }],
    ['has a position that is not two to four finite numbers', { type: 'Point', coordinates: ['1', 2] }],
    ['has a position that is not two to four finite numbers', { type: 'Point', coordinates: [null, 2] }],
    ['has longitude 181, outside -180..180', { type: 'Point', coordinates: [181, 2] }],
    ['has latitude -91, outside -90..90', { type: 'Point', coordinates: [1, -91] }],
    ['has 1 positions, fewer than the 2 that it needs', { type: 'LineString', coordinates: [[1, 2]] }],
    [
      'has an open ring',
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 1],
          ],
        ],
      },
    ],
    ['has no array where its type needs one', { type: 'Polygon', coordinates: [] }],
    ['is an empty collection', { type: 'GeometryCollection', geometries: [] }],
  ])('%s: %j', (reason, value) => {
    expect(checkShape(value)).toEqual({ ok: false, reason })
  })

  it('is rejected when collections nest too deeply', () => {
    let value: unknown = { type: 'Point', coordinates: [0, 0] }
    for (let depth = 0; depth < 10_000; depth++) value = { type: 'GeometryCollection', geometries: [value] }
    expect(checkShape(value)).toEqual({ ok: false, reason: 'nests collections too deeply' })
  })
})
