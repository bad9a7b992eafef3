import { expect, it } from 'vitest'
import { computeBounds } from '../../src/geometry/bounds.ts'
import { createPoleResolver, enclosedPole } from '../../src/geometry/pole-resolver.ts'
import type { Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { scaled } from '../scale.ts'
import fc from '../seeded.ts'

const kernel = loadKernel()
const resolvePole = createPoleResolver()

/** Often near the equator, where both sides of a ring are about equally large. */
const latitudes = fc.oneof(
  { weight: 3, arbitrary: fc.double({ min: -15, max: 15, noNaN: true }) },
  { weight: 3, arbitrary: fc.double({ min: -89.9, max: 89.9, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 5, -5, 60, -60) },
)

/** Relative steps of longitude, some of them backwards, and a latitude for each. */
const steps = fc.array(fc.tuple(fc.integer({ min: -20, max: 100 }), latitudes), { minLength: 4, maxLength: 12 })

interface RingOptions {
  readonly isWestward: boolean
  /** Whether the ring has both names of the antimeridian where it crosses it. */
  readonly hasAntimeridianVertices: boolean
  /** A vertex at this pole, as a spike; 0 for none. */
  readonly pole: -1 | 0 | 1
}

/** Makes a closed ring that winds around the axis once; undefined if a step would be longer than 180°. */
function ringAroundAxis(
  path: readonly (readonly [number, number])[],
  { isWestward, hasAntimeridianVertices, pole }: RingOptions,
): Position[] | undefined {
  const total = path.reduce((sum, [step]) => sum + step, 0)
  const scale = 360 / total
  if (total <= 0 || path.some(([step]) => Math.abs(step * scale) >= 179)) return undefined
  const open: Position[] = []
  let longitude = -179
  for (const [index, [step, latitude]] of path.entries()) {
    const wrapped = ((((longitude + 180) % 360) + 360) % 360) - 180
    const previous = open.at(-1)
    if (hasAntimeridianVertices && previous !== undefined && Math.abs(wrapped - previous[0]) > 180) {
      const east = previous[0] > 0 ? 180 : -180
      open.push([east, latitude], [-east, latitude])
    }
    open.push([wrapped, latitude])
    if (index === 0 && pole !== 0) open.push([wrapped, 90 * pole], [wrapped, latitude])
    longitude += step * scale
  }
  if (isWestward) open.reverse()
  return [...open, open[0]!]
}

it('the box of a ring around the axis spans all longitudes, and the latitudes from the ring to the enclosed pole', () => {
  let [north, south, nearlyHalf] = [0, 0, 0]
  fc.assert(
    fc.property(
      steps,
      fc.record({
        isWestward: fc.boolean(),
        hasAntimeridianVertices: fc.boolean(),
        pole: fc.constantFrom<-1 | 0 | 1>(0, 0, 0, 1, -1),
      }),
      (path, options) => {
        const ring = ringAroundAxis(path, options)
        fc.pre(ring !== undefined)
        const pole = enclosedPole(kernel, Float64Array.from(ring!.flat()))
        expect(pole).not.toBe(0)
        const latitudesOfRing = ring!.map(([, latitude]) => latitude!)
        const [lowest, highest] = [Math.min(...latitudesOfRing), Math.max(...latitudesOfRing)]
        const expected = pole === 1 ? [-180, lowest, 180, 90] : [-180, -90, 180, highest]
        expect(computeBounds({ type: 'Polygon', coordinates: [ring!] }, resolvePole)).toEqual(expected)
        if (pole === 1) north++
        else south++
        if (options.pole === 0 && lowest < 0 && highest > 0) nearlyHalf++
      },
    ),
    { numRuns: scaled(3000) },
  )
  // All cases that matter are among the rings.
  expect(Math.min(north, south, nearlyHalf)).toBeGreaterThan(scaled(3000) / 20)
})
