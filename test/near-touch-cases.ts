import type { Geometry, Position } from '../src/types/generated.ts'

/** Returns a generator of numbers in [0, 1) from a seed: Marsaglia's xorshift, 32 bits. */
export function seededNumbers(seed: number): () => number {
  let state = (seed * 2654435761 + 1) >>> 0 || 1
  const next = (): number => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 2 ** 32
  }
  for (let i = 0; i < 10; i++) next()
  return next
}

export const NEAR_TOUCH_SHAPES = [
  'line end on line',
  'point on edge',
  'line end on edge',
  'vertex on edge',
  'polygon touching a line',
  'line touching an edge',
  'shared collinear edges',
] as const
export type NearTouchShape = (typeof NEAR_TOUCH_SHAPES)[number]

/** Makes pairs that touch, almost touch, or miss each other by a unit in the last place. */
export class NearTouchCases {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = seededNumbers(seed)
  }

  /** @returns two geometries; polygons are simple unless they degenerate to a line */
  next(shape: NearTouchShape): readonly [Geometry, Geometry] {
    const position = this.#positions()
    switch (shape) {
      case 'line end on line': {
        const line = [position(), position(), position()]
        return [lineString(line), lineString([this.#near(line[0]!, line[1]!), position()])]
      }
      case 'point on edge': {
        const ring = this.#ring(position)
        return [polygon(ring), { type: 'Point', coordinates: this.#near(ring[0]!, ring[1]!) }]
      }
      case 'line end on edge': {
        const ring = this.#ring(position)
        const other = this.#random() < 0.5 ? position() : this.#between(ring[0]!, ring[2]!, 0.3)
        return [polygon(ring), lineString([this.#near(ring[0]!, ring[1]!), other])]
      }
      case 'vertex on edge': {
        const ring = this.#ring(position)
        const inside = this.#random() < 0.5
        const rest = inside
          ? [this.#between(ring[0]!, ring[2]!, 0.4), this.#between(ring[1]!, ring[2]!, 0.6)]
          : [position(), position()]
        return [polygon(ring), polygon(closed([this.#near(ring[0]!, ring[1]!), ...rest]))]
      }
      case 'polygon touching a line': {
        const line = [position(), position()]
        return [lineString(line), polygon(closed([this.#near(line[0]!, line[1]!), position(), position()]))]
      }
      case 'line touching an edge': {
        const ring = this.#ring(position)
        const inside = this.#random() < 0.5
        const ends = inside
          ? [this.#between(ring[0]!, ring[2]!, 0.4), this.#between(ring[1]!, ring[2]!, 0.6)]
          : [position(), position()]
        return [polygon(ring), lineString([ends[0]!, this.#near(ring[0]!, ring[1]!), ends[1]!])]
      }
      case 'shared collinear edges': {
        const ring = this.#ring(position)
        const p = this.#near(ring[0]!, ring[1]!)
        const q = this.#near(ring[0]!, ring[1]!)
        if (this.#random() < 0.5) return [polygon(ring), lineString([p, q])]
        const third = this.#random() < 0.5 ? position() : this.#between(p, ring[2]!, 0.5)
        return [polygon(ring), polygon(closed([p, q, third]))]
      }
    }
  }

  /** Makes the positions of one case: one decimal, integers, or full doubles on a scale from 1e-4 to 80 degrees. */
  #positions(): () => Position {
    const kind = this.#random()
    if (kind < 0.3) return () => [this.#tenth(5), this.#tenth(5)]
    if (kind < 0.5) return () => [Math.floor(this.#random() * 8), Math.floor(this.#random() * 8)]
    const scale = 10 ** (this.#random() * 5.9 - 4)
    const lon = scale > 1 ? 0 : this.#random() * 300 - 150
    const lat = scale > 1 ? 0 : this.#random() * 140 - 70
    return () => [lon + scale * (this.#random() - 0.5), lat + scale * (this.#random() - 0.5)]
  }

  #tenth(range: number): number {
    return Math.round(this.#random() * range * 10) / 10
  }

  /** Makes a simple triangle or quadrangle from its first three positions; a fourth lies between the third and the first. */
  #ring(position: () => Position): Position[] {
    const [a, b, c] = [position(), position(), position()]
    if (this.#random() < 0.5) return closed([a, b, c])
    // Beyond the side c–a, so that the quadrangle is simple.
    const middle = this.#between(c, a, 0.5)
    const out: Position = [middle[0] + 0.3 * (middle[0] - b[0]), middle[1] + 0.3 * (middle[1] - b[1])]
    return closed([a, b, c, out])
  }

  #between(a: Position, b: Position, t: number): Position {
    return [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]
  }

  /** Returns a position on the segment as exactly as doubles allow, at its end, or up to two units in the last place off it. */
  #near(a: Position, b: Position): Position {
    const kind = this.#random()
    if (kind < 0.1) return [a[0], a[1]]
    const on = this.#between(a, b, kind < 0.3 ? 0.5 : kind < 0.4 ? 0.25 : this.#random())
    if (kind < 0.8) return on
    return [nudged(on[0], Math.floor(this.#random() * 5) - 2), nudged(on[1], Math.floor(this.#random() * 5) - 2)]
  }
}

function nudged(value: number, units: number): number {
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(value) || 1)) - 52)
  return value + units * unit
}

function closed(ring: Position[]): Position[] {
  return [...ring, ring[0]!]
}

function lineString(coordinates: Position[]): Geometry {
  return { type: 'LineString', coordinates }
}

function polygon(ring: Position[]): Geometry {
  return { type: 'Polygon', coordinates: [ring] }
}
