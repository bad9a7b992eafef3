import { describe, expect, it } from 'vitest'
import { checkedBase64 } from '../../src/wasm/generated/checked.ts'
import { scalarBase64 } from '../../src/wasm/generated/scalar.ts'
import { simdBase64 } from '../../src/wasm/generated/simd.ts'
import { compileModule, instantiateKernel, type Kernel } from '../../src/wasm/loader.ts'
import { goldenBits } from '../../src/wasm/self-test.ts'
import { seededBetween } from '../random-geometry.ts'

const simd = instantiateKernel(compileModule(simdBase64))
const scalar = instantiateKernel(compileModule(scalarBase64))

const wrap = (lon: number) => (lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon)
const clamp = (lat: number) => Math.max(-90, Math.min(90, lat))

/** Step sizes in degrees, below and above each limit at which a kernel changes its method. */
const STEPS = [1e-7, 1e-4, 0.005, 0.0141, 0.0142, 0.02, 0.03, 0.088, 0.0885, 0.125, 0.2, 2, 60]
const STARTS = [
  [0, 0],
  [12, 47],
  [180, 3],
  [-179.99, -62],
  [77, 89.99],
  [-20, -89.9],
  [5, 29.99],
  [130, -30.05],
] as const

/** A closed random walk with the given number of edges. A `step` of NaN mixes all step sizes. */
function walk(random: (low: number, high: number) => number, edges: number, step: number): Float64Array {
  const [lon0, lat0]: readonly [number, number] = STARTS[Math.floor(random(0, STARTS.length))]!
  let lon = lon0
  let lat = lat0
  const ring: number[] = []
  for (let edge = 0; edge < edges; edge++) {
    ring.push(lon, lat)
    const size = Number.isNaN(step) ? STEPS[Math.floor(random(0, STEPS.length))]! : step
    lon = wrap(lon + random(-1, 1) * size)
    lat = clamp(lat + random(-1, 1) * size)
  }
  ring.push(ring[0]!, ring[1]!)
  return Float64Array.from(ring)
}

const resultBits = (kernel: Kernel, ring: Float64Array) => {
  kernel.release()
  const vertices = kernel.write(ring)
  const results = [kernel.ringArea(vertices, ring.length / 2), kernel.perimeter(), kernel.enclosedPole()]
  results.push(kernel.lineLength(vertices, ring.length / 2), kernel.lineLength(vertices, ring.length / 2 - 1))
  return Buffer.from(Float64Array.from(results).buffer).toString('hex')
}

describe('the builds of the kernel', () => {
  it('give the same golden bits, with and without SIMD, with and without assertions', () => {
    const golden = goldenBits(simd)
    expect(goldenBits(scalar)).toBe(golden)
    expect(goldenBits(instantiateKernel(compileModule(checkedBase64)))).toBe(golden)
  })

  it('give the same bits of areas and lengths for thousands of walks with short, long and mixed steps, anywhere', () => {
    const random = seededBetween(3)
    for (let index = 0; index < 6000; index++) {
      const step = index % 3 === 0 ? Number.NaN : STEPS[index % STEPS.length]!
      // Every number of edges from 3 to 9, and some rings that exceed the block size of the summation.
      const edges = index % 40 === 0 ? 100 + (index % 200) : 3 + (index % 7)
      const ring = walk(random, edges, step)
      expect(resultBits(simd, ring), `walk ${index}`).toBe(resultBits(scalar, ring))
    }
  })
})

describe('the length of a ring', () => {
  it('has the same bits when computed with the area and without', () => {
    const random = seededBetween(4)
    for (let index = 0; index < 2000; index++) {
      const ring = walk(random, 3 + (index % 300), index % 2 === 0 ? Number.NaN : STEPS[index % STEPS.length]!)
      simd.release()
      const vertices = simd.write(ring)
      simd.ringArea(vertices, ring.length / 2)
      const perimeter = simd.perimeter()
      expect(simd.lineLength(vertices, ring.length / 2)).toBe(perimeter)
    }
  })
})
