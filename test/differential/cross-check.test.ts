import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { judge } from '../../src/cross-check/judge.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry } from '../../src/types/generated.ts'
import type { OperationName } from '../../src/wire/values.ts'
import { contactCases } from '../contact-cases.ts'
import { NEAR_TOUCH_SHAPES, NearTouchCases, seededNumbers } from '../near-touch-cases.ts'
import { RandomShapes, SHAPE_TYPES } from '../random-shapes.ts'
import { createSampler } from '../sampled-answers.ts'
import { scaled } from '../scale.ts'

const SEED = 5
const LIMITS = { maxVertices: 50_000, maxParts: 10_000 }
const poleOf = (): never => {
  throw new Error('no ring here winds around the axis')
}
const isValid = (geometry: Geometry) => findInvalidity(readGeometry(geometry, [], LIMITS), poleOf) === undefined
const PREDICATES = Object.values(OPERATIONS)
  .filter(({ result }) => result.kind === 'boolean')
  .map(({ name }) => name)
  .filter((name) => name !== 'within')

/** Counts the verdicts on answers that are correct. */
class Verdicts {
  readonly #sample = createSampler()
  readonly counts: Record<string, number> = { agreed: 0, disagreed: 0, undecided: 0, unchecked: 0 }
  readonly wrong: string[] = []

  add(operation: OperationName, inputs: readonly Geometry[], members: object = {}): void {
    const named = OPERATIONS[operation].inputs.map((name, index) => [name, inputs[index]])
    const { outcome, other } = judge(this.#sample(operation, { ...Object.fromEntries(named), ...members })!)
    this.counts[outcome]!++
    if (outcome === 'disagreed') this.wrong.push(`${operation} ${other}: ${inputs.map((x) => JSON.stringify(x))}`)
  }

  /** Prints the counts. @returns the inputs of disagreements */
  finish(name: string): readonly string[] {
    console.log(`${name}: ${JSON.stringify(this.counts)}`)
    return this.wrong
  }
}

describe('the second opinion on correct predicates', () => {
  it.each([
    ['with full doubles', 10, false],
    ['on a grid of 31 by 31', 30, true],
  ] as const)('disagrees with none for all pairs of types %s', (name, size, isGrid) => {
    const verdicts = new Verdicts()
    const random = seededNumbers(SEED)
    const shapes = new RandomShapes(random, size, isGrid)
    const next = (type: (typeof SHAPE_TYPES)[number]): Geometry => {
      for (;;) {
        const geometry = shapes.next(type)
        if (isValid(geometry)) return geometry
      }
    }
    for (const typeA of SHAPE_TYPES) {
      for (const typeB of SHAPE_TYPES) {
        for (let i = 0; i < scaled(30); i++)
          for (const operation of PREDICATES) verdicts.add(operation, [next(typeA), next(typeB)])
      }
    }
    expect(verdicts.finish(name)).toEqual([])
    expect(verdicts.counts['agreed']).toBeGreaterThan(isGrid ? 0 : scaled(10_000))
  })

  it('disagrees with none for pairs that touch in every way', () => {
    const verdicts = new Verdicts()
    let compared = 0
    for (let seed = SEED; compared < scaled(1000); seed++)
      for (const { a, b } of contactCases(seed)) {
        verdicts.add('relate', [a, b])
        compared++
      }
    expect(verdicts.finish('touching')).toEqual([])
  })

  it.each(NEAR_TOUCH_SHAPES)('disagrees with none for geometries that touch or nearly touch: %s', (shape) => {
    const verdicts = new Verdicts()
    const cases = new NearTouchCases(SEED)
    for (let compared = 0; compared < scaled(500); ) {
      const [a, b] = cases.next(shape)
      if (!isValid(a) || !isValid(b)) continue
      verdicts.add('relate', [a, b])
      compared++
    }
    expect(verdicts.finish(shape)).toEqual([])
  })
})

describe('the second opinion on correct measures', () => {
  const random = seededNumbers(SEED)
  const between = (low: number, high: number) => low + (high - low) * random()
  const position = (): [number, number] => [between(-180, 180), between(-90, 90)]

  it('disagrees with none for points anywhere', () => {
    const verdicts = new Verdicts()
    for (let i = 0; i < scaled(20_000); i++) {
      const [lon, lat] = position()
      const near: [number, number] = [lon + 10 ** between(-8, 0), Math.min(90, lat + 10 ** between(-8, 0))]
      const to = random() < 0.5 || near[0] > 180 ? position() : near
      const points = [
        { type: 'Point', coordinates: [lon, lat] },
        { type: 'Point', coordinates: to },
      ] as const
      verdicts.add('distance', points as unknown as Geometry[])
      verdicts.add('within', points as unknown as Geometry[], { radius: 10 ** between(-2, 7) })
    }
    expect(verdicts.finish('points')).toEqual([])
    expect(verdicts.counts['agreed']).toBeGreaterThan(scaled(39_000))
  })

  it('disagrees with none for lines anywhere', () => {
    const verdicts = new Verdicts()
    for (let i = 0; i < scaled(500); i++) {
      const [lon, lat] = position()
      const size = 10 ** between(-6, 1)
      const near = () => [
        Math.max(-180, Math.min(180, lon + size * between(-1, 1))),
        Math.max(-90, Math.min(90, lat + size * between(-1, 1))),
      ]
      const coordinates = Array.from({ length: 2 + Math.floor(between(0, 100)) }, random() < 0.3 ? position : near)
      verdicts.add('length', [{ type: 'LineString', coordinates } as unknown as Geometry])
    }
    expect(verdicts.finish('lines')).toEqual([])
    expect(verdicts.counts['agreed']).toBe(scaled(500))
  })

  it('disagrees with none for polygons of every size', () => {
    const verdicts = new Verdicts()
    for (let i = 0; i < scaled(1000); i++) {
      const radius = 10 ** between(-4, 1.6)
      const centre = [between(-180 + radius, 180 - radius), between(-89 + radius, 89 - radius)] as const
      const count = 3 + Math.floor(between(0, 60))
      const ring = (share: number) => {
        const open = Array.from({ length: count }, (_, index) => {
          const angle = (2 * Math.PI * index) / count
          return [centre[0] + share * radius * Math.cos(angle), centre[1] + share * radius * Math.sin(angle)]
        })
        return [...open, open[0]!]
      }
      // The edges of few long edges bulge, so a hole stays well inside.
      const coordinates = random() < 0.5 ? [ring(1)] : [ring(1), ring(0.2)]
      verdicts.add('area', [{ type: 'Polygon', coordinates } as unknown as Geometry])
    }
    expect(verdicts.finish('polygons')).toEqual([])
    expect(verdicts.counts['agreed']).toBe(scaled(1000))
  })
})
