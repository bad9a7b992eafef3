import type { Position } from '../types/generated.ts'
import type { FormatBudget } from './format-budget.ts'

const POINT = 1
const LINE_STRING = 2
const POLYGON = 3
const MULTI_POINT = 4
const MULTI_LINE_STRING = 5
const MULTI_POLYGON = 6
const COLLECTION = 7
/** Codes of ISO 13249-3 from 8 on, which GeoJSON lacks. */
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
/** What each multiple type is made of. */
const MEMBERS: Readonly<Record<number, number>> = {
  [MULTI_POINT]: POINT,
  [MULTI_LINE_STRING]: LINE_STRING,
  [MULTI_POLYGON]: POLYGON,
}
/** Least size of a member: byte order, type and the count of an empty one. */
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
  /** Has a flag of EWKB; its members may then have no code of ISO. */
  readonly isExtended: boolean
}

/**
 * Looks through well-known binary without building anything: every count against the bytes that are left and against the limits,
 * every position, every ring. What passes is what wkx reads, and reads in the same way.
 *
 * @throws {ProblemError} `invalid-input` that names the byte
 */
export function guardWkb(bytes: Uint8Array, budget: FormatBudget): void {
  const guard = new Guard(bytes, budget)
  guard.run()
}

class Guard {
  readonly #view: DataView
  readonly #budget: FormatBudget
  #at = 0

  constructor(bytes: Uint8Array, budget: FormatBudget) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#budget = budget
  }

  run(): void {
    this.#geometry(0, undefined)
    const left = this.#view.byteLength - this.#at
    if (left > 0) throw this.#refusal(this.#at, `${left} bytes follow the geometry`)
  }

  /** @param parent of the multiple geometry or collection around it */
  #geometry(depth: number, parent: Header | undefined): void {
    const start = this.#at
    const header = this.#header(parent)
    const { type } = header
    const wanted = parent === undefined ? undefined : MEMBERS[parent.type]
    if (wanted !== undefined && type !== wanted) {
      throw this.#refusal(start, `stands a geometry of type ${type} among those of type ${wanted}`)
    }
    switch (type) {
      case POINT: {
        this.#budget.addParts(1, start)
        this.#budget.addVertices(1, start)
        const at = this.#at
        const [longitude, latitude] = this.#position(header)
        // How an empty point is written.
        if (Number.isNaN(longitude) && Number.isNaN(latitude)) throw this.#budget.empty(start)
        this.#budget.requirePosition(longitude, latitude, at)
        return
      }
      case LINE_STRING:
        this.#sequence(header, false)
        return
      case POLYGON: {
        const rings = this.#count(header, 4, 'rings')
        for (let index = 0; index < rings; index++) this.#sequence(header, true)
        return
      }
    }
    if (type === COLLECTION) this.#budget.enterCollection(depth, start)
    const members = this.#count(header, SMALLEST_GEOMETRY, 'geometries')
    for (let index = 0; index < members; index++) this.#geometry(depth + 1, header)
  }

  #header(parent: Header | undefined): Header {
    const start = this.#at
    this.#need(5)
    const order = this.#view.getUint8(start)
    if (order > 1) throw this.#refusal(start, `stands ${order} where the byte order is 0 or 1`)
    const isLittleEndian = order === 1
    const word = this.#view.getUint32(start + 1, isLittleEndian)
    this.#at += 5
    const isExtended = word >= SRID_FLAG
    const code = word % SRID_FLAG
    const thousands = Math.floor(code / 1000)
    const type = code % 1000
    const isMixed = thousands > 0 && (isExtended || parent?.isExtended === true)
    if (thousands > 3 || isMixed || type === 0 || type >= 8 + OTHER_TYPES.length) {
      throw this.#refusal(start + 1, `stands ${word}, which is no type of a geometry`)
    }
    if (type >= 8) throw this.#budget.unknownType(OTHER_TYPES[type - 8]!, start + 1)
    const hasZ = hasFlag(word, Z_FLAG) || thousands === 1 || thousands === 3
    const hasM = hasFlag(word, M_FLAG) || thousands >= 2
    const dimension = hasZ ? (hasM ? 'ZM' : 'Z') : hasM ? 'M' : 'XY'
    if (parent !== undefined && dimension !== parent.dimension) {
      const detail = `stands dimension ${dimension} in a geometry of dimension ${parent.dimension}`
      throw this.#budget.mixedDimension(start + 1, detail)
    }
    const hasSrid = hasFlag(word, SRID_FLAG)
    if (hasSrid) {
      if (parent?.hasSrid === false) {
        throw this.#budget.refusal(start + 1, 'stands an SRID in a geometry that has none', {
          code: 'srid',
          hint: 'give the SRID to the outermost geometry, as ST_AsEWKB does',
        })
      }
      this.#need(4)
      this.#budget.requireSrid(this.#view.getUint32(this.#at, isLittleEndian), this.#at)
      this.#at += 4
    }
    // A member without an SRID has that of its collection.
    return { type, dimension, hasSrid: hasSrid || parent?.hasSrid === true, isLittleEndian, isExtended }
  }

  #sequence(header: Header, isRing: boolean): void {
    const start = this.#at
    this.#budget.addParts(1, start)
    const count = this.#count(header, 8 * NUMBERS[header.dimension], 'positions')
    this.#budget.addVertices(count, start)
    let first: Position | undefined
    let last: Position | undefined
    for (let index = 0; index < count; index++) {
      const at = this.#at
      last = this.#position(header)
      first ??= last
      this.#budget.requirePosition(last[0], last[1], at)
    }
    if (isRing) this.#budget.requireRing(count, first!, last!, start)
    else this.#budget.requireLine(count, start)
  }

  #position({ dimension, isLittleEndian }: Header): Position {
    const numbers = NUMBERS[dimension]
    this.#need(8 * numbers)
    const longitude = this.#view.getFloat64(this.#at, isLittleEndian)
    const latitude = this.#view.getFloat64(this.#at + 8, isLittleEndian)
    this.#at += 8 * numbers
    return [longitude, latitude]
  }

  /** @returns at least 1 */
  #count({ isLittleEndian }: Header, smallest: number, of: string): number {
    const start = this.#at
    this.#need(4)
    const count = this.#view.getUint32(start, isLittleEndian)
    this.#at += 4
    if (count === 0) throw this.#budget.empty(start)
    const left = this.#view.byteLength - this.#at
    if (count * smallest > left) throw this.#refusal(start, `stand ${count} ${of}, for which ${left} bytes are too few`)
    return count
  }

  #need(size: number): void {
    const left = this.#view.byteLength - this.#at
    if (left < size) throw this.#refusal(this.#at, `it ends after ${left} of ${size} bytes`)
  }

  #refusal(at: number, detail: string) {
    return this.#budget.refusal(at, detail, { code: 'not-wkb' })
  }
}

function hasFlag(word: number, flag: number): boolean {
  return Math.floor(word / flag) % 2 === 1
}
