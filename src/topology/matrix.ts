/** The matrix of the dimensionally extended nine-intersection model (DE-9IM), and the predicates that it decides. */

import type { MatrixPredicate } from '../wire/values.ts'

/** Location in a geometry, as row or column of a matrix. */
export const INTERIOR = 0
export const BOUNDARY = 1
export const EXTERIOR = 2
export type Place = typeof INTERIOR | typeof BOUNDARY | typeof EXTERIOR

/** Dimension of an intersection; EMPTY when there is none. */
export const EMPTY = -1
export type IntersectionDimension = typeof EMPTY | 0 | 1 | 2

const [ANY_DIMENSION, NONE, EITHER, ZERO] = [...'TF*0'].map((character) => character.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
]

const NOWHERE = Int8Array.of(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, 2)

/** The dimensions of the nine intersections of two geometries. Entries only grow while an arrangement is visited. */
export class Matrix {
  readonly #entries: Int8Array

  /** @param entries by rows, each of {@link IntersectionDimension}; absent: empty except for the two exteriors, which always meet */
  constructor(entries?: Int8Array) {
    this.#entries = entries ?? NOWHERE.slice()
  }

  /** Records that the two locations meet in a set of this dimension. */
  record(inA: Place, inB: Place, dimension: IntersectionDimension): void {
    const index = 3 * inA + inB
    if (this.#entries[index]! < dimension) this.#entries[index] = dimension
  }

  get(inA: Place, inB: Place): IntersectionDimension {
    return this.#entries[3 * inA + inB] as IntersectionDimension
  }

  /** Takes over the greater of both entries everywhere. */
  unite(other: Matrix): void {
    for (let i = 0; i < 9; i++) if (this.#entries[i]! < other.#entries[i]!) this.#entries[i] = other.#entries[i]!
  }

  /** Returns the matrix of the same geometries in the other order. */
  transposed(): Matrix {
    return new Matrix(this.#entries.map((_, i, entries) => entries[3 * (i % 3) + Math.floor(i / 3)]!))
  }

  /** Returns the nine entries as text by rows, e.g. `212101212`. */
  toString(): string {
    let text = ''
    for (const entry of this.#entries) text += entry < 0 ? 'F' : entry
    return text
  }

  /** Tells whether every entry is as the pattern says: `T` is any dimension, `F` none, `*` either. */
  matches(pattern: string): boolean {
    for (let i = 0; i < 9; i++) {
      const wanted = pattern.charCodeAt(i)
      const entry = this.#entries[i]!
      const isMatch = wanted === ANY_DIMENSION ? entry >= 0 : wanted === NONE ? entry < 0 : entry === wanted - ZERO
      if (wanted !== EITHER && !isMatch) return false
    }
    return true
  }

  /**
   * Decides a predicate. `crosses` and `overlaps` depend on the dimensions of the geometries, which are those of their interiors.
   *
   * @see OGC 06-103r4, 6.1.15.3; JTS RelateNG: two empty geometries are equal, although no pattern of OGC says so
   */
  decides(predicate: MatrixPredicate): boolean {
    switch (predicate) {
      case 'equals':
        return this.matches('T*F**FFF*') || this.matches('FFFFFFFF*')
      case 'disjoint':
        return this.matches('FF*FF****')
      case 'touches':
        return this.matches('FT*******') || this.matches('F**T*****') || this.matches('F***T****')
      case 'covers':
        return ['T*****FF*', '*T****FF*', '***T**FF*', '****T*FF*'].some((pattern) => this.matches(pattern))
      case 'coveredBy':
        return ['T*F**F***', '*TF**F***', '**FT*F***', '**F*TF***'].some((pattern) => this.matches(pattern))
      case 'crosses':
        return this.#crosses()
      case 'overlaps':
        return this.#overlaps()
    }
  }

  #crosses(): boolean {
    const [a, b] = this.#dimensions()
    if (a < b) return this.matches('T*T******')
    if (a > b) return this.matches('T*****T**')
    return a === 1 && this.matches('0********')
  }

  #overlaps(): boolean {
    const [a, b] = this.#dimensions()
    return a === b && this.matches(a === 1 ? '1*T***T**' : 'T*T***T**')
  }

  /** The dimensions of both geometries: of a point to 2, of an empty geometry −1. */
  #dimensions(): readonly [number, number] {
    const entries = this.#entries
    return [Math.max(entries[0]!, entries[1]!, entries[2]!), Math.max(entries[0]!, entries[3]!, entries[6]!)]
  }
}
