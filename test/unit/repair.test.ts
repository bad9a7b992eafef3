import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { countWork, Work, WorkLimitError } from '../../src/base/work.ts'
import { repairGeometry } from '../../src/compute/repair.ts'
import { areaSquareMeters, bandAreaSquareMeters } from '../../src/geodesy/area.ts'
import { planeRingSquareMeters } from '../../src/geodesy/plane-area.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { jtsGeometry, jtsIsValid } from '../jts.ts'

type Ring = readonly (readonly [number, number])[]

const kernel = loadKernel()
const LIMITS = { maxVertices: 50_000, maxParts: 10_000 }

function repair(type: 'Polygon' | 'MultiPolygon', coordinates: unknown) {
  const openRings = new Set<number>()
  const flat = readGeometry({ type, coordinates } as Geometry, ['geometry'], LIMITS, openRings)
  return repairGeometry(kernel, flat, openRings, ['geometry'], LIMITS)
}

const codesOf = ({ changes }: ReturnType<typeof repair>) => changes.map(({ code }) => code)

const box = (west: number, south: number, east: number, north: number): Ring => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]

/** Area of a box in the plane. */
const boxArea = (width: number, south: number, north: number) => (bandAreaSquareMeters(south, north) * width) / 360

describe('repair of named cases', () => {
  it.each([
    {
      name: 'a bowtie becomes two triangles',
      rings: [
        [
          [0, 0],
          [2, 2],
          [2, 0],
          [0, 2],
          [0, 0],
        ],
      ],
      wanted: [
        [
          [
            [0, 0],
            [1, 1],
            [0, 2],
            [0, 0],
          ],
        ],
        [
          [
            [1, 1],
            [2, 0],
            [2, 2],
            [1, 1],
          ],
        ],
      ],
      codes: ['self-intersection'],
    },
    {
      name: 'a hole outside becomes a polygon',
      rings: [box(0, 0, 1, 1), box(2, 2, 3, 3)],
      wanted: [[box(0, 0, 1, 1)], [box(2, 2, 3, 3)]],
      codes: ['hole-outside'],
    },
    {
      name: 'a hole that touches along a line becomes a notch',
      rings: [box(0, 0, 4, 4), box(0, 1, 2, 2)],
      wanted: [
        [
          [
            [0, 0],
            [4, 0],
            [4, 4],
            [0, 4],
            [0, 2],
            [2, 2],
            [2, 1],
            [0, 1],
            [0, 0],
          ],
        ],
      ],
      codes: ['rings-touch', 'rings-touch'],
    },
    {
      name: 'a hole in a hole is a part of it',
      rings: [box(0, 0, 9, 9), box(1, 1, 5, 5), box(2, 2, 3, 3)],
      wanted: [
        [
          box(0, 0, 9, 9),
          [
            [1, 1],
            [1, 5],
            [5, 5],
            [5, 1],
            [1, 1],
          ],
        ],
      ],
      codes: ['rewound', 'ring-united'],
    },
    {
      name: 'a spike is removed',
      rings: [
        [
          [0, 0],
          [4, 0],
          [8, 0],
          [4, 0],
          [4, 4],
          [0, 4],
          [0, 0],
        ],
      ],
      wanted: [[box(0, 0, 4, 4)]],
      codes: ['spike'],
    },
    {
      name: 'repeated positions are removed from a ring that touches itself',
      rings: [
        [
          [0, 0],
          [4, 0],
          [4, 0],
          [4, 4],
          [2, 0],
          [0, 4],
          [0, 0],
        ],
      ],
      wanted: [
        [
          [
            [0, 0],
            [2, 0],
            [0, 4],
            [0, 0],
          ],
        ],
        [
          [
            [2, 0],
            [4, 0],
            [4, 4],
            [2, 0],
          ],
        ],
      ],
      codes: ['repeated-vertex', 'self-touch'],
    },
    {
      name: 'a hole drawn as a part of the ring becomes a hole',
      rings: [
        [
          [0, 0],
          [4, 0],
          [4, 4],
          [2, 4],
          [3, 2],
          [1, 2],
          [2, 4],
          [0, 4],
          [0, 0],
        ],
      ],
      wanted: [
        [
          [
            [0, 0],
            [4, 0],
            [4, 4],
            [2, 4],
            [0, 4],
            [0, 0],
          ],
          [
            [2, 4],
            [3, 2],
            [1, 2],
            [2, 4],
          ],
        ],
      ],
      codes: ['self-touch'],
    },
    {
      name: 'a ring that crosses itself at longitude 180 is cut there',
      rings: [
        [
          [179, 0],
          [-179, 2],
          [-179, 0],
          [179, 2],
          [179, 0],
        ],
      ],
      wanted: [
        [
          [
            [179, 0],
            [180, 1],
            [179, 2],
            [179, 0],
          ],
        ],
        [
          [
            [-180, 1],
            [-179, 0],
            [-179, 2],
            [-180, 1],
          ],
        ],
      ],
      codes: ['cut-at-antimeridian'],
    },
  ])('$name', ({ rings, wanted, codes }) => {
    const result = repair('Polygon', rings)
    const { type, coordinates } = result.geometry as { type: string; coordinates: unknown }
    expect(type === 'Polygon' ? [coordinates] : coordinates).toEqual(wanted)
    expect(codesOf(result)).toEqual(codes)
  })

  it('closes a ring, without any other change', () => {
    const result = repair('Polygon', [box(0, 0, 1, 1).slice(0, 4)])
    expect(result.geometry).toEqual({ type: 'Polygon', coordinates: [box(0, 0, 1, 1)] })
    expect(codesOf(result)).toEqual(['closed'])
  })

  it('unites polygons that overlap, are nested, or share an edge', () => {
    const overlapping = repair('MultiPolygon', [[box(0, 0, 4, 4)], [box(1, 1, 5, 2)]])
    expect((overlapping.geometry as { coordinates: unknown[][] }).coordinates[0]).toHaveLength(9)
    expect(overlapping.changes.map(({ code, place }) => [code, place])).toEqual([
      ['rings-cross', [4, 1]],
      ['rings-cross', [4, 2]],
    ])
    const nested = repair('MultiPolygon', [[box(0, 0, 4, 4)], [box(1, 1, 2, 2)]])
    expect(nested.geometry).toEqual({ type: 'Polygon', coordinates: [box(0, 0, 4, 4)] })
    expect(nested.changes).toMatchObject([{ code: 'ring-united', pointer: '#/geometry/coordinates/1/0' }])
    expect(nested.areaMovedSquareMeters).toBe(0)
    expect(repair('MultiPolygon', [[box(0, 0, 4, 4)], [box(4, 0, 5, 4)]]).geometry.type).toBe('Polygon')
  })

  it('keeps the pole inside of a ring around it', () => {
    // The ring of the parallel of 80° with a loop.
    const ring = [
      [0, 80],
      [90, 80],
      [180, 80],
      [-90, 80],
      [-80, 85],
      [-100, 75],
      [-60, 80],
      [0, 80],
    ]
    const { geometry, changes } = repair('Polygon', [ring])
    expect(changes.map(({ code }) => code)).toContain('cut-at-antimeridian')
    const vertices = (geometry as { coordinates: number[][][] }).coordinates.flat(1) as number[][]
    expect(vertices).toContainEqual([180, 90])
    expect(vertices).toContainEqual([-180, 90])
  })

  it.each([
    [
      'a line',
      [
        [
          [0, 0],
          [1, 1],
          [2, 2],
          [0, 0],
        ],
      ],
    ],
    [
      'a point',
      [
        [
          [1, 1],
          [1, 1],
          [1, 1],
          [1, 1],
        ],
      ],
    ],
    [
      'a way there and back',
      [
        [
          [0, 0],
          [1, 5],
          [3, 4],
          [1, 5],
          [0, 0],
        ],
      ],
    ],
    ['a ring that its hole covers', [box(1, 1, 2, 2), box(0, 0, 4, 4)]],
  ])('refuses %s, which has no area', (_, rings) => {
    try {
      repair('Polygon', rings)
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(ProblemError)
      const { type, invalidParts } = (error as ProblemError).data
      expect([type, invalidParts?.[0]?.pointer, invalidParts?.[0]?.code]).toEqual([
        'not-repairable',
        '#/geometry',
        'no-area',
      ])
    }
  })

  it('leaves a valid geometry as it is, whichever way its rings run', () => {
    const rings = [[...box(0, 0, 4, 4)].reverse(), box(1, 1, 2, 2)]
    expect(repair('Polygon', rings)).toMatchObject({
      geometry: { type: 'Polygon', coordinates: rings },
      changes: [],
      areaMovedSquareMeters: 0,
    })
  })

  it('lists 1,000 changes, and counts the others', () => {
    const zigzag = Array.from({ length: 1200 }, (_, i) => [i * 0.01, i % 2])
    const back = Array.from({ length: 1200 }, (_, i) => [(1199 - i) * 0.01, 0.25 + (i % 2) / 2])
    const { changes, omittedChanges, geometry } = repair('Polygon', [[...zigzag, ...back, zigzag[0]]])
    expect(changes).toHaveLength(1000)
    expect(omittedChanges).toBeGreaterThan(0)
    expect(jtsIsValid(jtsGeometry(geometry))).toBe(true)
  })

  it('stops where the work ends', () => {
    const star = Array.from({ length: 501 }, (_, i) => [
      Math.cos((i * 250 * 2 * Math.PI) / 501),
      Math.sin((i * 250 * 2 * Math.PI) / 501),
    ])
    const work = () => repair('Polygon', [[...star, star[0]]])
    expect(() => countWork(new Work(10_000), work)).toThrow(WorkLimitError)
  })
})

describe('the area that a repair moves', () => {
  it('is that of what was drawn twice', () => {
    // The square in the middle is gone around twice.
    const ring = [
      [0, 0],
      [4, 0],
      [4, 4],
      [1, 4],
      [1, 1],
      [3, 1],
      [3, 3],
      [0, 3],
      [0, 0],
    ]
    const { areaMovedSquareMeters } = repair('Polygon', [ring])
    expect(areaMovedSquareMeters).toBeCloseTo(boxArea(2, 1, 3), 2)
  })

  it('is that of the part of a hole beyond its exterior ring', () => {
    const { areaMovedSquareMeters } = repair('Polygon', [box(0, 40, 4, 44), box(2, 41, 6, 42)])
    expect(areaMovedSquareMeters).toBeCloseTo(boxArea(2, 41, 42), 2)
  })

  it.each([
    [0, 0, 1, 1],
    [-170, -89, 170, 89],
    [10, 80, 11, 90],
    [5, 52, 5 + 1e-6, 52 + 1e-6],
  ])('is that between the parallels for a box %d %d %d %d', (west, south, east, north) => {
    const area = planeRingSquareMeters(Float64Array.from(box(west, south, east, north).flat()))
    expect(area / boxArea(east - west, south, north)).toBeCloseTo(1, south > 51 && south < 53 ? 8 : 12)
  })

  it('is that of geodesics along dense vertices', () => {
    const corners = [
      [2, 40],
      [31, 55],
      [-20, 66],
      [2, 40],
    ] as const
    const dense = corners.slice(1).flatMap(([lon, lat], i) => {
      const [fromLon, fromLat] = corners[i]!
      return Array.from({ length: 2000 }, (_, k) => [
        fromLon + ((lon - fromLon) * k) / 2000,
        fromLat + ((lat - fromLat) * k) / 2000,
      ])
    })
    const ring = [...dense, dense[0]!] as [number, number][]
    const geodesic = areaSquareMeters(
      kernel,
      readGeometry({ type: 'Polygon', coordinates: [ring] } as Geometry, [], LIMITS),
    )
    expect(planeRingSquareMeters(Float64Array.from(corners.flat())) / geodesic).toBeCloseTo(1, 6)
  })
})
