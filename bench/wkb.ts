/** Well-known binary: how GEOS and PostGIS are given geometries without losing a bit. */
import type { Geometry, Position } from '../src/types/generated.ts'

const LITTLE_ENDIAN = 1

/** @param geometry Point, LineString or Polygon; altitudes are left out */
export function wkb(geometry: Geometry): Buffer {
  switch (geometry.type) {
    case 'Point':
      return Buffer.concat([head(1), positions([geometry.coordinates])])
    case 'LineString':
      return Buffer.concat([head(2), sequence(geometry.coordinates)])
    case 'Polygon':
      return Buffer.concat([head(3), count(geometry.coordinates.length), ...geometry.coordinates.map(sequence)])
    default:
      throw new RangeError(`no bench writes a ${geometry.type}`)
  }
}

/** Pairs as the native program reads them: every geometry after its size. */
export function wkbPairs(pairs: readonly (readonly [Geometry, Geometry])[]): Buffer {
  return Buffer.concat(
    pairs.flat().flatMap((geometry) => {
      const bytes = wkb(geometry)
      return [count(bytes.length), bytes]
    }),
  )
}

function head(type: number): Buffer {
  return Buffer.concat([Buffer.of(LITTLE_ENDIAN), count(type)])
}

function sequence(list: readonly Position[]): Buffer {
  return Buffer.concat([count(list.length), positions(list)])
}

function positions(list: readonly Position[]): Buffer {
  const bytes = Buffer.alloc(16 * list.length)
  list.forEach(([lon, lat], index) => {
    bytes.writeDoubleLE(lon, 16 * index)
    bytes.writeDoubleLE(lat, 16 * index + 8)
  })
  return bytes
}

function count(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
