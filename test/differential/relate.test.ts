import { beforeAll, describe, expect, it } from 'vitest'
import { type Geos, loadGeos } from '../../bench/geos-wasm.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { relate } from '../../src/topology/relate.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { contactCases } from '../contact-cases.ts'
import { exactMatrix } from '../exact-matrix.ts'
import { gridMatrix, gridShapeOf } from '../grid-oracle.ts'
import { NEAR_TOUCH_SHAPES, NearTouchCases, seededNumbers } from '../near-touch-cases.ts'
import { RandomShapes, SHAPE_TYPES } from '../random-shapes.ts'
import { scaled } from '../scale.ts'

const SEED = 11
const LIMITS = { maxVertices: 50_000, maxParts: 10_000 }
const poleOf = (): never => {
  throw new Error('no ring here winds around the axis')
}
const read = (geometry: Geometry) => readGeometry(geometry, [], LIMITS)
const isValid = (geometry: Geometry) => findInvalidity(read(geometry), poleOf) === undefined

let geos: Geos
beforeAll(async () => {
  geos = await loadGeos()
})

/** Compares matrices with those of GEOS. Where they differ, exact fractions decide: GEOS may be wrong, Trigpoint may not. */
class Comparison {
  compared = 0
  geosWrong = 0
  geosThrew = 0
  readonly wrong: string[] = []

  add(a: Geometry, b: Geometry): void {
    this.compared++
    const actual = relate(read(a), read(b), poleOf).toString()
    const [first, second] = [geos.read(a), geos.read(b)]
    const other = geos.relate(first, second)
    geos.free(first)
    geos.free(second)
    if (other === actual) return
    const expected = exactMatrix(a, b)
    if (other === undefined) this.geosThrew++
    else if (other !== expected) this.geosWrong++
    if (actual !== expected) this.wrong.push(`${actual} is not ${expected}: ${JSON.stringify(a)} ${JSON.stringify(b)}`)
  }

  /** Prints the counts. @returns the pairs whose matrix is wrong */
  finish(name: string): readonly string[] {
    const { compared, geosWrong, geosThrew, wrong } = this
    console.log(
      `${name}: ${compared} matrices compared with GEOS ${geos.version}, GEOS wrong ${geosWrong}, GEOS threw ${geosThrew}, ours wrong ${wrong.length}`,
    )
    return wrong
  }
}

describe('matrices compared with GEOS', () => {
  it('are right for pairs that touch in every way, and for collections', () => {
    const comparison = new Comparison()
    for (let seed = SEED; comparison.compared < scaled(20_000); seed++) {
      for (const { a, b } of contactCases(seed)) comparison.add(a, b)
    }
    expect(comparison.finish('touching')).toEqual([])
  })

  it.each([
    ['on a grid of 31 by 31', 30, true],
    ['with full doubles', 10, false],
  ] as const)('are right for all pairs of types %s', (name, size, isGrid) => {
    const comparison = new Comparison()
    const shapes = new RandomShapes(seededNumbers(SEED), size, isGrid)
    const next = (type: (typeof SHAPE_TYPES)[number]): Geometry => {
      for (;;) {
        const geometry = shapes.next(type)
        if (isValid(geometry)) return geometry
      }
    }
    for (const typeA of SHAPE_TYPES) {
      for (const typeB of SHAPE_TYPES) for (let i = 0; i < scaled(300); i++) comparison.add(next(typeA), next(typeB))
    }
    expect(comparison.finish(name)).toEqual([])
  })

  it.each(NEAR_TOUCH_SHAPES)('are right for geometries that touch or nearly touch: %s', (shape) => {
    const comparison = new Comparison()
    const cases = new NearTouchCases(SEED + NEAR_TOUCH_SHAPES.indexOf(shape))
    while (comparison.compared < scaled(2000)) {
      const [a, b] = cases.next(shape)
      if (isValid(a) && isValid(b)) comparison.add(a, b)
    }
    expect(comparison.finish(shape)).toEqual([])
  })
})

describe('the oracle of exact fractions', () => {
  it('agrees with the oracle for grids', () => {
    for (let seed = 1; seed < 1 + scaled(50); seed++) {
      for (const { a, b } of contactCases(seed))
        expect(exactMatrix(a, b)).toBe(gridMatrix(gridShapeOf(a), gridShapeOf(b)))
    }
  })
})
