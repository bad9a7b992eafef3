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
const SPACES = /\s*/y
const MARK = /(?:ZM|Z|M)\b/iy
const EMPTY = /EMPTY\b/iy
const SRID = /SRID\s*=\s*(\d{1,9})\s*;/iy
/** Most characters of what was found that an error shows. */
const SHOWN = 20

/** How many numbers a position has, by the mark of the type; without one it is as the positions say. */
const COUNTS: Readonly<Record<string, readonly [fewest: number, most: number]>> = {
  '': [2, 4],
  Z: [3, 3],
  M: [3, 3],
  ZM: [4, 4],
}
type Counts = readonly [fewest: number, most: number]

/**
 * Well-known text as GeoJSON: OGC Simple Features with Z and M, and the `SRID=4326;` of EWKT, in letters of any case.
 *
 * Read here and not by wkx, whose reader of text looks through the whole rest of it for every word (10,000 lines take it 330 ms, and
 * 18 ms here), takes `1x` for 1, ignores what follows the geometry and names no place.
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
    const geometry = this.#geometry(0)
    if (this.#at < this.#text.length) throw this.#unexpected('the end')
    return geometry
  }

  #geometry(depth: number): Geometry {
    const start = this.#at
    const word = this.#match(WORD)?.toUpperCase()
    if (word === undefined) throw this.#unexpected('the type of a geometry, such as POINT')
    const [type, mark] = this.#typeOf(word, start)
    this.#skip()
    const counts = COUNTS[mark ?? this.#mark()]!
    switch (type) {
      case 'Point':
        this.#budget.addParts(1, start + 1)
        return { type, coordinates: this.#bracketed(() => this.#position(counts)) }
      case 'MultiPoint':
        return { type, coordinates: this.#list(() => this.#memberPoint(counts)) }
      case 'LineString':
        return { type, coordinates: this.#line(counts) }
      case 'MultiLineString':
        return { type, coordinates: this.#list(() => this.#line(counts)) }
      case 'Polygon':
        return { type, coordinates: this.#list(() => this.#ring(counts)) }
      case 'MultiPolygon':
        return { type, coordinates: this.#list(() => this.#list(() => this.#ring(counts))) }
      case 'GeometryCollection':
        this.#budget.enterCollection(depth, start + 1)
        return { type, geometries: this.#list(() => this.#geometry(depth + 1)) } as Geometry
    }
  }

  /** A mark may be written without a space, as in `POINTZ`. */
  #typeOf(word: string, start: number): [GeometryType, mark: string | undefined] {
    if (Object.hasOwn(TYPES, word)) return [TYPES[word]!, undefined]
    const [, stem = '', mark] = /^(.*?)(ZM|Z|M)$/.exec(word) ?? []
    if (Object.hasOwn(TYPES, stem)) return [TYPES[stem]!, mark]
    if (OTHER_TYPES.test(word)) throw this.#budget.unknownType(word, start + 1)
    this.#at = start
    throw this.#unexpected('the type of a geometry, such as POINT')
  }

  #mark(): string {
    const mark = this.#match(MARK)?.toUpperCase() ?? ''
    this.#skip()
    return mark
  }

  /** `(1 2)` or, as older programs write it, `1 2`. */
  #memberPoint(counts: Counts): Position {
    this.#budget.addParts(1, this.#at + 1)
    const isBracketed = this.#text[this.#at] === '('
    return isBracketed || this.#isEmpty() ? this.#bracketed(() => this.#position(counts)) : this.#position(counts)
  }

  #line(counts: Counts): Position[] {
    const start = this.#at + 1
    const positions = this.#sequence(counts)
    this.#budget.requireLine(positions.length, start)
    return positions
  }

  #ring(counts: Counts): Position[] {
    const start = this.#at + 1
    const positions = this.#sequence(counts)
    this.#budget.requireRing(positions.length, positions[0]!, positions.at(-1)!, start)
    return positions
  }

  #sequence(counts: Counts): Position[] {
    this.#budget.addParts(1, this.#at + 1)
    return this.#list(() => this.#position(counts))
  }

  #position([fewest, most]: Counts): Position {
    const start = this.#at + 1
    this.#budget.addVertices(1, start)
    const longitude = this.#number()
    const latitude = this.#number()
    let count = 2
    while (count < most && this.#at < this.#text.length && !/[,()]/.test(this.#text[this.#at]!)) {
      this.#number()
      count++
    }
    if (count < fewest) throw this.#unexpected(`number ${count + 1} of a position`)
    this.#budget.requirePosition(longitude, latitude, start)
    return [longitude, latitude]
  }

  #number(): number {
    const start = this.#at
    const found = this.#match(NUMBER)
    const follower = this.#text[this.#at]
    if (found === undefined || (follower !== undefined && !/[\s,()]/.test(follower))) {
      this.#at = start
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
    const rest = this.#text.slice(this.#at, this.#at + SHOWN)
    const found = rest === '' ? 'the end' : JSON.stringify(rest)
    return this.#budget.refusal(this.#at + 1, `${wanted} is expected, found ${found}`, { code: 'not-wkt' })
  }
}
