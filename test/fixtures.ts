/** Geometries and an address that many tests use, and functions that write rings. No test may change the geometries. */
import type { LineString, Point, Polygon } from '../src/types/generated.ts'

export const EIFFEL_TOWER = { type: 'Point', coordinates: [2.2945, 48.8584] } satisfies Point
/** The town hall of Paris: 4238.77 m from the Eiffel Tower. */
export const TOWN_HALL = { type: 'Point', coordinates: [2.3522, 48.8566] } satisfies Point
export const LOUVRE = { type: 'Point', coordinates: [2.3376, 48.8606] } satisfies Point
export const ROME = { type: 'Point', coordinates: [12.4964, 41.9028] } satisfies Point

/** The line from the Eiffel Tower to the town hall. */
export const ROAD = {
  type: 'LineString',
  coordinates: [
    [2.2945, 48.8584],
    [2.3522, 48.8566],
  ],
} satisfies LineString

/** One degree of longitude and latitude around Paris: the three points of Paris lie inside, and Rome outside. */
export const SQUARE = {
  type: 'Polygon',
  coordinates: [
    [
      [2, 48],
      [3, 48],
      [3, 49],
      [2, 49],
      [2, 48],
    ],
  ],
} satisfies Polygon

/** The square east of `SQUARE`, which touches it along an edge. */
export const EAST = {
  type: 'Polygon',
  coordinates: [
    [
      [3, 48],
      [4, 48],
      [4, 49],
      [3, 49],
      [3, 48],
    ],
  ],
} satisfies Polygon

/** The second account of anvil, with the checksum of EIP-55. */
export const RECIPIENT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** Parses `'0 0, 1 2'` to `[[0, 0], [1, 2]]`: longitude and latitude in degrees, as in well-known text. */
export function at(text: string): [number, number][] {
  return text.split(', ').map((pair) => pair.split(' ').map(Number) as [number, number])
}

/** The ring of a box in degrees, counterclockwise from its south-west corner. */
export function box(west: number, south: number, east: number, north: number): [number, number][] {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
}
