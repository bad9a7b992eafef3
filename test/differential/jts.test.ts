import { describe, expect, it } from 'vitest'
import { readGeometry } from '../../src/geometry/read.ts'
import { contains } from '../../src/topology/contains.ts'
import { intersects } from '../../src/topology/intersects.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { oracleContains, oracleIntersects, shapeOf } from '../exact-oracle.ts'
import { jtsAnswer, jtsGeometry, jtsIsValid } from '../jts.ts'
import { seededNumbers } from '../near-touch-cases.ts'
import { RandomShapes, SHAPE_TYPES, type ShapeType } from '../random-shapes.ts'
import { scaled } from '../scale.ts'

const SEED = 11
const PAIRS_PER_TYPES = scaled(120)
const LIMITS = { maxVertices: 50_000, maxParts: 10_000 }
const poleOf = (): never => {
  throw new Error('no ring here winds around the axis')
}
const read = (geometry: Geometry) => readGeometry(geometry, [], LIMITS)

/** Compares the predicates with JTS. Where they differ the exact oracle decides: JTS may be wrong, Trigpoint may not. */
class Comparison {
  compared = 0
  jtsWrong = 0
  jtsThrew = 0
  readonly wrong: string[] = []

  record(pair: string, actual: boolean, jts: boolean | undefined, oracle: () => boolean): void {
    this.compared++
    if (jts === actual) return
    const expected = oracle()
    if (jts === undefined) this.jtsThrew++
    else if (jts !== expected) this.jtsWrong++
    if (actual !== expected) this.wrong.push(pair)
  }

  print(name: string): void {
    console.log(
      `${name}: ${this.compared} compared (seed ${SEED}), JTS wrong ${this.jtsWrong}, JTS threw ${this.jtsThrew}, ` +
        `ours wrong ${this.wrong.length}`,
    )
  }
}

function validShape(shapes: RandomShapes, type: ShapeType): Geometry {
  for (;;) {
    const geometry = shapes.next(type)
    if (findInvalidity(read(geometry), poleOf) === undefined) return geometry
  }
}

/** Three slanted strips side by side, which share edges, overlap or leave gaps. */
function strips(random: () => number, isGrid: boolean): Geometry[] {
  const snap = (value: number): number => (isGrid ? Math.round(value) : value)
  let [low, high] = [-3, -3]
  return Array.from({ length: 3 }, (): Geometry => {
    const [nextLow, nextHigh] = [low + snap(3 + 3 * random()), high + snap(3 + 3 * random())]
    const [a, b, c, d]: [number, number][] = [
      [low, -4],
      [nextLow, -4],
      [nextHigh, 12],
      [high, 12],
    ]
    const gap = random() < 0.7 ? 0 : 0.5 - random()
    ;[low, high] = [nextLow + snap(2 * gap), nextHigh + gap]
    return { type: 'Polygon', coordinates: [[a!, b!, c!, d!, a!]] }
  })
}

describe('predicates compared with JTS', () => {
  // Expected values: jsts 2.12.1, and exact fractions (test/exact-oracle.ts) where jsts differs from the result.
  const random = seededNumbers(SEED)
  const sets = [
    ['on a grid of 9 by 9', new RandomShapes(random, 8, true)],
    ['on a grid of 31 by 31', new RandomShapes(random, 30, true)],
    ['with full doubles', new RandomShapes(random, 10, false)],
  ] as const

  it.each(sets)('are right for all pairs of types %s', (name, shapes) => {
    const intersectsResults = new Comparison()
    const containsResults = new Comparison()
    for (const typeA of SHAPE_TYPES) {
      for (const typeB of SHAPE_TYPES) {
        for (let i = 0; i < PAIRS_PER_TYPES; i++) {
          const a = validShape(shapes, typeA)
          const b = validShape(shapes, typeB)
          const [shapeA, shapeB, flatA, flatB] = [shapeOf(a), shapeOf(b), read(a), read(b)]
          const pair = `${JSON.stringify(a)} ${JSON.stringify(b)}`
          const jtsPredicate = (predicate: 'contains' | 'intersects') =>
            jtsAnswer(() => jtsGeometry(a)[predicate](jtsGeometry(b)))
          intersectsResults.record(pair, intersects(flatA, flatB, poleOf), jtsPredicate('intersects'), () =>
            oracleIntersects(shapeA, shapeB),
          )
          containsResults.record(pair, contains(flatA, flatB, poleOf), jtsPredicate('contains'), () =>
            oracleContains(shapeA, shapeB),
          )
        }
      }
    }
    intersectsResults.print(`intersects ${name}`)
    containsResults.print(`contains ${name}`)
    expect([...intersectsResults.wrong, ...containsResults.wrong].slice(0, 3)).toEqual([])
  })

  it('are right for collections whose polygons contain another polygon only together', () => {
    const random = seededNumbers(SEED + 1)
    const shapes = new RandomShapes(random, 8, true)
    const counts = { byUnionOnly: 0, others: 0 }
    const wrong: string[] = []
    const size = scaled(3000)
    for (let i = 0; i < size; i++) {
      const geometries =
        i % 3 === 0 ? Array.from({ length: 4 }, () => validShape(shapes, 'Polygon')) : strips(random, i % 3 === 1)
      const a: Geometry = { type: 'GeometryCollection', geometries: geometries as [Geometry, ...Geometry[]] }
      const b = validShape(shapes, 'Polygon')
      const expected = oracleContains(shapeOf(a), shapeOf(b))
      if (contains(read(a), read(b), poleOf) !== expected)
        wrong.push(`${JSON.stringify(a)} ${JSON.stringify(b)} ${expected}`)
      if (intersects(read(a), read(b), poleOf) !== oracleIntersects(shapeOf(a), shapeOf(b))) wrong.push('intersects')
      const isInSinglePolygon = geometries.some((polygon) => contains(read(polygon), read(b), poleOf))
      if (expected && !isInSinglePolygon) counts.byUnionOnly++
      else counts.others++
    }
    console.log(
      `collections (seed ${SEED + 1}): ${counts.byUnionOnly} contained only by the union, ${counts.others} others, ${wrong.length} wrong`,
    )
    expect(wrong.slice(0, 3)).toEqual([])
    expect(counts.byUnionOnly).toBeGreaterThan(size / 10)
  })
})

describe('validity compared with JTS', () => {
  it('finds the same polygons valid', () => {
    // Expected values: IsValidOp of jsts 2.12.1.
    let valid = 0
    const different: string[] = []
    const size = scaled(6000)
    for (let i = 0; i < size; i++) {
      const shapes = new RandomShapes(seededNumbers(SEED + 100 + i), i % 3 === 0 ? 6 : i % 3 === 1 ? 20 : 9, i % 3 < 2)
      const geometry = shapes.next(i % 2 === 0 ? 'Polygon' : 'MultiPolygon')
      const reason = findInvalidity(read(geometry), poleOf)
      const jts = jtsIsValid(jtsGeometry(geometry))
      if (jts) valid++
      if (jts !== (reason === undefined)) different.push(`${JSON.stringify(geometry)} ${JSON.stringify(reason)}`)
    }
    console.log(`validity: ${size} compared (seeds ${SEED + 100}…), ${valid} valid, ${different.length} different`)
    expect(different.slice(0, 3)).toEqual([])
    expect(valid).toBeGreaterThan(size / 5)
  })
})
