import type { Geometry, Position } from '../src/types/generated.ts'
import type { Kernel } from '../src/wasm/loader.ts'

/** Random numbers in [0, 1). */
type Random = () => number
type Rings = Position[][]

const between = (random: Random, low: number, high: number): number => low + (high - low) * random()
const wrap = (lon: number): number => (lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon)
const place = (lon: number, lat: number): Position => [wrap(lon), Math.max(-90, Math.min(90, lat))]
const closed = (ring: Position[]): Position[] => [...ring, ring[0]!]

/** Returns about how many degrees of latitude the geodesic along a parallel rises above it. */
const bulgeOf = (width: number, lat: number): number =>
  (width * width * Math.sin((2 * Math.abs(lat) * Math.PI) / 180) * Math.PI) / 180 / 16

function box(west: number, south: number, east: number, north: number): Position[] {
  return closed([place(west, south), place(east, south), place(east, north), place(west, north)])
}

/** Makes a box along a parallel, about as high as its long edges bulge, with a box or a triangle as a hole. */
export function bandWithHole(random: Random): Rings {
  const [lon, lat] = [between(random, -180, 180), between(random, -80, 80)]
  const width = 10 ** between(random, -2, 1.8)
  const height = Math.min(8, bulgeOf(width, lat) * 10 ** between(random, -1, 1.5) + 1e-7)
  const [west, share] = [between(random, 0.05, 0.7), between(random, 0.05, 0.25)]
  const [south, rise] = [between(random, 0.02, 0.7), between(random, 0.05, 0.28)]
  const hole = box(
    lon + west * width,
    lat + south * height,
    lon + (west + share) * width,
    lat + (south + rise) * height,
  )
  if (random() < 0.3) hole.splice(2, 1)
  return [box(lon, lat, lon + width, lat + height), hole]
}

/** Makes a star-shaped ring with corners far apart. */
function star(random: Random, lon: number, lat: number, width: number, height: number): Position[] {
  const count = 3 + Math.floor(6 * random())
  const corners = Array.from({ length: count }, (_, corner) => {
    const angle = (2 * Math.PI * (corner + 0.7 * random())) / count
    const share = between(random, 0.2, 1)
    return place(lon + share * width * Math.cos(angle), lat + share * height * Math.sin(angle))
  })
  return closed(corners)
}

/** Makes a ring along a parallel with vertices near it; its long edge as a geodesic may pass them on the other side. */
function strip(random: Random): Rings {
  const [lon, lat] = [between(random, -180, 180), between(random, -75, 75)]
  const width = 10 ** between(random, -2, 1.8)
  const bulge = bulgeOf(width, lat) + 1e-7
  const middle = Array.from({ length: 1 + Math.floor(4 * random()) }, () => random()).sort((a, b) => b - a)
  const along = middle.map((share) => place(lon + share * width, lat + bulge * 10 ** between(random, -2, 0.7)))
  const top = lat + bulge * 10 ** between(random, -2, 0.7)
  return [closed([place(lon, lat), place(lon + width, lat), place(lon + width, top), ...along, place(lon, top)])]
}

/** Makes rings on a grid, so that they often touch; some lie at the antimeridian. */
function onGrid(random: Random): Rings {
  const step = [0.05, 1, 4][Math.floor(3 * random())]!
  const [lon, lat] = [random() < 0.5 ? 179 : Math.floor(300 * random()) - 150, Math.floor(120 * random()) - 60]
  const ring = (radius: number): Position[] =>
    star(random, 0, 0, radius, radius).map(([x, y]) => place(lon + Math.round(x) * step, lat + Math.round(y) * step))
  return random() < 0.5 ? [ring(6), ring(2)] : [ring(5)]
}

/** Makes a ring around a pole, in some cases with another one as a hole. */
function aroundPole(random: Random): Rings {
  const [side, lowest, offset] = [random() < 0.5 ? 1 : -1, random() < 0.5 ? 85 : 20, 360 * random()]
  const ring = (from: number): Position[] => {
    const count = 3 + Math.floor(6 * random())
    const corners = Array.from({ length: count }, (_, corner): Position => {
      const lat = side * between(random, lowest + from * (89.9 - lowest), 89.9)
      return [wrap(((offset + (360 * (corner + 0.9 * random())) / count) % 360) - 180), lat]
    })
    return closed(corners)
  }
  return random() < 0.5 ? [ring(0), ring(0.4)] : [ring(0)]
}

/** Makes a Polygon or MultiPolygon whose geodesic edges lie far from its planar edges; it may be valid or invalid with either. */
export function longEdgePolygon(random: Random): Geometry {
  const kind = random()
  if (kind < 0.3) return { type: 'Polygon', coordinates: bandWithHole(random) }
  if (kind < 0.4) return { type: 'Polygon', coordinates: onGrid(random) }
  if (kind < 0.5) return { type: 'Polygon', coordinates: aroundPole(random) }
  if (kind < 0.6) return { type: 'Polygon', coordinates: strip(random) }
  const [lon, lat] = [between(random, -180, 180), between(random, -65, 65)]
  const [width, height] = [10 ** between(random, -0.3, 1.8), 10 ** between(random, -1.5, 1.3)]
  const exterior = star(random, lon, lat, width, height)
  if (kind < 0.7) return { type: 'Polygon', coordinates: [exterior] }
  if (kind < 0.85) {
    return { type: 'Polygon', coordinates: [exterior, star(random, lon, lat, width * 0.15, height * 0.15)] }
  }
  const [east, north] = [between(random, -1, 1) * width, between(random, -2, 2) * height]
  const other = star(random, lon + east, lat + north, width * random(), height * random())
  return { type: 'MultiPolygon', coordinates: [[exterior], [other]] }
}

/** Returns the same rings with each edge divided along its geodesic into `pieces` equal pieces. */
export function dividedAlongGeodesics(kernel: Kernel, geometry: Geometry, pieces: number): Geometry {
  const divide = (ring: Position[]): Position[] =>
    ring.flatMap((end, index): Position[] => {
      if (index === 0) return [end]
      const start = ring[index - 1]!
      if (start[0] === end[0] && start[1] === end[1]) return [end]
      const s12 = kernel.inverse(start[1], start[0], end[1], end[0])
      const [salp1, calp1] = [kernel.salp1(), kernel.calp1()]
      const inner = Array.from({ length: pieces - 1 }, (_, piece): Position => {
        const lat = kernel.direct(start[1], start[0], salp1, calp1, (s12 * (piece + 1)) / pieces)
        return [kernel.arrivalLon(), lat]
      })
      return [...inner, end]
    })
  if (geometry.type === 'Polygon') return { ...geometry, coordinates: geometry.coordinates.map(divide) as Rings }
  if (geometry.type !== 'MultiPolygon') throw new RangeError('not polygonal')
  return { ...geometry, coordinates: geometry.coordinates.map((rings) => rings.map(divide)) as Rings[] }
}
