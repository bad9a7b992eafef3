/** How often the contenders are wrong about geometries that touch or all but touch: exact fractions are the judge. */
import { poleOf } from '../src/compute/validity.ts'
import { readGeometry } from '../src/geometry/read.ts'
import { contains } from '../src/topology/contains.ts'
import { intersects } from '../src/topology/intersects.ts'
import { findInvalidity } from '../src/topology/validity.ts'
import type { Geometry, Position } from '../src/types/generated.ts'
import { oracleContains, oracleIntersects, shapeOf } from '../test/exact-oracle.ts'
import { jtsAnswer, jtsGeometry } from '../test/jts.ts'
import { NEAR_TOUCH_SHAPES, NearTouchCases } from '../test/near-touch-cases.ts'
import { answerOf } from './geos-wasm.ts'
import { NATIVE_NAMES } from './native.ts'
import type { TopologyAnchors } from './predicate-rows.ts'
import { printCells, printHeader } from './tables.ts'
import { wkb, wkbPairs } from './wkb.ts'

const CASES_A_SHAPE = 1000
const SEED = 1
const LIMITS = { maxVertices: 1000, maxParts: 10 }

/** Four answers, 2 for an exception. */
const ASK = `CREATE FUNCTION ask_one(question int, a geometry, b geometry) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  RETURN (CASE question WHEN 1 THEN ST_Intersects(a, b) WHEN 2 THEN ST_Intersects(b, a)
    WHEN 3 THEN ST_Contains(a, b) ELSE ST_Contains(b, a) END)::int;
  EXCEPTION WHEN OTHERS THEN RETURN 2; END $$;
CREATE FUNCTION ask(a geometry, b geometry) RETURNS int[] LANGUAGE sql AS
  $$ SELECT ARRAY[ask_one(1, a, b), ask_one(2, a, b), ask_one(3, a, b), ask_one(4, a, b)] $$;`

/** Answers of intersects(a, b), intersects(b, a), contains(a, b), contains(b, a); undefined for an exception. */
type Answers = readonly (boolean | undefined)[]
interface Case {
  readonly a: Geometry
  readonly b: Geometry
  readonly truth: Answers
}

export interface Wrong {
  readonly contender: string
  readonly wrong: number
  readonly threw: number
  readonly of: number
}

export function printWrongAnswers({ kernel, geos, native, postGis }: TopologyAnchors): Wrong[] {
  const pole = poleOf(kernel)
  const cases = createCases()
  const results: [string, Answers[]][] = [
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
        const questions = [() => p.intersects(q), () => q.intersects(p), () => p.contains(q), () => q.contains(p)]
        return questions.map(jtsAnswer)
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
  const input = native.input('near-touch', wkbPairs(cases.map(({ a, b }) => [a, b])))
  const flags = native.results('geos', input)
  if (flags !== undefined) {
    results.push([
      NATIVE_NAMES.geos,
      cases.map((_, index) => Array.from(flags.subarray(4 * index, 4 * index + 4), answerOf)),
    ])
  }
  if (postGis !== undefined) {
    postGis.load(
      'near_touch',
      ['geometry', 'geometry'],
      cases.map(({ a, b }) => [wkb(a), wkb(b)]),
    )
    const flags = postGis.numbers(`${ASK} SELECT unnest(ask(a, b)) FROM near_touch`)
    results.push(['PostGIS', cases.map((_, index) => flags.slice(4 * index, 4 * index + 4).map(answerOf))])
  }
  console.log(`\n### Wrong answers about ${cases.length} pairs that touch or all but touch (four questions each)\n`)
  printHeader(['contender', 'wrong', 'threw', 'of'])
  return results.map(([contender, answers]) => {
    let wrong = 0
    let threw = 0
    cases.forEach(({ truth }, index) => {
      truth.forEach((right, question) => {
        const answer = answers[index]![question]
        if (answer === undefined) threw++
        else if (answer !== right) wrong++
      })
    })
    const of = 4 * cases.length
    printCells([contender, String(wrong), String(threw), String(of)])
    return { contender, wrong, threw, of }
  })
}

/** Valid ones alone: about the others nobody has promised anything. */
function createCases(): Case[] {
  return NEAR_TOUCH_SHAPES.flatMap((shape, index) => {
    const source = new NearTouchCases(SEED + index)
    const cases: Case[] = []
    for (let tried = 0; tried < CASES_A_SHAPE; tried++) {
      const [a, b] = source.next(shape)
      if ([a, b].some((each) => findInvalidity(readGeometry(each, [], LIMITS), noPole) !== undefined)) continue
      if ([a, b].some(isPointLike)) continue
      const [p, q] = [shapeOf(a), shapeOf(b)]
      const meet = oracleIntersects(p, q)
      cases.push({ a, b, truth: [meet, meet, meet && oracleContains(p, q), meet && oracleContains(q, p)] })
    }
    return cases
  })
}

/** A line of no length, which OGC does not allow. */
function isPointLike(geometry: Geometry): boolean {
  if (geometry.type !== 'LineString') return false
  const [[lon, lat]] = geometry.coordinates as [Position]
  return geometry.coordinates.every((position) => position[0] === lon && position[1] === lat)
}

function noPole(): never {
  throw new Error('no ring here winds around the axis')
}
