import { type ProblemError, problemAt } from '../problem.ts'
import type { Position } from '../types/generated.ts'
import type { GeometryLimits } from './read.ts'

/** Sizes beyond which a text or its bytes are refused; from `config.limits`. */
export interface FormatLimits extends GeometryLimits {
  /** GeometryCollections inside each other. */
  readonly maxCollectionDepth: number
  /** Characters of a text, bytes of WKB; absent where they came in a body or an attestation, whose size is bounded. */
  readonly maxBodyBytes?: number
}

export type Path = readonly (string | number)[]
type Rule = { readonly code: string; readonly hint?: string }

/** EPSG code of longitude and latitude on WGS 84: the one reference system there is here. */
const WGS84_SRID = 4326

/**
 * What one geometry of another notation has used up, and the rules that all notations share.
 *
 * Every check takes the place in what was received (`character 12`, `byte 5`), which its error names.
 */
export class FormatBudget {
  readonly #path: Path
  readonly #limits: FormatLimits
  readonly #unit: 'character' | 'byte'
  #vertices = 0
  #parts = 0

  /** @throws {ProblemError} `invalid-input` when it is too long to be looked at */
  constructor(unit: 'character' | 'byte', size: number, path: Path, limits: FormatLimits) {
    this.#unit = unit
    this.#path = path
    this.#limits = limits
    const { maxBodyBytes = Number.POSITIVE_INFINITY } = limits
    if (size <= maxBodyBytes) return
    throw problemAt('invalid-input', path, `is ${size} ${unit}s long, more than ${maxBodyBytes}`, {
      code: 'too-long',
      hint: SMALLER,
    })
  }

  refusal(at: number, detail: string, rule: Rule): ProblemError {
    return problemAt('invalid-input', this.#path, `at ${this.#unit} ${at} ${detail}`, rule)
  }

  /** @throws {ProblemError} before the positions are read */
  addVertices(count: number, at: number): void {
    this.#vertices += count
    if (this.#vertices <= this.#limits.maxVertices) return
    const detail = `it has more than ${this.#limits.maxVertices} vertices`
    throw this.refusal(at, detail, { code: 'too-many-vertices', hint: SMALLER })
  }

  /** @param count rings, lines and points */
  addParts(count: number, at: number): void {
    this.#parts += count
    if (this.#parts <= this.#limits.maxParts) return
    const detail = `it has more than ${this.#limits.maxParts} rings, lines and points`
    throw this.refusal(at, detail, { code: 'too-many-parts', hint: SMALLER })
  }

  /** @param depth collections around this one */
  enterCollection(depth: number, at: number): void {
    if (depth < this.#limits.maxCollectionDepth) return
    throw this.refusal(at, 'too many collections stand inside each other', {
      code: 'collection-depth',
      hint: 'list the geometries in one collection',
    })
  }

  requireSrid(srid: number, at: number): void {
    if (srid === WGS84_SRID) return
    throw this.refusal(at, `stands SRID ${srid}; coordinates are WGS 84 here, SRID ${WGS84_SRID} or none`, {
      code: 'srid',
      hint: `transform it to EPSG:${WGS84_SRID} first`,
    })
  }

  requirePosition(longitude: number, latitude: number, at: number): void {
    for (const value of [longitude, latitude]) {
      if (Number.isFinite(value)) continue
      throw this.refusal(at, `stands ${value}, which is no coordinate`, { code: 'not-finite' })
    }
    if (Math.abs(longitude) > 180) {
      throw this.refusal(at, `longitude ${longitude} is outside -180..180`, {
        code: 'longitude-range',
        hint: 'longitudes are not wrapped: bring it into -180..180',
      })
    }
    if (Math.abs(latitude) > 90) {
      const hint = Math.abs(latitude) <= 180 ? 'the order is longitude, latitude' : 'latitudes end at the poles'
      throw this.refusal(at, `latitude ${latitude} is outside -90..90`, { code: 'latitude-range', hint })
    }
  }

  requireLine(count: number, at: number): void {
    if (count >= 2) return
    throw this.refusal(at, `a line has ${count} position; a line needs at least 2`, { code: 'too-few' })
  }

  requireRing(count: number, first: Position, last: Position, at: number): void {
    const isClosed = first[0] === last[0] && first[1] === last[1]
    if (isClosed && count >= 4) return
    const found = `a ring has ${count === 1 ? '1 position' : `${count} positions`}${isClosed ? '' : ' and is open'}`
    throw this.refusal(at, `${found}; a ring needs at least 4, the last equal to the first`, {
      code: isClosed ? 'too-few' : 'open-ring',
      ...(isClosed ? {} : { hint: `append ${first[0]} ${first[1]}` }),
    })
  }

  /** @param character white space, or invisible, that no notation knows */
  foreignSpace(character: string, at: number): ProblemError {
    const name = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
    return this.refusal(at, `stands ${name}, which is not white space of well-known text`, {
      code: 'not-wkt',
      hint: 'write spaces, tabs or line ends',
    })
  }

  mixedDimension(at: number, detail: string): ProblemError {
    return this.refusal(at, `${detail}; all positions of a geometry have the same`, {
      code: 'mixed-dimension',
      hint: 'separate positions by commas, and give all of them the same dimension, as ST_Force2D does',
    })
  }

  empty(at: number): ProblemError {
    return this.refusal(at, 'it is empty; empty geometries have no place', { code: 'empty-geometry' })
  }

  unknownType(name: string, at: number): ProblemError {
    return this.refusal(at, `stands ${name}, which is no geometry of GeoJSON`, {
      code: 'unknown-geometry-type',
      hint: 'curves and surfaces have to be made lines and polygons first, as ST_CurveToLine does',
    })
  }
}

const SMALLER = 'simplify it or split it over several requests'
