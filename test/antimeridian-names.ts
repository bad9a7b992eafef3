/** For tests: the same geometry with other spellings of its positions at ±180, and other signs of its zeros. */
import type { Geometry, Position } from '../src/types/generated.ts'
import type { Random } from './random-shapes.ts'

/**
 * Does not rename positions whose spelling says where the edge runs: the ends of an edge along a pole, of one of exactly 180
 * degrees, and of one without length on the antimeridian, which with two spellings would go around the globe.
 */
export function renamed(geometry: Geometry, random: Random): Geometry {
  const chain = (positions: readonly Position[]): Position[] => {
    const isRing = positions.length > 2 && areSame(positions[0]!, positions.at(-1)!)
    const named = positions.map((position, i): Position => {
      const neighbours = [positions[i - 1] ?? (isRing ? positions.at(-2) : undefined), positions[i + 1]]
      if (isRing && i === positions.length - 1) neighbours[1] = positions[1]
      return isBound(position, neighbours) ? position : renamedPosition(position, random)
    })
    return isRing ? [...named.slice(0, -1), named[0]!] : named
  }
  switch (geometry.type) {
    case 'Point':
      return { type: 'Point', coordinates: renamedPosition(geometry.coordinates, random) }
    case 'MultiPoint':
      return {
        type: 'MultiPoint',
        coordinates: geometry.coordinates.map((position) => renamedPosition(position, random)),
      }
    case 'LineString':
      return { type: 'LineString', coordinates: chain(geometry.coordinates) }
    case 'MultiLineString':
      return { type: 'MultiLineString', coordinates: geometry.coordinates.map(chain) }
    case 'Polygon':
      return { type: 'Polygon', coordinates: geometry.coordinates.map(chain) }
    case 'MultiPolygon':
      return { type: 'MultiPolygon', coordinates: geometry.coordinates.map((polygon) => polygon.map(chain)) }
    case 'GeometryCollection':
      return { type: 'GeometryCollection', geometries: geometry.geometries.map((part) => renamed(part, random)) }
  }
}

function areSame(p: Position, q: Position): boolean {
  return p[0] === q[0] && p[1] === q[1]
}

function isBound([lon, lat]: Position, neighbours: readonly (Position | undefined)[]): boolean {
  return neighbours.some(
    (other) =>
      other !== undefined &&
      ((Math.abs(lat) === 90 && other[1] === lat) ||
        (Math.abs(lon) === 180 && (other[0] === 0 || (Math.abs(other[0]) === 180 && other[1] === lat)))),
  )
}

function renamedPosition([lon, lat]: Position, random: Random): Position {
  const signed = (value: number): number => (value === 0 && random() < 0.5 ? -0 : value)
  return [Math.abs(lon) === 180 ? (random() < 0.5 ? 180 : -180) : signed(lon), signed(lat)]
}
