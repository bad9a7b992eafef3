import type { Geometry, Position } from '../types/generated.ts'
import type { GeometryType } from './flat.ts'
import { FormatBudget, type FormatLimits, type Path } from './format-budget.ts'

const TYPES: Readonly<Record<string, GeometryType>> = {
  POINT: 'Point',
  MULTIPOINT: 'MultiPoint',
  LINESTRING: 'LineString',
  MULTILINESTRING: 'MultiLineString',
  POLYGON: 'Polygon',
  MULTIPOLYGON: 'MultiPolygon',
  GEOMETRYCOLLECTION: 'GeometryCollection',
}
/** Types of the standards that GeoJSON lacks. */
const OTHER_TYPES =
  /^(?:CIRCULARSTRING|COMPOUNDCURVE|CURVEPOLYGON|MULTICURVE|MULTISURFACE|CURVE|SURFACE|POLYHEDRALSURFACE|TIN|TRIANGLE)(?:Z|M|ZM)?$/
const WORD = /[A-Za-z]+/y
const NUMBER = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y
const SPACES = /[ \t\r\n]*/y
/** White space, or invisible, for people and programs that well-known text does not know. */
const FOREIGN_SPACE = /[\s\u0085\u180e\u200b-\u200d\u2060]/
const NUMBER_END = /[ \t\r\n,()]/
const MARK = /(?:ZM|Z|M)\b/iy
const EMPTY = /EMPTY\b/iy
const SRID = /SRID[ \t\r\n]*=[ \t\r\n]*(\d{1,9})[ \t\r\n]*;/iy
/** Most characters of what was found that an error shows. */
const SHOWN = 20

/** How many numbers a position has, by what it holds beside longitude and latitude. */
const COUNTS = { Z: 3, M: 3, ZM: 4 } as const
type Mark = keyof typeof COUNTS
const MOST_NUMBERS = 4

/**
 * Well-known text as GeoJSON: OGC Simple Features with Z and M, and the `SRID=4326;` of EWKT, in letters of any case.
 *
 * wkx is not used for text: it takes 330 ms for 10,000 lines (18 ms here), reads `1x` as 1 and ignores what follows the geometry.
 * As in PostGIS, all positions have the same dimension: `Z`, `M` or `ZM` as declared by the type or its collection, else what
 * the count of numbers says (2, 3 for `Z`, 4 for `ZM`). A forgotten comma would otherwise turn a vertex into heights.
 *
 * @param text x is the longitude, y the latitude, whatever an SRID says of their order; further numbers are dropped
 * @param path where it stands in the request, for messages
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
  #at = 0
  /** Of the first position, which all others share. */
  #dimension: { readonly mark: Mark | undefined; readonly count: number } | undefined

  constructor(text: string, path: Path, limits: FormatLimits) {
    this.#text = text
    this.#budget = new FormatBudget('character', text.length, path, limits)
  }

  readAll(): Geometry {
    this.#skip()
    const from = this.#at
    const srid = this.#match(SRID)
    if (srid !== undefined) {
      this.#budget.requireSrid(Number(/\d+/.exec(srid)![0]), from + 1)
      this.#skip()
    }
    const geometry = this.#geometry(0, undefined)
    if (this.#at < this.#text.length) throw this.#unexpected('the end')
    return geometry
  }

  /** @param declared by the collection around it */
  #geometry(depth: number, declared: Mark | undefined): Geometry {
    const start = this.#at
    const word = this.#match(WORD)?.toUpperCase()
    if (word === undefined) throw this.#unexpected('the type of a geometry, such as POINT')
    const [type, joinedMark] = this.#typeOf(word, start)
    this.#skip()
    const markStart = joinedMark === undefined ? this.#at : start
    const ownMark = joinedMark ?? this.#mark()
    if (ownMark !== undefined && declared !== undefined && ownMark !== declared) {
      throw this.#budget.mixedDimension(markStart + 1, `stands ${ownMark} in a collection of dimension ${declared}`)
    }
    const mark = ownMark ?? declared
    switch (type) {
      case 'Point':
        this.#budget.addParts(1, start + 1)
        return { type, coordinates: this.#bracketed(() => this.#position(mark)) }
      case 'MultiPoint':
        return { type, coordinates: this.#list(() => this.#memberPoint(mark)) }
      case 'LineString':
        return { type, coordinates: this.#line(mark) }
      case 'MultiLineString':
        return { type, coordinates: this.#list(() => this.#line(mark)) }
      case 'Polygon':
        return { type, coordinates: this.#list(() => this.#ring(mark)) }
      case 'MultiPolygon':
        return { type, coordinates: this.#list(() => this.#list(() => this.#ring(mark))) }
      case 'GeometryCollection':
        this.#budget.enterCollection(depth, start + 1)
        return { type, geometries: this.#list(() => this.#geometry(depth + 1, mark)) } as Geometry
    }
  }

  /** A mark may be written without a space, as in `POINTZ`. */
  #typeOf(word: string, start: number): [GeometryType, mark: Mark | undefined] {
    if (Object.hasOwn(TYPES, word)) return [TYPES[word]!, undefined]
    const [, stem = '', mark] = /^(.*?)(ZM|Z|M)$/.exec(word) ?? []
    if (Object.hasOwn(TYPES, stem)) return [TYPES[stem]!, mark as Mark | undefined]
    if (OTHER_TYPES.test(word)) throw this.#budget.unknownType(word, start + 1)
    this.#at = start
    throw this.#unexpected('the type of a geometry, such as POINT')
  }

  #mark(): Mark | undefined {
    const mark = this.#match(MARK)?.toUpperCase() as Mark | undefined
    this.#skip()
    return mark
  }

  /** `(1 2)` or, as older programs write it, `1 2`. */
  #memberPoint(mark: Mark | undefined): Position {
    this.#budget.addParts(1, this.#at + 1)
    const isBracketed = this.#text[this.#at] === '('
    return isBracketed || this.#isEmpty() ? this.#bracketed(() => this.#position(mark)) : this.#position(mark)
  }

  #line(mark: Mark | undefined): Position[] {
    const start = this.#at + 1
    const positions = this.#sequence(mark)
    this.#budget.requireLine(positions.length, start)
    return positions
  }

  #ring(mark: Mark | undefined): Position[] {
    const start = this.#at + 1
    const positions = this.#sequence(mark)
    this.#budget.requireRing(positions.length, positions[0]!, positions.at(-1)!, start)
    return positions
  }

  #sequence(mark: Mark | undefined): Position[] {
    this.#budget.addParts(1, this.#at + 1)
    return this.#list(() => this.#position(mark))
  }

  #position(mark: Mark | undefined): Position {
    const start = this.#at + 1
    this.#budget.addVertices(1, start)
    const longitude = this.#number()
    const latitude = this.#number()
    let count = 2
    const most = mark === undefined ? MOST_NUMBERS : COUNTS[mark]
    while (count < most && this.#at < this.#text.length && !/[,()]/.test(this.#text[this.#at]!)) {
      this.#number()
      count++
    }
    if (mark !== undefined && count < most) throw this.#unexpected(`number ${count + 1} of a position`)
    this.#requireDimension(mark, count, start)
    this.#budget.requirePosition(longitude, latitude, start)
    return [longitude, latitude]
  }

  #requireDimension(declared: Mark | undefined, count: number, start: number): void {
    const mark = declared ?? ([undefined, 'Z', 'ZM'] as const)[count - 2]
    this.#dimension ??= { mark, count }
    const first = this.#dimension
    if (count !== first.count) {
      throw this.#budget.mixedDimension(start, `a position has ${count} numbers, those before it ${first.count}`)
    }
    if (mark === first.mark) return
    throw this.#budget.mixedDimension(start, `a position of dimension ${mark} follows one of dimension ${first.mark}`)
  }

  #number(): number {
    const start = this.#at
    const found = this.#match(NUMBER)
    const follower = this.#text[this.#at]
    if (found === undefined || (follower !== undefined && !NUMBER_END.test(follower))) {
      if (follower === undefined || !FOREIGN_SPACE.test(follower)) this.#at = start
      throw this.#unexpected('a number')
    }
    const value = Number(found)
    if (!Number.isFinite(value)) {
      throw this.#budget.refusal(start + 1, 'stands a number too large to be finite', { code: 'not-finite' })
    }
    this.#skip()
    return value + 0 // -0 is 0
  }

  #list<T>(member: () => T): T[] {
    return this.#bracketed(() => {
      const members = [member()]
      while (this.#text[this.#at] === ',') {
        this.#at++
        this.#skip()
        members.push(member())
      }
      return members
    })
  }

  #bracketed<T>(inside: () => T): T {
    if (this.#isEmpty()) throw this.#budget.empty(this.#at + 1)
    this.#take('(')
    const value = inside()
    this.#take(')')
    return value
  }

  #take(character: string): void {
    if (this.#text[this.#at] !== character) throw this.#unexpected(`"${character}"`)
    this.#at++
    this.#skip()
  }

  #skip(): void {
    this.#match(SPACES)
  }

  #isEmpty(): boolean {
    EMPTY.lastIndex = this.#at
    return EMPTY.test(this.#text)
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    this.#at += found?.length ?? 0
    return found
  }

  #unexpected(wanted: string) {
    const character = this.#text[this.#at]
    if (character !== undefined && !NUMBER_END.test(character) && FOREIGN_SPACE.test(character)) {
      return this.#budget.foreignSpace(character, this.#at + 1)
    }
    const rest = this.#text.slice(this.#at, this.#at + SHOWN)
    const found = rest === '' ? 'the end' : JSON.stringify(rest)
    return this.#budget.refusal(this.#at + 1, `${wanted} is expected, found ${found}`, { code: 'not-wkt' })
  }
}
