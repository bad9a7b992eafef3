import { latitudeHint, longitudeHint } from '../base/coordinate-hints.ts'
import { type ProblemError, problemAt } from '../base/problem.ts'
import type { Position } from '../types/generated.ts'
import type { GeometryLimits } from './read.ts'

/** A notation for locations other than GeoJSON. */
export type Notation = 'wkt' | 'wkb' | 'h3' | 'geohash' | 'lon-lat' | 'lat-lon'

/** Words that may precede the order of coordinates. None of them names another unit, such as radians. */
const DECIMAL = '^(?:(?:coordinates?|coord|decimal|degrees|dd|wgs84)[+_-]){0,3}'

/** Location types by notation; compared in lower case. */
const TYPES: readonly (readonly [pattern: RegExp, notation: Notation])[] = [
  [/^e?wkt$/, 'wkt'],
  [/^e?wkb$/, 'wkb'],
  [/^h3(?:-(?:index|cell))?$/, 'h3'],
  [/^geohash$/, 'geohash'],
  [new RegExp(`${DECIMAL}(?:lon|lng|long|longitude)[-_,]?(?:lat|latitude)$`), 'lon-lat'],
  [new RegExp(`${DECIMAL}(?:lat|latitude)[-_,]?(?:lon|lng|long|longitude)$`), 'lat-lon'],
]
/** Longer than any of these types. */
const MAX_CHARACTERS = 60

/** @returns undefined for a type whose locations are GeoJSON, and for an unsupported one */
export function findNotation(locationType: string): Notation | undefined {
  if (locationType.length > MAX_CHARACTERS) return undefined
  const type = locationType.trim().toLowerCase()
  return TYPES.find(([pattern]) => pattern.test(type))?.[1]
}

/** Removes ASCII spaces, tabs and line ends at both ends. Other white space belongs to no notation. */
export function trimAscii(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isAsciiSpace(text.charCodeAt(start))) start++
  while (end > start && isAsciiSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isAsciiSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
}

/** Sizes beyond which a text or WKB is rejected; from `config.limits`. */
export interface FormatLimits extends GeometryLimits {
  /** Nesting depth of GeometryCollections. */
  readonly maxCollectionDepth: number
  /** Characters of a text, or bytes of WKB. Absent for input from a body or an attestation, whose size is already limited. */
  readonly maxBodyBytes?: number
  /** True if well-known text may be an empty geometry, such as `POINT EMPTY`; false by default. Empty geometries have no location. */
  readonly acceptsEmpty?: boolean
}

export type Path = readonly (string | number)[]
type Rule = { readonly code: string; readonly hint?: string }

/** EPSG code of longitude and latitude on WGS 84, the only supported reference system. */
const WGS84_SRID = 4326

/**
 * Counts what one geometry in a notation other than GeoJSON uses up, and checks the rules that all notations share.
 *
 * Every check takes the offset in the input (`character 12`, `byte 5`), which its error names.
 */
export class FormatBudget {
  readonly #path: Path
  readonly #limits: FormatLimits
  readonly #unit: 'character' | 'byte'
  #vertices = 0
  #parts = 0

  /** @throws {ProblemError} `invalid-input` when the input is too long to be read */
  constructor(unit: 'character' | 'byte', size: number, path: Path, limits: FormatLimits) {
    this.#unit = unit
    this.#path = path
    this.#limits = limits
    const { maxBodyBytes = Number.POSITIVE_INFINITY } = limits
    if (size <= maxBodyBytes) return
    throw problemAt('invalid-input', path, `is ${size} ${unit}s long, more than ${maxBodyBytes}`, {
      code: 'too-long',
      hint: HINT_SMALLER,
    })
  }

  get acceptsEmpty(): boolean {
    return this.#limits.acceptsEmpty === true
  }

  problem(at: number, detail: string, rule: Rule): ProblemError {
    return problemAt('invalid-input', this.#path, `at ${this.#unit} ${at}: ${detail}`, rule)
  }

  /** @throws {ProblemError} before the positions are read */
  addVertices(count: number, at: number): void {
    this.#vertices += count
    if (this.#vertices <= this.#limits.maxVertices) return
    const detail = `it has more than ${this.#limits.maxVertices} vertices`
    throw this.problem(at, detail, { code: 'too-many-vertices', hint: HINT_SMALLER })
  }

  /** @param count rings, lines and points */
  addParts(count: number, at: number): void {
    this.#parts += count
    if (this.#parts <= this.#limits.maxParts) return
    const detail = `it has more than ${this.#limits.maxParts} rings, lines and points`
    throw this.problem(at, detail, { code: 'too-many-parts', hint: HINT_SMALLER })
  }

  /** @param depth number of collections around this one */
  enterCollection(depth: number, at: number): void {
    if (depth < this.#limits.maxCollectionDepth) return
    throw this.problem(at, 'collections are nested too deeply', {
      code: 'collection-depth',
      hint: 'list the geometries in one collection',
    })
  }

  requireSrid(srid: number, at: number): void {
    if (srid === WGS84_SRID) return
    throw this.problem(at, `SRID ${srid} is not supported; coordinates have to be WGS 84, SRID ${WGS84_SRID} or none`, {
      code: 'srid',
      hint: `transform it to EPSG:${WGS84_SRID} first`,
    })
  }

  requirePosition(longitude: number, latitude: number, at: number): void {
    for (const value of [longitude, latitude]) {
      if (Number.isFinite(value)) continue
      throw this.problem(at, `${value} is not a coordinate`, { code: 'not-finite' })
    }
    if (Math.abs(longitude) > 180) {
      throw this.problem(at, `longitude ${longitude} is outside -180..180`, {
        code: 'longitude-range',
        hint: longitudeHint(longitude),
      })
    }
    if (Math.abs(latitude) > 90) {
      const hint = latitudeHint(latitude, 'the order is longitude, latitude')
      throw this.problem(at, `latitude ${latitude} is outside -90..90`, { code: 'latitude-range', hint })
    }
  }

  requireLine(count: number, at: number): void {
    if (count >= 2) return
    throw this.problem(at, `a line has ${count} position; a line needs at least 2`, { code: 'too-few' })
  }

  requireRing(count: number, first: Position, last: Position, at: number): void {
    const isClosed = first[0] === last[0] && first[1] === last[1]
    if (isClosed && count >= 4) return
    const ringText = `a ring has ${count === 1 ? '1 position' : `${count} positions`}${isClosed ? '' : ' and is open'}`
    throw this.problem(at, `${ringText}; a ring needs at least 4, the last equal to the first`, {
      code: isClosed ? 'too-few' : 'open-ring',
      ...(isClosed ? {} : { hint: `append ${first[0]} ${first[1]}` }),
    })
  }

  /** @param character white space, or an invisible character, that no notation allows */
  foreignSpace(character: string, at: number): ProblemError {
    const name = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
    return this.problem(at, `${name} is not white space in well-known text`, {
      code: 'not-wkt',
      hint: 'use spaces, tabs or line ends',
    })
  }

  mixedDimension(at: number, detail: string): ProblemError {
    return this.problem(at, `${detail}; all positions of a geometry must have the same dimension`, {
      code: 'mixed-dimension',
      hint: 'separate positions by commas, and give all of them the same dimension, for example with ST_Force2D',
    })
  }

  emptyGeometry(at: number): ProblemError {
    return this.problem(at, 'the geometry is empty; empty geometries have no location', { code: 'empty-geometry' })
  }

  unknownType(name: string, at: number): ProblemError {
    return this.problem(at, `${name} is not a geometry type of GeoJSON`, {
      code: 'unknown-geometry-type',
      hint: 'convert curves and surfaces to lines and polygons first, for example with ST_CurveToLine',
    })
  }
}

const HINT_SMALLER = 'simplify it or split it over several requests'
