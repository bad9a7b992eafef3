/** Writes well-known text and binary of a geometry in every way that the standards allow. */
import type { Geometry, Position } from '../src/types/generated.ts'
import type { Random } from './random-geometry.ts'

const CODES = ['Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon', 'GeometryCollection']

/**
 * Writes text with random case, spaces, number spellings, marks and heights.
 *
 * @param isPlain without an SRID, plus signs and marks next to the type, which GDAL does not read
 */
export function writeWkt(geometry: Geometry, random: Random, isPlain = false): string {
  const space = (least = 0) => ' '.repeat(least + (random() < 0.2 ? Math.floor(3 * random()) : 0))
  const mark = random() < 0.5 ? '' : ['Z', 'M', 'ZM'][Math.floor(3 * random())]!
  const heights = mark.length + (mark === '' && random() < 0.3 ? 1 + Math.floor(2 * random()) : 0)
  const number = (value: number) =>
    random() < 0.8
      ? String(value)
      : random() < 0.5
        ? value.toExponential().replace(isPlain ? '+' : '', '')
        : `${value < 0 || isPlain ? '' : '+'}${value}`
  const position = ([longitude, latitude]: Position) =>
    [longitude, latitude, ...Array.from({ length: heights }, () => Math.round(1000 * random()))]
      .map(number)
      .join(space(1))
  const bracketed = (inside: string) => `${space()}(${space()}${inside}${space()})${space()}`
  const list = <T>(members: readonly T[], write: (member: T) => string) =>
    bracketed(members.map(write).join(`${space()},${space()}`))
  const line = (positions: readonly Position[]) => list(positions, position)
  const rings = (polygon: readonly (readonly Position[])[]) => list(polygon, line)
  const isOld = random() < 0.3

  function body(of: Geometry): string {
    switch (of.type) {
      case 'Point':
        return bracketed(position(of.coordinates))
      case 'MultiPoint':
        return list(of.coordinates, (point) => (isOld ? position(point) : bracketed(position(point))))
      case 'LineString':
        return line(of.coordinates)
      case 'MultiLineString':
      case 'Polygon':
        return rings(of.coordinates)
      case 'MultiPolygon':
        return list(of.coordinates, rings)
      case 'GeometryCollection':
        return list(of.geometries, tagged)
    }
  }
  function tagged(of: Geometry): string {
    const name = random() < 0.7 ? of.type.toUpperCase() : random() < 0.5 ? of.type : of.type.toLowerCase()
    return `${name}${mark === '' ? '' : `${space(isPlain || random() < 0.5 ? 1 : 0)}${mark}`}${body(of)}`
  }
  return `${!isPlain && random() < 0.2 ? 'SRID=4326;' : ''}${space()}${tagged(geometry)}`
}

/** Writes bytes with random byte orders, as OGC, ISO or EWKB with Z, M and SRID. */
export function writeWkb(geometry: Geometry, random: Random): Buffer {
  const isExtended = random() < 0.5
  const [hasZ, hasM, hasSrid] = [random() < 0.3, random() < 0.3, isExtended && random() < 0.5]

  function tagged(of: Geometry, isTop = false): Buffer {
    const isLittle = random() < 0.7
    const count = (value: number) => {
      const bytes = Buffer.alloc(4)
      if (isLittle) bytes.writeUInt32LE(value)
      else bytes.writeUInt32BE(value)
      return bytes
    }
    const position = ([longitude, latitude]: Position) => {
      const numbers = [longitude, latitude, ...(hasZ ? [NaN] : []), ...(hasM ? [7] : [])]
      const bytes = Buffer.alloc(8 * numbers.length)
      numbers.forEach((value, index) => {
        if (isLittle) bytes.writeDoubleLE(value, 8 * index)
        else bytes.writeDoubleBE(value, 8 * index)
      })
      return bytes
    }
    const list = <T>(members: readonly T[], write: (member: T) => Buffer) =>
      Buffer.concat([count(members.length), ...members.map(write)])
    const line = (positions: readonly Position[]) => list(positions, position)
    const body = () => {
      switch (of.type) {
        case 'Point':
          return position(of.coordinates)
        case 'LineString':
          return line(of.coordinates)
        case 'Polygon':
          return list(of.coordinates, line)
        case 'MultiPoint':
          return list(of.coordinates, (coordinates) => tagged({ type: 'Point', coordinates }))
        case 'MultiLineString':
          return list(of.coordinates, (coordinates) => tagged({ type: 'LineString', coordinates }))
        case 'MultiPolygon':
          return list(of.coordinates, (coordinates) => tagged({ type: 'Polygon', coordinates }))
        case 'GeometryCollection':
          return list(of.geometries, (member) => tagged(member))
      }
    }
    const code = 1 + CODES.indexOf(of.type)
    const flags = (hasZ ? 0x80000000 : 0) + (hasM ? 0x40000000 : 0) + (hasSrid && isTop ? 0x20000000 : 0)
    const type = isExtended ? code + flags : code + (hasZ ? 1000 : 0) + (hasM ? 2000 : 0)
    return Buffer.concat([
      Buffer.of(isLittle ? 1 : 0),
      count(type),
      hasSrid && isTop ? count(4326) : Buffer.alloc(0),
      body(),
    ])
  }
  return tagged(geometry, true)
}
