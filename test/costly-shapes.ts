import type { Geometry, Position } from '../src/types/generated.ts'
import type { OperationName } from '../src/wire/values.ts'
import { closed, comb, polygon, slanting, spiral, star } from './adversarial-shapes.ts'
import { seededNumbers } from './near-touch-cases.ts'

/** The operations that are tried on each pair of shapes. */
export const COSTLY_OPERATIONS: readonly OperationName[] = [
  'distance',
  'area',
  'length',
  'contains',
  'within',
  'intersects',
  'relate',
]

/**
 * A family of shapes that cost much for their size. Each is a function of a number of vertices, so that tests use small members
 * and the bench the largest that a request may have.
 */
export interface CostlyShape {
  readonly name: string
  /** Returns two geometries with about this number of vertices each. */
  pair(vertices: number): readonly [Geometry, Geometry]
  /** Vertices of both geometries together, if a request may not have more because of another limit; absent for any number. */
  readonly mostVertices?: number
  /** True if rounding to six decimals would change what the shape is for. */
  readonly isExact?: boolean
}

const lineOf = (coordinates: Position[]): Geometry => ({ type: 'LineString', coordinates })
const linesOf = (coordinates: Position[][]): Geometry => ({ type: 'MultiLineString', coordinates })
const areasOf = (coordinates: Position[][][]): Geometry => ({ type: 'MultiPolygon', coordinates })
const positions = (count: number, position: (i: number) => Position): Position[] =>
  Array.from({ length: Math.max(4, Math.floor(count)) }, (_, i) => position(i))
const even = (count: number): number => 2 * Math.floor(count / 2)

/** Wraps a longitude into [−180, 180]. */
const wrap = (lon: number): number => (lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon)

/** The same positions near the antipode, mirrored at the equator. */
const antipodes = (ring: Position[]): Position[] => ring.map(([lon, lat]): Position => [wrap(lon + 180), -lat])

const shifted = (ring: Position[], lon: number, lat: number): Position[] =>
  ring.map(([x, y]): Position => [x + lon, y + lat])

function circle(count: number, radius: number, lon = 0, lat = 0): Position[] {
  return closed(
    positions(count - 1, (i): Position => {
      const angle = (2 * Math.PI * i) / Math.max(4, Math.floor(count - 1))
      return [lon + radius * Math.cos(angle), lat + radius * Math.sin(angle)]
    }),
  )
}

/** Small squares in rows. `size` is their width as a fraction of the pitch. */
function squares(count: number, pitch: number, size: number, offset: number): Position[][][] {
  const columns = Math.ceil(Math.sqrt(count))
  return Array.from({ length: count }, (_, i) => {
    const x = (i % columns) * pitch + offset
    const y = Math.floor(i / columns) * pitch + offset
    const side = size * pitch
    return [
      closed([
        [x, y],
        [x + side, y],
        [x + side, y + side],
        [x, y + side],
      ]),
    ]
  })
}

function randomLine(count: number, seed: number, size = 10): Position[] {
  const random = seededNumbers(seed)
  return positions(count, (): Position => [size * random(), size * random()])
}

/** A closed band between two zigzags, `gap` degrees wide. */
function zigzagBand(count: number, width: number, height: number, gap: number): Position[] {
  const half = Math.floor(count / 2) - 1
  const edge = (up: number): Position[] => positions(half, (i): Position => [(width * i) / half, (i % 2) * height + up])
  return closed([...edge(0), ...edge(gap).reverse()])
}

/** A coastline: a ring whose edges are replaced by broken ones again and again, seeded. */
export function fractalCoast(count: number, seed: number, lon = 0, lat = 0, radius = 5, roughness = 0.18): Position[] {
  const random = seededNumbers(seed)
  let ring: number[] = Array.from({ length: 8 }, () => 1)
  const levels = Math.ceil(Math.log2(count / 8))
  for (let level = 0; level < levels; level++) {
    const scale = roughness * 0.62 ** level
    ring = ring.flatMap((r, i) => [r, (r + ring[(i + 1) % ring.length]!) / 2 + scale * (random() - 0.5)])
  }
  const picked = positions(count - 1, (i): Position => {
    const angle = (2 * Math.PI * i) / (count - 1)
    const r = ring[Math.floor((i * ring.length) / (count - 1))]! * radius
    return [lon + r * Math.cos(angle), lat + r * Math.sin(angle)]
  })
  return closed(picked)
}

const decimals = (geometry: Geometry, count: number): Geometry =>
  JSON.parse(JSON.stringify(geometry), (_, value) => (typeof value === 'number' ? Number(value.toFixed(count)) : value))

const nudge = (ring: Position[], by: number): Position[] => ring.map(([x, y]): Position => [x + by, y + by])

/** The catalogue of costly shapes. */
export const COSTLY_SHAPES: readonly CostlyShape[] = [
  { name: 'interlocking combs', pair: (n) => [polygon(comb(n / 4, 1)), polygon(comb(n / 4, -1))] },
  {
    name: 'slanting combs',
    pair: (n) => [polygon(slanting(comb(n / 4, 1))), polygon(slanting(comb(n / 4, -1)))],
  },
  {
    name: 'slanting combs across the antimeridian',
    pair: (n) => {
      const across = (ring: Position[]): Position[] => slanting(ring).map(([x, y]): Position => [wrap(x + 165), y])
      return [polygon(across(comb(n / 4, 1))), polygon(across(comb(n / 4, -1)))]
    },
  },
  {
    name: 'combs of short teeth',
    pair: (n) => {
      const small = (ring: Position[]): Position[] => ring.map(([x, y]): Position => [x / 50, 45 + y / 50])
      return [polygon(small(comb(n / 4, 1))), polygon(small(comb(n / 4, -1)))]
    },
  },
  {
    name: 'combs far north',
    pair: (n) => {
      const north = (ring: Position[]): Position[] => ring.map(([x, y]): Position => [4 * x, 70 + y])
      return [polygon(north(comb(n / 4, 1))), polygon(north(comb(n / 4, -1)))]
    },
  },
  { name: 'rings near the antipode', pair: (n) => [polygon(circle(n, 1)), polygon(antipodes(circle(n, 1)))] },
  {
    name: 'rings of 20° near the antipode',
    pair: (n) => [polygon(circle(n, 20)), polygon(antipodes(circle(n, 19.5)))],
  },
  {
    name: 'zigzags near the antipode',
    pair: (n) => [
      lineOf(positions(n, (i): Position => [i % 2, i % 9])),
      lineOf(positions(n, (i): Position => [179 - (i % 2), -(i % 9)])),
    ],
  },
  {
    name: 'points near the antipode',
    mostVertices: 10_000,
    pair: (n) => {
      const points = (coordinates: Position[]): Geometry => ({ type: 'MultiPoint', coordinates })
      return [points(circle(n, 3)), points(antipodes(circle(n, 3)))]
    },
  },
  { name: 'stars', pair: (n) => [polygon(star(even(n))), polygon(star(even(n), 1.5, 0.7))] },
  {
    name: 'bent stars',
    pair: (n) => {
      const bent = (ring: Position[]): Position[] =>
        ring.map(([x, y], i): Position => (i === 101 % ring.length ? [x + 0.5, y + 0.5] : [x, y]))
      return [polygon(bent(star(even(n)))), polygon(bent(star(even(n), 1.5, 0.7)))]
    },
  },
  {
    name: 'stars off their center',
    pair: (n) => {
      const skew = (ring: Position[]): Position[] => ring.map(([x, y]): Position => [x + 0.02 * y * y, y])
      return [polygon(skew(star(even(n)))), polygon(shifted(skew(star(even(n), 1.5, 0.7)), 25, 0))]
    },
  },
  {
    name: 'large stars',
    pair: (n) => {
      const large = (ring: Position[]): Position[] => ring.map(([x, y]): Position => [8 * x, 8 * y])
      return [polygon(large(star(even(n)))), polygon(large(star(even(n), 1.5, 0.7)))]
    },
  },
  { name: 'spirals', pair: (n) => [polygon(spiral(even(n), 100)), polygon(spiral(even(n), 100, true))] },
  {
    name: 'wide spirals',
    pair: (n) => {
      const wide = (ring: Position[]): Position[] => ring.map(([x, y]): Position => [8 * x, 8 * y])
      return [polygon(wide(spiral(even(n), 300))), polygon(wide(spiral(even(n), 300, true)))]
    },
  },
  {
    name: 'zigzags that cross 10,000 times',
    pair: (n) => {
      const zigzag = (turn: boolean): Position[] =>
        positions(Math.min(n, 101), (i): Position => (turn ? [(i % 2) * 10, i / 10] : [i / 10, (i % 2) * 10]))
      const tail = positions(Math.max(4, n - 101), (i): Position => [20 + i / n, (i % 2) / 10])
      return [
        lineOf([...zigzag(false), ...tail]),
        lineOf([...zigzag(true), ...tail.map(([x, y]): Position => [x, y + 1])]),
      ]
    },
  },
  { name: 'scribbles', pair: (n) => [lineOf(randomLine(n, 5)), lineOf(randomLine(n, 6))] },
  {
    name: 'scribbles as rings',
    pair: (n) => [polygon(closed(randomLine(n - 1, 5))), polygon(closed(shifted(randomLine(n - 1, 6), 20, 0)))],
  },
  {
    name: 'scribbles side by side',
    pair: (n) => {
      const strip = (seed: number, up: number): Geometry =>
        lineOf(randomLine(n, seed).map(([x, y]): Position => [x, x + up + 0.1 * y]))
      return [strip(1, 0), strip(2, 1.1)]
    },
  },
  {
    name: 'near-touching parallels',
    isExact: true,
    pair: (n) => {
      const row = (up: number): Position[] => positions(n, (i): Position => [(i * 20) / n, 40 + up])
      return [lineOf(row(0)), lineOf(row(1e-9))]
    },
  },
  {
    name: 'near-touching zigzags',
    isExact: true,
    pair: (n) => [lineOf(zigzagBand(n, 20, 5, 0.5)), lineOf(shifted(zigzagBand(n, 20, 5, 0.5), 0, 1e-7))],
  },
  {
    name: 'long parallels',
    pair: (n) => {
      const rows = (up: number): Position[] =>
        positions(n, (i): Position => [i % 4 === 1 || i % 4 === 2 ? 60 : -60, 40 + (Math.floor(i / 2) * 10) / n + up])
      return [lineOf(rows(0)), lineOf(rows(2.5 / n))]
    },
  },
  {
    name: 'one line there and back',
    pair: (n) => [lineOf(positions(n, (i): Position => [5 + (i % 2 ? i : -i) / 10_000, 0])), polygon(circle(8, 10))],
  },
  {
    name: 'lines through one point',
    mostVertices: 19_000,
    pair: (n) => {
      const fan = (seed: number): Position[][] =>
        Array.from({ length: Math.floor(n / 2) }, (_, i): Position[] => [
          [-20, i / 100 - n / 400 + seed],
          [20, n / 400 - i / 100 - seed],
        ])
      return [linesOf(fan(0)), linesOf(fan(0.003))]
    },
  },
  {
    name: 'points among long lines',
    mostVertices: 49_000,
    pair: (n) => {
      const random = seededNumbers(4)
      const points = positions(Math.min(9000, n / 5), (): Position => [30 * random(), 30 * random()])
      return [
        lineOf(positions(n, (i): Position => [(i % 2) * 30 + i / n, (i % 2) * 30])),
        { type: 'MultiPoint', coordinates: points },
      ]
    },
  },
  {
    name: 'many small rings',
    mostVertices: 49_000,
    pair: (n) => [areasOf(squares(n / 5, 0.05, 0.8, 0)), areasOf(squares(n / 5, 0.05, 0.1, 0.85 * 0.05))],
  },
  {
    name: 'many rings that touch',
    mostVertices: 49_000,
    pair: (n) => {
      const touching = squares(n / 5, 0.05, 0.5, 0).map(([ring], i) => [
        i % 2 === 0 ? ring! : ring!.map(([x, y]): Position => [x - 0.025, y + (y === ring![0]![1] ? 0 : 0.01)]),
      ])
      return [areasOf(touching), areasOf(squares(n / 5, 0.05, 0.5, 0.025))]
    },
  },
  {
    name: 'many lines in a nested collection',
    mostVertices: 19_000,
    pair: (n) => {
      const nested = (geometries: Geometry[], depth: number): Geometry =>
        depth === 0
          ? { type: 'GeometryCollection', geometries }
          : { type: 'GeometryCollection', geometries: [nested(geometries, depth - 1)] }
      const random = seededNumbers(9)
      const lines = (offset: number): Geometry[] =>
        Array.from({ length: Math.floor(n / 2) }, () => {
          const [x, y] = [10 * random() + offset, 10 * random()]
          return lineOf([
            [x, y],
            [x + 1, y + 1],
          ])
        })
      return [nested(lines(0), 5), nested(lines(12), 5)]
    },
  },
  {
    name: 'polygons in a collection',
    mostVertices: 40_000,
    pair: (n) => {
      const collection = (rings: Position[][][]): Geometry => ({
        type: 'GeometryCollection',
        geometries: rings.map((coordinates) => ({ type: 'Polygon', coordinates })),
      })
      return [collection(squares(n / 5, 0.05, 1, 0)), collection(squares(n / 5, 0.05, 0.5, 0.01))]
    },
  },
  {
    name: 'polar caps',
    pair: (n) => {
      const cap = (lat: number, swing: number): Position[] =>
        closed(positions(n - 1, (i): Position => [-180 + (360 * i) / (n - 1), lat + swing * (i % 2)]))
      return [polygon(cap(80, 2)), polygon(cap(-80, -2))]
    },
  },
  {
    name: 'jagged polar caps',
    pair: (n) => {
      const cap = (lat: number, swing: number): Position[] =>
        closed(positions(n - 1, (i): Position => [-180 + (360 * i) / (n - 1), lat + swing * (i % 2)]))
      return [polygon(cap(20, 50)), polygon(cap(18, 50))]
    },
  },
  {
    name: 'antimeridian crossers',
    pair: (n) => {
      const across = (ring: Position[]): Position[] => ring.map(([x, y]): Position => [wrap(x + 180), y])
      return [polygon(across(star(even(n)))), polygon(across(shifted(star(even(n), 1.5, 0.7), 3, 0)))]
    },
  },
  {
    name: 'strips wound around the axis',
    pair: (n) => {
      const edge = (up: number): Position[] =>
        positions(n / 2, (i): Position => [((i * 120) % 360) - 180, -80 + (150 * i) / (n / 2) + up])
      return [polygon(closed([...edge(0), ...edge(0.01).reverse()])), lineOf(edge(0.02))]
    },
  },
  {
    name: 'coordinates of 17 digits',
    isExact: true,
    pair: (n) => [polygon(circle(n, 7.1)), polygon(circle(n, 7.100000000000001, 1e-13))],
  },
  {
    name: 'tiny coordinates',
    isExact: true,
    pair: (n) => {
      const tiny = (ring: Position[]): Position[] =>
        ring.map(([x, y], i): Position => [1e-300 * x, i % 3 ? 1e-300 * y : y])
      return [polygon(tiny(star(even(n)))), lineOf(tiny(star(even(n), 1.5, 0.7)))]
    },
  },
  {
    name: 'almost collinear',
    isExact: true,
    pair: (n) => {
      const chain = (up: number): Position[] =>
        positions(
          n,
          (i): Position => [
            (i % 2 ? 1 : 0) * 10 + i * 1e-5,
            ((i % 2 ? 1 : 0) * 10 + i * 1e-5) * 0.1 + up + 1e-16 * (i % 3),
          ],
        )
      return [lineOf(chain(0)), lineOf(chain(1e-16))]
    },
  },
  {
    name: 'collinear and repeated vertices',
    pair: (n) => {
      const side = Math.floor(n / 4)
      const box = (size: number): Position[] =>
        closed([
          ...positions(side, (i): Position => [(size * Math.floor(i / 2)) / side, 0]),
          ...positions(side, (i): Position => [size / 2, (size * Math.floor(i / 2)) / side]),
          ...positions(side, (i): Position => [size / 2 - (size * Math.floor(i / 2)) / side, size / 2]),
          ...positions(side, (i): Position => [0, size / 2 - (size * Math.floor(i / 2)) / side]),
        ])
      return [polygon(box(10)), polygon(box(9.5))]
    },
  },
  {
    name: 'holes',
    mostVertices: 45_000,
    pair: (n) => {
      const holes = squares(n / 5 - 2, 0.05, 0.8, 0.01).map(([ring]) => ring!)
      const size = Math.ceil(Math.sqrt(n / 5)) * 0.05 + 1
      const frame = closed([
        [-1, -1],
        [size, -1],
        [size, size],
        [-1, size],
      ])
      return [polygon(frame, ...holes), linesOf([circle(64, 0.004, 0.03, 0.03), circle(64, 0.004, 0.08, 0.03)])]
    },
  },
  {
    name: 'a hole of spikes in a star',
    pair: (n) => [
      polygon(
        star(even(n / 2), 5),
        star(even(n / 2), 4.4, 0.5).map(([x, y]): Position => [0.45 * x, 0.45 * y]),
      ),
      polygon(circle(n / 2, 0.5)),
    ],
  },
  {
    name: 'edges over half the globe',
    pair: (n) => [
      lineOf(positions(n, (i): Position => [i % 2 ? 179.5 : 0, (i % 2 ? -1 : 1) * ((i % 97) / 97) * 60])),
      lineOf(positions(n, (i): Position => [i % 2 ? -90.3 : 90, (i % 2 ? -1 : 1) * ((i % 89) / 89) * 60])),
    ],
  },
  {
    name: 'coastlines',
    pair: (n) => [polygon(fractalCoast(n, 1)), polygon(fractalCoast(n, 2, 14))],
  },
  {
    name: 'coastlines that overlap',
    pair: (n) => [polygon(fractalCoast(n, 1)), polygon(fractalCoast(n, 2, 4))],
  },
  {
    name: 'a coastline and its copy, moved a little',
    isExact: true,
    pair: (n) => {
      const coast = fractalCoast(n, 3, 10, 50)
      return [decimals(polygon(coast), 6), decimals(polygon(nudge(coast, 1e-6)), 6)]
    },
  },
  {
    name: 'a coastline and itself',
    pair: (n) => {
      const coast = decimals(polygon(fractalCoast(n, 4, 10, 50)), 6)
      return [coast, coast]
    },
  },
]

/** Returns both geometries of a shape, rounded to six decimals unless that would change what it is for. */
export function costlyPair(shape: CostlyShape, vertices: number): readonly [Geometry, Geometry] {
  const [a, b] = shape.pair(vertices)
  return shape.isExact === true ? [a, b] : [decimals(a, 6), decimals(b, 6)]
}

/** Returns the rings and lines of a geometry as lines, for operations that take lines. */
export function asLines(geometry: Geometry): Geometry | undefined {
  switch (geometry.type) {
    case 'LineString':
    case 'MultiLineString':
      return geometry
    case 'Polygon':
      return { type: 'MultiLineString', coordinates: geometry.coordinates }
    case 'MultiPolygon':
      return { type: 'MultiLineString', coordinates: geometry.coordinates.flat() }
    default:
      return undefined
  }
}

/** Returns the members of a compute request, or undefined if the operation does not take such geometries. */
export function requestOf(operation: OperationName, a: Geometry, b: Geometry): object | undefined {
  switch (operation) {
    case 'area':
      return a.type === 'Polygon' || a.type === 'MultiPolygon' ? { geometry: a } : undefined
    case 'length': {
      const geometry = asLines(a)
      return geometry === undefined ? undefined : { geometry }
    }
    case 'distance':
      return { from: a, to: b }
    case 'within':
      return { geometry: a, target: b, radius: 1000 }
    case 'contains':
      return { container: a, containee: b }
    default:
      return { geometry1: a, geometry2: b }
  }
}
