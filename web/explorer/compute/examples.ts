import type { Geometry } from '../../../src/types/generated.ts'
import type { RequestDraft } from './request-draft.ts'

export interface Example {
  readonly title: string
  /** What the example shows. */
  readonly lesson: string
  readonly draft: Pick<RequestDraft, 'operation' | 'a'> & Partial<RequestDraft>
}

const point = (longitude: number, latitude: number): Geometry => ({ type: 'Point', coordinates: [longitude, latitude] })
const box = (west: number, south: number, east: number, north: number): Geometry => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ],
  ],
})

export const EXAMPLES: readonly Example[] = [
  {
    title: 'Lisbon to Tokyo',
    lesson:
      'The geodesic crosses the Arctic Circle. The planar edge, straight in longitude and latitude, is 2,000 km longer.',
    draft: { operation: 'distance', a: point(-9.1393, 38.7223), b: point(139.6917, 35.6895) },
  },
  {
    title: 'Over the antimeridian',
    lesson: 'Samoa is a short distance east of Fiji, across 180°.',
    draft: { operation: 'distance', a: point(178.4419, -18.1416), b: point(-171.7513, -13.8333) },
  },
  {
    title: 'A flight in two legs',
    lesson: 'Each leg is a geodesic; the length is their sum.',
    draft: {
      operation: 'length',
      a: {
        type: 'LineString',
        coordinates: [
          [-0.4543, 51.47],
          [-149.9963, 61.1744],
          [174.785, -37.0082],
        ],
      },
    },
  },
  {
    title: 'Around the South Pole',
    lesson: 'A ring that runs once around a pole encloses the pole. It needs no cut at 180°.',
    draft: {
      operation: 'area',
      a: {
        type: 'Polygon',
        coordinates: [
          [
            [-150, -70],
            [-90, -72],
            [-30, -70],
            [30, -68],
            [90, -66],
            [150, -68],
            [-150, -70],
          ],
        ],
      },
    },
  },
  {
    title: 'Planar edge or geodesic',
    lesson:
      'B lies north of the planar edge, so contains is false. The geodesic between the same vertices passes north of B.',
    draft: { operation: 'contains', a: box(0, 40, 40, 50), b: point(20, 51) },
  },
  {
    title: 'Contains, on geodesic edges',
    lesson:
      'The same box and point, read with geodesic edges: contains:geodesic is true, and is signed under that name.',
    draft: { operation: 'contains', a: box(0, 40, 40, 50), b: point(20, 51), edges: 'geodesic' },
  },
  {
    title: 'Within 500 km of Geneva',
    lesson: 'The distance and the radius are compared in whole centimetres.',
    draft: { operation: 'within', a: point(2.3522, 48.8566), b: point(6.1432, 46.2044), radiusMeters: 500_000 },
  },
  {
    title: 'Both sides of 180°',
    lesson: 'The box lies on both sides of the antimeridian, and the line crosses it.',
    draft: {
      operation: 'intersects',
      a: {
        type: 'Polygon',
        coordinates: [
          [
            [176, -20],
            [-178, -20],
            [-178, -15],
            [176, -15],
            [176, -20],
          ],
        ],
      },
      b: {
        type: 'LineString',
        coordinates: [
          [172, -13],
          [-174, -21],
        ],
      },
    },
  },
]
