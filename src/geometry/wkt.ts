import type { Geometry, Position } from '../types/generated.ts'
import type { GeometryType } from './flat.ts'
import { FormatBudget, type FormatLimits, type Path } from './notation.ts'

const TYPES: Readonly<Record<string, GeometryType>> = {
  POINT: 'Point',
  MULTIPOINT: 'MultiPoint',
  LINESTRING: 'LineString',
  MULTILINESTRING: 'MultiLineString',
  POLYGON: 'Polygon',
  MULTIPOLYGON: 'MultiPolygon',
  GEOMETRYCOLLECTION: 'GeometryCollection',
}
/** Types of OGC and ISO that GeoJSON lacks. */
const OTHER_TYPES =
  /^(?:CIRCULARSTRING|COMPOUNDCURVE|CURVEPOLYGON|MULTICURVE|MULTISURFACE|CURVE|SURFACE|POLYHEDRALSURFACE|TIN|TRIANGLE)(?:Z|M|ZM)?$/
const WORD = /[A-Za-z]+/y
const NUMBER = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y
const SPACES = /[ \t\r\n]*/y
/** White space and invisible characters that people and programs write, but that well-known text does not allow. */
const FOREIGN_SPACE = /[\s\u0085\u180e\u200b-\u200d\u2060]/
const NUMBER_END = /[ \t\r\n,()]/
const TAG = /(?:ZM|Z|M)\b/iy
const EMPTY = /EMPTY\b/iy
const SRID = /SRID[ \t\r\n]*=[ \t\r\n]*(\d{1,9})[ \t\r\n]*;/iy
/** Largest number of characters of the text that an error shows. */
const MAX_SHOWN = 20

/** How many numbers a position has, by what it holds besides longitude and latitude. */
const COUNTS = { Z: 3, M: 3, ZM: 4 } as const
type DimensionTag = keyof typeof COUNTS
const MAX_NUMBERS = 4

/**
 * Converts well-known text to GeoJSON: OGC Simple Features with Z and M, and the `SRID=4326;` of EWKT, in upper or lower case.
 *
 * wkx is not used for text: it takes 330 ms for 10,000 lines (18 ms here), reads `1x` as 1, and ignores what follows the
 * geometry. As in PostGIS, all positions have the same dimension: `Z`, `M` or `ZM` as declared by the type or its collection,
 * otherwise as the count of numbers says (2, 3 for `Z`, 4 for `ZM`). Without this rule a forgotten comma would turn a vertex into
 * heights.
 *
 * @param text x is the longitude and y the latitude, whatever order an SRID implies; further numbers are dropped
 * @param path of the text in the request, for messages
 * @throws {ProblemError} `invalid-input` that names the character, counted from 1
 * @see OGC 06-103r4, section 7
 */
export function readWkt(text: string, path: Path, limits: FormatLimits): Geometry {
  const reader = new WktReader(text, path, limits)
  return reader.readAll()
}

class WktReader {
  readonly #text: string
  readonly #budget: FormatBudget
  #offset = 0
  /** Dimension of the first position, which all others share. */
  #dimension: { readonly tag: DimensionTag | undefined; readonly count: number } | undefined

  constructor(text: string, path: Path, limits: FormatLimits) {
    this.#text = text
    this.#budget = new FormatBudget('character', text.length, path, limits)
  }

  readAll(): Geometry {
    this.#skipSpaces()
    const from = this.#offset
    const srid = this.#match(SRID)
    if (srid !== undefined) {
      this.#budget.requireSrid(Number(/\d+/.exec(srid)![0]), from + 1)
      this.#skipSpaces()
    }
    const geometry = this.#readGeometry(0, undefined)
    if (this.#offset < this.#text.length) throw this.#unexpected('the end of the text')
    return geometry
  }

  /** @param declared dimension of the collection around it */
  #readGeometry(depth: number, declared: DimensionTag | undefined): Geometry {
    const start = this.#offset
    const word = this.#match(WORD)?.toUpperCase()
    if (word === undefined) throw this.#unexpected('a geometry type such as POINT')
    const [type, joinedTag] = this.#parseType(word, start)
    this.#skipSpaces()
    const tagStart = joinedTag === undefined ? this.#offset : start
    const ownTag = joinedTag ?? this.#readTag()
    if (ownTag !== undefined && declared !== undefined && ownTag !== declared) {
      throw this.#budget.mixedDimension(tagStart + 1, `dimension ${ownTag} in a collection of dimension ${declared}`)
    }
    const tag = ownTag ?? declared
    if (this.#budget.acceptsEmpty && this.#match(EMPTY) !== undefined) return this.#emptyGeometry(type, start)
    switch (type) {
      case 'Point':
        this.#budget.addParts(1, start + 1)
        return { type, coordinates: this.#readBracketed(() => this.#readPosition(tag)) }
      case 'MultiPoint':
        return { type, coordinates: this.#readList(() => this.#readMemberPoint(tag)) }
      case 'LineString':
        return { type, coordinates: this.#readLine(tag) }
      case 'MultiLineString':
        return { type, coordinates: this.#readList(() => this.#readLine(tag)) }
      case 'Polygon':
        return { type, coordinates: this.#readList(() => this.#readRing(tag)) }
      case 'MultiPolygon':
        return { type, coordinates: this.#readList(() => this.#readList(() => this.#readRing(tag))) }
      case 'GeometryCollection':
        this.#budget.enterCollection(depth, start + 1)
        return { type, geometries: this.#readList(() => this.#readGeometry(depth + 1, tag)) } as Geometry
    }
  }

  #emptyGeometry(type: GeometryType, start: number): Geometry {
    this.#skipSpaces()
    this.#budget.addParts(1, start + 1)
    return (type === 'GeometryCollection' ? { type, geometries: [] } : { type, coordinates: [] }) as unknown as Geometry
  }

  /** The tag may follow the type without a space, as in `POINTZ`. */
  #parseType(word: string, start: number): [GeometryType, tag: DimensionTag | undefined] {
    if (Object.hasOwn(TYPES, word)) return [TYPES[word]!, undefined]
    const [, stem = '', tag] = /^(.*?)(ZM|Z|M)$/.exec(word) ?? []
    if (Object.hasOwn(TYPES, stem)) return [TYPES[stem]!, tag as DimensionTag | undefined]
    if (OTHER_TYPES.test(word)) throw this.#budget.unknownType(word, start + 1)
    this.#offset = start
    throw this.#unexpected('a geometry type such as POINT')
  }

  #readTag(): DimensionTag | undefined {
    const tag = this.#match(TAG)?.toUpperCase() as DimensionTag | undefined
    this.#skipSpaces()
    return tag
  }

  /** Reads `(1 2)` or, as older programs write it, `1 2`. */
  #readMemberPoint(tag: DimensionTag | undefined): Position {
    this.#budget.addParts(1, this.#offset + 1)
    const isBracketed = this.#text[this.#offset] === '('
    return isBracketed || this.#isEmpty() ? this.#readBracketed(() => this.#readPosition(tag)) : this.#readPosition(tag)
  }

  #readLine(tag: DimensionTag | undefined): Position[] {
    const start = this.#offset + 1
    const positions = this.#readSequence(tag)
    this.#budget.requireLine(positions.length, start)
    return positions
  }

  #readRing(tag: DimensionTag | undefined): Position[] {
    const start = this.#offset + 1
    const positions = this.#readSequence(tag)
    this.#budget.requireRing(positions.length, positions[0]!, positions.at(-1)!, start)
    return positions
  }

  #readSequence(tag: DimensionTag | undefined): Position[] {
    this.#budget.addParts(1, this.#offset + 1)
    return this.#readList(() => this.#readPosition(tag))
  }

  #readPosition(tag: DimensionTag | undefined): Position {
    const start = this.#offset + 1
    this.#budget.addVertices(1, start)
    const longitude = this.#readNumber()
    const latitude = this.#readNumber()
    let count = 2
    const maxCount = tag === undefined ? MAX_NUMBERS : COUNTS[tag]
    while (count < maxCount && this.#offset < this.#text.length && !/[,()]/.test(this.#text[this.#offset]!)) {
      this.#readNumber()
      count++
    }
    if (tag !== undefined && count < maxCount) throw this.#unexpected(`number ${count + 1} of a position`)
    this.#requireDimension(tag, count, start)
    this.#budget.requirePosition(longitude, latitude, start)
    return [longitude, latitude]
  }

  #requireDimension(declared: DimensionTag | undefined, count: number, start: number): void {
    const tag = declared ?? ([undefined, 'Z', 'ZM'] as const)[count - 2]
    this.#dimension ??= { tag, count }
    const first = this.#dimension
    if (count !== first.count) {
      throw this.#budget.mixedDimension(start, `a position has ${count} numbers, earlier ones have ${first.count}`)
    }
    if (tag === first.tag) return
    throw this.#budget.mixedDimension(start, `a position of dimension ${tag} follows one of dimension ${first.tag}`)
  }

  #readNumber(): number {
    const start = this.#offset
    const token = this.#match(NUMBER)
    const next = this.#text[this.#offset]
    if (token === undefined || (next !== undefined && !NUMBER_END.test(next))) {
      if (next === undefined || !FOREIGN_SPACE.test(next)) this.#offset = start
      throw this.#unexpected('a number')
    }
    const value = Number(token)
    if (!Number.isFinite(value)) {
      throw this.#budget.problem(start + 1, 'the number is too large to be finite', { code: 'not-finite' })
    }
    this.#skipSpaces()
    return value + 0 // -0 becomes 0
  }

  #readList<T>(readMember: () => T): T[] {
    return this.#readBracketed(() => {
      const members = [readMember()]
      while (this.#text[this.#offset] === ',') {
        this.#offset++
        this.#skipSpaces()
        members.push(readMember())
      }
      return members
    })
  }

  #readBracketed<T>(readContent: () => T): T {
    if (this.#isEmpty()) throw this.#budget.emptyGeometry(this.#offset + 1)
    this.#take('(')
    const value = readContent()
    this.#take(')')
    return value
  }

  #take(character: string): void {
    if (this.#text[this.#offset] !== character) throw this.#unexpected(`"${character}"`)
    this.#offset++
    this.#skipSpaces()
  }

  #skipSpaces(): void {
    this.#match(SPACES)
  }

  #isEmpty(): boolean {
    EMPTY.lastIndex = this.#offset
    return EMPTY.test(this.#text)
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#offset
    const token = pattern.exec(this.#text)?.[0]
    this.#offset += token?.length ?? 0
    return token
  }

  #unexpected(expected: string) {
    const character = this.#text[this.#offset]
    if (character !== undefined && !NUMBER_END.test(character) && FOREIGN_SPACE.test(character)) {
      return this.#budget.foreignSpace(character, this.#offset + 1)
    }
    const remaining = this.#text.slice(this.#offset, this.#offset + MAX_SHOWN)
    const token = remaining === '' ? 'the end of the text' : JSON.stringify(remaining)
    return this.#budget.problem(this.#offset + 1, `expected ${expected}, found ${token}`, { code: 'not-wkt' })
  }
}
