import type { Geometry, Position } from '../src/types/generated.ts'

/** Random numbers in [0, 1). */
export type Random = () => number

export const SHAPE_TYPES = ['Point', 'MultiPoint', 'LineString', 'MultiLineString', 'Polygon', 'MultiPolygon'] as const
export type ShapeType = (typeof SHAPE_TYPES)[number]

/**
 * Makes geometries in the square [0, size]², on a grid of integers so that they often touch, or with full doubles so that they
 * almost never do. Polygons may be invalid; the caller skips those.
 */
export class RandomShapes {
  readonly #random: Random
  readonly #size: number
  readonly #isGrid: boolean

  constructor(random: Random, size: number, isGrid: boolean) {
    this.#random = random
    this.#size = size
    this.#isGrid = isGrid
  }

  next(type: ShapeType): Geometry {
    switch (type) {
      case 'Point':
        return { type, coordinates: this.position() }
      case 'MultiPoint':
        return { type, coordinates: this.#several(4, () => this.position()) }
      case 'LineString':
        return { type, coordinates: this.#line() }
      case 'MultiLineString':
        return { type, coordinates: this.#several(3, () => this.#line()) }
      case 'Polygon':
        return { type, coordinates: this.#rings() }
      case 'MultiPolygon':
        return { type, coordinates: this.#several(3, () => this.#rings()) }
    }
  }

  position(): Position {
    return this.#on([this.#random() * this.#size, this.#random() * this.#size])
  }

  #several<T>(most: number, make: () => T): T[] {
    return Array.from({ length: 1 + Math.floor(this.#random() * most) }, make)
  }

  #line(): Position[] {
    return [this.position(), ...this.#several(4, () => this.position())]
  }

  #rings(): Position[][] {
    const [x, y] = [this.#random() * this.#size, this.#random() * this.#size]
    const radius = (0.1 + 0.4 * this.#random()) * this.#size
    const rings = [this.#star(x, y, radius)]
    if (this.#random() < 0.4) rings.push(this.#star(x, y, radius * 0.5))
    if (this.#random() < 0.1) rings.push(this.#star(x + radius * 0.5, y, radius * 0.3))
    return rings
  }

  /** Makes a box in some cases, otherwise a ring around a center with vertices at random distances. */
  #star(x: number, y: number, radius: number): Position[] {
    if (this.#random() < 0.3) {
      const [w, h] = [radius * (0.3 + this.#random()), radius * (0.3 + this.#random())]
      const [a, b] = [this.#on([x - w, y - h]), this.#on([x + w, y + h])]
      return [a, [b[0], a[1]], b, [a[0], b[1]], a]
    }
    const count = 3 + Math.floor(this.#random() * 6)
    const angles = Array.from({ length: count }, () => this.#random() * 2 * Math.PI).sort((p, q) => p - q)
    const ring = angles.map((angle): Position => {
      const distance = radius * (0.4 + 0.6 * this.#random())
      return this.#on([x + distance * Math.cos(angle), y + distance * Math.sin(angle)])
    })
    return [...ring, ring[0]!]
  }

  #on([x, y]: [number, number]): Position {
    return this.#isGrid ? [Math.round(x), Math.round(y)] : [x, y]
  }
}
