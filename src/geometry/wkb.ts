import { createRequire } from 'node:module'
import { problemAt } from '../base/problem.ts'
import type { Geometry, Position } from '../types/generated.ts'
import { FormatBudget, type FormatLimits, type Path, trimAscii } from './notation.ts'

const POINT = 1
const LINE_STRING = 2
const POLYGON = 3
const MULTI_POINT = 4
const MULTI_LINE_STRING = 5
const MULTI_POLYGON = 6
const COLLECTION = 7
/** Types of ISO 13249-3 with codes from 8 on, which GeoJSON lacks. */
const OTHER_TYPES = [
  'CircularString',
  'CompoundCurve',
  'CurvePolygon',
  'MultiCurve',
  'MultiSurface',
  'Curve',
  'Surface',
  'PolyhedralSurface',
  'TIN',
  'Triangle',
]
/** Member type of each Multi type. */
const MEMBERS: Readonly<Record<number, number>> = {
  [MULTI_POINT]: POINT,
  [MULTI_LINE_STRING]: LINE_STRING,
  [MULTI_POLYGON]: POLYGON,
}
/** Smallest size of a member in bytes: byte order, type, and the count of an empty one. */
const SMALLEST_GEOMETRY = 9

const Z_FLAG = 0x80000000
const M_FLAG = 0x40000000
const SRID_FLAG = 0x20000000

type Dimension = 'XY' | 'Z' | 'M' | 'ZM'
const NUMBERS: Readonly<Record<Dimension, number>> = { XY: 2, Z: 3, M: 3, ZM: 4 }

interface Header {
  readonly type: number
  readonly dimension: Dimension
  readonly hasSrid: boolean
  readonly isLittleEndian: boolean
  /** True if it has a flag of EWKB. Its members must then not use ISO codes. */
  readonly isExtended: boolean
}

/**
 * Checks well-known binary without building a geometry: every count against the remaining bytes and the limits, every position,
 * every ring. wkx can read everything that passes, with the same result.
 *
 * @throws {ProblemError} `invalid-input` that names the byte
 */
function guardWkb(bytes: Uint8Array, budget: FormatBudget): void {
  const guard = new Guard(bytes, budget)
  guard.run()
}

class Guard {
  readonly #view: DataView
  readonly #budget: FormatBudget
  #offset = 0

  constructor(bytes: Uint8Array, budget: FormatBudget) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#budget = budget
  }

  run(): void {
    this.#checkGeometry(0, undefined)
    const remaining = this.#view.byteLength - this.#offset
    if (remaining > 0) throw this.#problem(this.#offset, `${remaining} bytes follow the geometry`)
  }

  /** @param parent header of the Multi geometry or collection around it */
  #checkGeometry(depth: number, parent: Header | undefined): void {
    const start = this.#offset
    const header = this.#readHeader(parent)
    const { type } = header
    const memberType = parent === undefined ? undefined : MEMBERS[parent.type]
    if (memberType !== undefined && type !== memberType) {
      throw this.#problem(start, `a member has geometry type ${type}; only type ${memberType} is allowed here`)
    }
    switch (type) {
      case POINT: {
        this.#budget.addParts(1, start)
        this.#budget.addVertices(1, start)
        const offset = this.#offset
        const [longitude, latitude] = this.#readPosition(header)
        // This is how an empty point is written.
        if (Number.isNaN(longitude) && Number.isNaN(latitude)) throw this.#budget.emptyGeometry(start)
        this.#budget.requirePosition(longitude, latitude, offset)
        return
      }
      case LINE_STRING:
        this.#checkSequence(header, false)
        return
      case POLYGON: {
        const rings = this.#readCount(header, 4, 'rings')
        for (let index = 0; index < rings; index++) this.#checkSequence(header, true)
        return
      }
    }
    if (type === COLLECTION) this.#budget.enterCollection(depth, start)
    const members = this.#readCount(header, SMALLEST_GEOMETRY, 'geometries')
    for (let index = 0; index < members; index++) this.#checkGeometry(depth + 1, header)
  }

  #readHeader(parent: Header | undefined): Header {
    const start = this.#offset
    this.#requireBytes(5)
    const order = this.#view.getUint8(start)
    if (order > 1) throw this.#problem(start, `the byte order is ${order}; it has to be 0 or 1`)
    const isLittleEndian = order === 1
    const word = this.#view.getUint32(start + 1, isLittleEndian)
    this.#offset += 5
    const isExtended = word >= SRID_FLAG
    const code = word % SRID_FLAG
    const thousands = Math.floor(code / 1000)
    const type = code % 1000
    const isMixed = thousands > 0 && (isExtended || parent?.isExtended === true)
    if (thousands > 3 || isMixed || type === 0 || type >= 8 + OTHER_TYPES.length) {
      throw this.#problem(start + 1, `${word} is not a geometry type`)
    }
    if (type >= 8) throw this.#budget.unknownType(OTHER_TYPES[type - 8]!, start + 1)
    const hasZ = hasFlag(word, Z_FLAG) || thousands === 1 || thousands === 3
    const hasM = hasFlag(word, M_FLAG) || thousands >= 2
    const dimension = hasZ ? (hasM ? 'ZM' : 'Z') : hasM ? 'M' : 'XY'
    if (parent !== undefined && dimension !== parent.dimension) {
      const detail = `dimension ${dimension} in a geometry of dimension ${parent.dimension}`
      throw this.#budget.mixedDimension(start + 1, detail)
    }
    const hasSrid = hasFlag(word, SRID_FLAG)
    if (hasSrid) {
      if (parent?.hasSrid === false) {
        throw this.#budget.problem(start + 1, 'a member has an SRID, but the geometry around it has none', {
          code: 'srid',
          hint: 'give the SRID to the outermost geometry, as ST_AsEWKB does',
        })
      }
      this.#requireBytes(4)
      this.#budget.requireSrid(this.#view.getUint32(this.#offset, isLittleEndian), this.#offset)
      this.#offset += 4
    }
    // A member without an SRID has that of its collection.
    return { type, dimension, hasSrid: hasSrid || parent?.hasSrid === true, isLittleEndian, isExtended }
  }

  #checkSequence(header: Header, isRing: boolean): void {
    const start = this.#offset
    this.#budget.addParts(1, start)
    const count = this.#readCount(header, 8 * NUMBERS[header.dimension], 'positions')
    this.#budget.addVertices(count, start)
    let first: Position | undefined
    let last: Position | undefined
    for (let index = 0; index < count; index++) {
      const offset = this.#offset
      last = this.#readPosition(header)
      first ??= last
      this.#budget.requirePosition(last[0], last[1], offset)
    }
    if (isRing) this.#budget.requireRing(count, first!, last!, start)
    else this.#budget.requireLine(count, start)
  }

  #readPosition({ dimension, isLittleEndian }: Header): Position {
    const numbers = NUMBERS[dimension]
    this.#requireBytes(8 * numbers)
    const longitude = this.#view.getFloat64(this.#offset, isLittleEndian)
    const latitude = this.#view.getFloat64(this.#offset + 8, isLittleEndian)
    this.#offset += 8 * numbers
    return [longitude, latitude]
  }

  /** @returns at least 1 */
  #readCount({ isLittleEndian }: Header, minBytes: number, items: string): number {
    const start = this.#offset
    this.#requireBytes(4)
    const count = this.#view.getUint32(start, isLittleEndian)
    this.#offset += 4
    if (count === 0) throw this.#budget.emptyGeometry(start)
    const remaining = this.#view.byteLength - this.#offset
    if (count * minBytes > remaining)
      throw this.#problem(start, `${count} ${items} do not fit into the remaining ${remaining} bytes`)
    return count
  }

  #requireBytes(size: number): void {
    const remaining = this.#view.byteLength - this.#offset
    if (remaining < size) throw this.#problem(this.#offset, `the data ends after ${remaining} of ${size} bytes`)
  }

  #problem(offset: number, detail: string) {
    return this.#budget.problem(offset, detail, { code: 'not-wkb' })
  }
}

function hasFlag(word: number, flag: number): boolean {
  return Math.floor(word / flag) % 2 === 1
}

type Library = typeof import('wkx')

let library: Library | undefined

/** Loads the library on first use, because that takes about ten milliseconds, and most requests do not need it. */
function loadLibrary(): Library {
  library ??= createRequire(import.meta.url)('wkx') as Library
  return library
}

/**
 * Converts well-known binary to GeoJSON: OGC and ISO codes with Z and M, and PostGIS's EWKB with its SRID.
 *
 * @param bytes are checked before wkx reads them, because wkx trusts every count in them
 * @param path of the bytes in the request, for messages
 * @returns positions of longitude and latitude; further numbers are dropped
 * @throws {ProblemError} `invalid-input` that names the byte, counted from 0
 * @see OGC 06-103r4, section 8
 */
export function readWkb(bytes: Uint8Array, path: Path, limits: FormatLimits): Geometry {
  guardWkb(bytes, new FormatBudget('byte', bytes.byteLength, path, limits))
  const parsed = loadLibrary().Geometry.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  return dropHeights(parsed.toGeoJSON() as Geometry)
}

/**
 * Converts well-known binary in hex digits, as `psql` and `ST_AsHexEWKB` show it, with or without a leading `\x` or `0x`.
 *
 * @throws {ProblemError} `invalid-input`
 */
export function readWkbHex(text: string, path: Path, limits: FormatLimits): Geometry {
  const digits = trimAscii(text).replace(/^(?:0x|\\x)/i, '')
  // Two digits are one byte. Text over the limit is rejected before it is examined.
  new FormatBudget('byte', digits.length / 2, path, limits)
  if (digits === '' || digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) {
    throw problemAt('invalid-input', path, 'is not well-known binary: expected an even number of hex digits', {
      code: 'not-wkb',
    })
  }
  return readWkb(Buffer.from(digits, 'hex'), path, limits)
}

/**
 * Writes a geometry as well-known binary: little-endian, with the codes of ISO 13249-3 (a point with a height is 1001).
 *
 * @param geometry whose positions all have two numbers, or all have three
 */
export function writeWkb(geometry: Geometry): Uint8Array {
  const parsed = loadLibrary().Geometry.parseGeoJSON(geometry)
  // wkx assumes WGS 84, and writes the flags of EWKB for a geometry with a reference system.
  delete (parsed as { srid?: number }).srid
  return parsed.toWkb()
}

/** Drops heights, and turns −0 into 0. */
function dropHeights(geometry: Geometry): Geometry {
  if (geometry.type === 'GeometryCollection') {
    return { type: geometry.type, geometries: geometry.geometries.map(dropHeights) } as Geometry
  }
  return { type: geometry.type, coordinates: flatten(geometry.coordinates) } as Geometry
}

type Nested = Position | readonly Nested[]

function flatten(value: Nested): Nested {
  if (typeof value[0] === 'number') return [value[0] + 0, (value[1] as number) + 0]
  return (value as readonly Nested[]).map(flatten)
}
