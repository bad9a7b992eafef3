/** Well-known binary, which passes geometries to GEOS and PostGIS without rounding. */
import type { Geometry, Position } from '../src/types/generated.ts'

const LITTLE_ENDIAN = 1

/**
 * Encodes a geometry as WKB.
 *
 * @param geometry altitudes are omitted
 */
export function encodeWkb(geometry: Geometry): Buffer {
  switch (geometry.type) {
    case 'Point':
      return Buffer.concat([encodeHeader(1), encodePositions([geometry.coordinates])])
    case 'LineString':
      return Buffer.concat([encodeHeader(2), encodeSequence(geometry.coordinates)])
    case 'Polygon':
      return Buffer.concat([
        encodeHeader(3),
        encodeUint32(geometry.coordinates.length),
        ...geometry.coordinates.map(encodeSequence),
      ])
    case 'MultiPoint':
      return encodeMembers(
        4,
        geometry.coordinates.map((coordinates) => ({ type: 'Point', coordinates })),
      )
    case 'MultiLineString':
      return encodeMembers(
        5,
        geometry.coordinates.map((coordinates) => ({ type: 'LineString', coordinates })),
      )
    case 'MultiPolygon':
      return encodeMembers(
        6,
        geometry.coordinates.map((coordinates) => ({ type: 'Polygon', coordinates })),
      )
    case 'GeometryCollection':
      return encodeMembers(7, geometry.geometries)
  }
}

function encodeMembers(type: number, members: readonly Geometry[]): Buffer {
  return Buffer.concat([encodeHeader(type), encodeUint32(members.length), ...members.map(encodeWkb)])
}

/** Pairs in the format of the native program: every geometry is preceded by its size in bytes. */
export function encodeWkbPairs(pairs: readonly (readonly [Geometry, Geometry])[]): Buffer {
  return Buffer.concat(
    pairs.flat().flatMap((geometry) => {
      const bytes = encodeWkb(geometry)
      return [encodeUint32(bytes.length), bytes]
    }),
  )
}

function encodeHeader(type: number): Buffer {
  return Buffer.concat([Buffer.of(LITTLE_ENDIAN), encodeUint32(type)])
}

function encodeSequence(list: readonly Position[]): Buffer {
  return Buffer.concat([encodeUint32(list.length), encodePositions(list)])
}

function encodePositions(list: readonly Position[]): Buffer {
  const bytes = Buffer.alloc(16 * list.length)
  list.forEach(([lon, lat], index) => {
    bytes.writeDoubleLE(lon, 16 * index)
    bytes.writeDoubleLE(lat, 16 * index + 8)
  })
  return bytes
}

function encodeUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
