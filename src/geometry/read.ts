import { problemAt } from '../base/problem.ts'
import type { Geometry, Position } from '../types/generated.ts'
import type { Dimension, ElementType, FlatGeometry } from './flat.ts'

/** Sizes beyond which a geometry is rejected; from `config.limits`. */
export interface GeometryLimits {
  readonly maxVertices: number
  /** Rings, lines and points together. */
  readonly maxParts: number
}

type Path = readonly (string | number)[]

/**
 * Converts GeoJSON to flat arrays. Checks what a JSON Schema cannot express: closed rings and limits.
 *
 * @param geometry shape, counts and ranges already checked against `geometry.schema.json`
 * @param path of the geometry in the request, for messages
 * @param openRings if given, open rings are closed, and their sequences are added to it
 * @throws {ProblemError} `invalid-input` for an open ring or a geometry over the limits
 */
export function readGeometry(
  geometry: Geometry,
  path: Path,
  limits: GeometryLimits,
  openRings?: Set<number>,
): FlatGeometry {
  const builder = new Builder(path, limits, openRings)
  builder.add(geometry, [])
  return builder.finish(geometry.type)
}

class Builder {
  readonly #path: Path
  readonly #limits: GeometryLimits
  readonly #openRings: Set<number> | undefined
  #vertices = new Float64Array(64)
  #count = 0
  #sequenceStarts: number[] = [0]
  #partStarts: number[] = [0]
  #partDimensions: number[] = []
  #elementStarts: number[] = [0]
  #elementTypes: ElementType[] = []
  #elementPaths: Path[] = []

  constructor(path: Path, limits: GeometryLimits, openRings: Set<number> | undefined) {
    this.#path = path
    this.#limits = limits
    this.#openRings = openRings
  }

  add(geometry: Geometry, subpath: Path): void {
    // Only some operations get here with an empty geometry. It is an element without parts.
    const isEmpty = geometry.type !== 'GeometryCollection' && (geometry.coordinates as readonly unknown[]).length === 0
    if (!isEmpty) this.#addParts(geometry, subpath)
    if (geometry.type === 'GeometryCollection') return
    this.#elementStarts.push(this.#partDimensions.length)
    this.#elementTypes.push(geometry.type)
    this.#elementPaths.push(subpath)
  }

  #addParts(geometry: Geometry, subpath: Path): void {
    switch (geometry.type) {
      case 'Point':
        this.#addPart(0, [[geometry.coordinates]], [...subpath, 'coordinates'])
        break
      case 'MultiPoint':
        for (const position of geometry.coordinates) this.#addPart(0, [[position]], [...subpath, 'coordinates'])
        break
      case 'LineString':
        this.#addPart(1, [geometry.coordinates], [...subpath, 'coordinates'])
        break
      case 'MultiLineString':
        for (const line of geometry.coordinates) this.#addPart(1, [line], [...subpath, 'coordinates'])
        break
      case 'Polygon':
        this.#addPart(2, geometry.coordinates, [...subpath, 'coordinates'])
        break
      case 'MultiPolygon':
        geometry.coordinates.forEach((rings, index) => {
          this.#addPart(2, rings, [...subpath, 'coordinates', index])
        })
        break
      case 'GeometryCollection':
        geometry.geometries.forEach((member, index) => {
          this.add(member, [...subpath, 'geometries', index])
        })
        break
    }
  }

  finish(type: Geometry['type']): FlatGeometry {
    return {
      type,
      vertices: this.#vertices.slice(0, 2 * this.#count),
      sequenceStarts: Uint32Array.from(this.#sequenceStarts),
      partStarts: Uint32Array.from(this.#partStarts),
      partDimensions: Uint8Array.from(this.#partDimensions),
      elementStarts: Uint32Array.from(this.#elementStarts),
      elementTypes: this.#elementTypes,
      elementPaths: this.#elementPaths,
    }
  }

  #addPart(dimension: Dimension, sequences: readonly (readonly Position[])[], subpath: Path): void {
    sequences.forEach((received, index) => {
      const positions = dimension === 2 ? this.#toClosed(received, [...subpath, index]) : received
      this.#reserve(positions.length)
      for (const position of positions) {
        // + 0 turns −0 into 0, as the canonical text of the number does.
        this.#vertices[2 * this.#count] = position[0] + 0
        this.#vertices[2 * this.#count + 1] = position[1] + 0
        this.#count++
      }
      this.#sequenceStarts.push(this.#count)
    })
    this.#partDimensions.push(dimension)
    this.#partStarts.push(this.#sequenceStarts.length - 1)
    if (this.#sequenceStarts.length - 1 > this.#limits.maxParts) {
      throw problemAt('invalid-input', this.#path, `has more than ${this.#limits.maxParts} rings, lines and points`, {
        code: 'too-many-parts',
        hint: 'simplify it or split it over several requests',
      })
    }
  }

  #toClosed(ring: readonly Position[], subpath: Path): readonly Position[] {
    const first = ring[0]!
    const last = ring[ring.length - 1]!
    if (first[0] === last[0] && first[1] === last[1]) return ring
    if (this.#openRings !== undefined) {
      this.#openRings.add(this.#sequenceStarts.length - 1)
      return [...ring, first]
    }
    throw problemAt('invalid-input', [...this.#path, ...subpath], `ring has ${ring.length} positions and is open`, {
      code: 'open-ring',
      hint: `a ring needs at least 4 positions, the last equal to the first: append [${first[0]}, ${first[1]}], or let POST /compute/v0/repair do it`,
    })
  }

  #reserve(count: number): void {
    const needed = this.#count + count
    if (needed > this.#limits.maxVertices) {
      throw problemAt('invalid-input', this.#path, `has more than ${this.#limits.maxVertices} vertices`, {
        code: 'too-many-vertices',
        hint: 'simplify it or split it over several requests',
      })
    }
    if (2 * needed <= this.#vertices.length) return
    const grown = new Float64Array(Math.max(2 * needed, 2 * this.#vertices.length))
    grown.set(this.#vertices)
    this.#vertices = grown
  }
}
