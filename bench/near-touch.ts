/** Counts wrong results of the contenders for geometries that touch or nearly touch. Expected results come from exact fractions. */
import { kernelPoleResolver } from '../src/compute/validity.ts'
import { readGeometry } from '../src/geometry/read.ts'
import { contains } from '../src/topology/contains.ts'
import { intersects } from '../src/topology/intersects.ts'
import { findInvalidity } from '../src/topology/validity.ts'
import type { Geometry, Position } from '../src/types/generated.ts'
import { oracleContains, oracleIntersects, shapeOf } from '../test/exact-oracle.ts'
import { jtsAnswer, jtsGeometry } from '../test/jts.ts'
import { NEAR_TOUCH_SHAPES, NearTouchCases } from '../test/near-touch-cases.ts'
import { readGeosFlag } from './geos-wasm.ts'
import { NATIVE_NAMES } from './native.ts'
import type { TopologyLibraries } from './predicate-rows.ts'
import { printCells, printHeader } from './tables.ts'
import { encodeWkb, encodeWkbPairs } from './wkb.ts'

const CASES_PER_SHAPE = 1000
const SEED = 1
const LIMITS = { maxVertices: 1000, maxParts: 10 }

/** SQL functions that return four results per pair, with 2 for an exception. */
const CREATE_FUNCTIONS = `CREATE FUNCTION evaluate_one(predicate int, a geometry, b geometry) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  RETURN (CASE predicate WHEN 1 THEN ST_Intersects(a, b) WHEN 2 THEN ST_Intersects(b, a)
    WHEN 3 THEN ST_Contains(a, b) ELSE ST_Contains(b, a) END)::int;
  EXCEPTION WHEN OTHERS THEN RETURN 2; END $$;
CREATE FUNCTION evaluate(a geometry, b geometry) RETURNS int[] LANGUAGE sql AS
  $$ SELECT ARRAY[evaluate_one(1, a, b), evaluate_one(2, a, b), evaluate_one(3, a, b), evaluate_one(4, a, b)] $$;`

/** Results of intersects(a, b), intersects(b, a), contains(a, b), contains(b, a); undefined for an exception. */
type Results = readonly (boolean | undefined)[]
interface Case {
  readonly a: Geometry
  readonly b: Geometry
  readonly expected: Results
}

export interface Wrong {
  readonly contender: string
  readonly wrong: number
  readonly threw: number
  readonly of: number
}

export function printWrongAnswers({ kernel, geos, native, postGis }: TopologyLibraries): Wrong[] {
  const pole = kernelPoleResolver(kernel)
  const cases = createCases()
  const results: [string, Results[]][] = [
    [
      'Trigpoint',
      cases.map(({ a, b }) => {
        const [p, q] = [readGeometry(a, [], LIMITS), readGeometry(b, [], LIMITS)]
        return [
          intersects(p, q, pole, kernel),
          intersects(q, p, pole, kernel),
          contains(p, q, pole, kernel),
          contains(q, p, pole, kernel),
        ]
      }),
    ],
    [
      'jsts',
      cases.map(({ a, b }) => {
        const [p, q] = [jtsGeometry(a), jtsGeometry(b)]
        const predicates = [() => p.intersects(q), () => q.intersects(p), () => p.contains(q), () => q.contains(p)]
        return predicates.map(jtsAnswer)
      }),
    ],
    [
      'geos-wasm',
      cases.map(({ a, b }) => {
        const [p, q] = [geos.read(a), geos.read(b)]
        return [geos.intersects(p, q), geos.intersects(q, p), geos.contains(p, q), geos.contains(q, p)]
      }),
    ],
  ]
  const input = native.input('near-touch', encodeWkbPairs(cases.map(({ a, b }) => [a, b])))
  const flags = native.results('geos', input)
  if (flags !== undefined) {
    results.push([
      NATIVE_NAMES.geos,
      cases.map((_, index) => Array.from(flags.subarray(4 * index, 4 * index + 4), readGeosFlag)),
    ])
  }
  if (postGis !== undefined) {
    postGis.load(
      'near_touch',
      ['geometry', 'geometry'],
      cases.map(({ a, b }) => [encodeWkb(a), encodeWkb(b)]),
    )
    const flags = postGis.numbers(`${CREATE_FUNCTIONS} SELECT unnest(evaluate(a, b)) FROM near_touch`)
    results.push(['PostGIS', cases.map((_, index) => flags.slice(4 * index, 4 * index + 4).map(readGeosFlag))])
  }
  console.log(`\n### Wrong answers about ${cases.length} pairs that touch or nearly touch (four predicates each)\n`)
  printHeader(['contender', 'wrong', 'threw', 'of'])
  return results.map(([contender, resultsByCase]) => {
    let wrong = 0
    let threw = 0
    cases.forEach(({ expected }, index) => {
      expected.forEach((expectedResult, predicate) => {
        const result = resultsByCase[index]![predicate]
        if (result === undefined) threw++
        else if (result !== expectedResult) wrong++
      })
    })
    const of = 4 * cases.length
    printCells([contender, String(wrong), String(threw), String(of)])
    return { contender, wrong, threw, of }
  })
}

/** Creates the valid cases only, because predicates are not defined for invalid geometries. */
export function createCases(): Case[] {
  return NEAR_TOUCH_SHAPES.flatMap((shape, index) => {
    const source = new NearTouchCases(SEED + index)
    const cases: Case[] = []
    for (let attempt = 0; attempt < CASES_PER_SHAPE; attempt++) {
      const [a, b] = source.next(shape)
      if ([a, b].some((geometry) => findInvalidity(readGeometry(geometry, [], LIMITS), noPole) !== undefined)) continue
      if ([a, b].some(isPointLike)) continue
      const [p, q] = [shapeOf(a), shapeOf(b)]
      const isIntersecting = oracleIntersects(p, q)
      cases.push({
        a,
        b,
        expected: [
          isIntersecting,
          isIntersecting,
          isIntersecting && oracleContains(p, q),
          isIntersecting && oracleContains(q, p),
        ],
      })
    }
    return cases
  })
}

/** Whether a geometry is a line of length zero, which OGC does not allow. */
function isPointLike(geometry: Geometry): boolean {
  if (geometry.type !== 'LineString') return false
  const [[lon, lat]] = geometry.coordinates as [Position]
  return geometry.coordinates.every((position) => position[0] === lon && position[1] === lat)
}

function noPole(): never {
  throw new Error('no ring here winds around the axis')
}
