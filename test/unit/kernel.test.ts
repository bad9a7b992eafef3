import { describe, expect, it } from 'vitest'
import { type Kernel, loadKernel } from '../../src/wasm/loader.ts'
import { goldenBits, selfTestKernel } from '../../src/wasm/self-test.ts'

/** Returns a kernel with replaced functions, as a broken machine or build would have. */
function breakKernel(change: Partial<Kernel>): Kernel {
  return { ...loadKernel(), ...change }
}

describe('the self-test of the kernel', () => {
  it('passes on the kernel as built', () => {
    expect(() => selfTestKernel(loadKernel())).not.toThrow()
  })

  it('names the vector whose length is off by more than 0.1 µm', () => {
    const { inverse } = loadKernel()
    const longer = breakKernel({ inverse: (...line) => inverse(...line) * (1 + 1e-13) })
    expect(() => selfTestKernel(longer)).toThrow('the geodesic kernel failed its self-test: a line that is random')
  })

  it('fails on NaN, which is neither larger nor smaller than a tolerance', () => {
    expect(() => selfTestKernel(breakKernel({ inverse: () => Number.NaN }))).toThrow('self-test: a line')
    expect(() => selfTestKernel(breakKernel({ ringArea: () => Number.NaN }))).toThrow(
      'self-test: the area of an octant',
    )
  })

  it('fails when only one direction of a line is right', () => {
    const { inverse } = loadKernel()
    const wrongBack = breakKernel({
      inverse: (lat1, lon1, lat2, lon2) => inverse(lat1, lon1, lat2, lon2) + (lon2 < lon1 ? 1 : 0),
    })
    expect(() => selfTestKernel(wrongBack)).toThrow('the reverse of a line that is random')
  })

  it('fails on the last bit of any result', () => {
    const { m12 } = loadKernel()
    const { S12 } = loadKernel()
    expect(() => selfTestKernel(breakKernel({ S12 }))).toThrow('bit-equal results')
    expect(() => selfTestKernel(breakKernel({ m12 }))).toThrow('bit-equal results')
    const kernel = loadKernel()
    const lineLength = (vertices: number, count: number) => kernel.lineLength(vertices, count) * (1 + 2 ** -52)
    expect(() => selfTestKernel({ ...kernel, lineLength })).toThrow('bit-equal results')
  })
})

describe('the results of the kernel', () => {
  it('are the same bits in every instance, whatever was computed before', () => {
    const freshBits = goldenBits(loadKernel())
    const usedKernel = loadKernel()
    usedKernel.inverse(0, 0, 0.5, 179.7)
    usedKernel.direct(45, 3, 0.6, 0.8, 1e7)
    usedKernel.ringArea(usedKernel.write(Float64Array.of(0, 0, 10, 0, 10, 10, 0, 0)), 4)
    expect(goldenBits(usedKernel)).toBe(freshBits)
    expect(goldenBits(usedKernel)).toBe(freshBits)
  })

  it('are the same bits before and after the memory grows', () => {
    const kernel = loadKernel()
    const before = goldenBits(kernel)
    const bytes = kernel.memory.buffer.byteLength
    kernel.write(new Float64Array(1 << 20))
    expect(kernel.memory.buffer.byteLength).toBeGreaterThan(bytes)
    expect(goldenBits(kernel)).toBe(before)
  })

  it('are the same bits for a line, its reverse and its mirror images', () => {
    const kernel = loadKernel()
    const length = kernel.inverse(12.3, 4.5, -67.8, 98.7)
    for (const line of [
      [-67.8, 98.7, 12.3, 4.5],
      [-12.3, 4.5, 67.8, 98.7],
      [12.3, -4.5, -67.8, -98.7],
    ] as const) {
      const [lat1, lon1, lat2, lon2] = line
      expect(kernel.inverse(lat1, lon1, lat2, lon2), `${line}`).toBe(length)
    }
  })
})

describe('the area under a line', () => {
  it('changes its sign with the direction, also over exactly 180° of longitude', () => {
    const kernel = loadKernel()
    for (const [lat1, lon1, lat2, lon2] of [
      [10, 20, 30, 40],
      [45, 0, 45, 180],
      [45, -90, 30, 90],
      [-60, 180, -10, 0],
    ] as const) {
      kernel.inverseWithArea(lat1, lon1, lat2, lon2)
      const [fromEquator, fromPole] = [kernel.S12(), kernel.P12()]
      expect(Math.sign(fromEquator)).toBe(Math.sign(lat1) * Math.sign(lon2 - lon1))
      kernel.inverseWithArea(lat2, lon2, lat1, lon1)
      expect(kernel.S12()).toBe(-fromEquator)
      expect(kernel.P12() + fromPole).toBe(0)
    }
  })

  it('is the same measured from the pole and from the equator, within the rounding of the larger', () => {
    // 2π(a² + b² atanh(e)/e) / 4π of WGS 84, evaluated to 40 digits: the area of a hemisphere under a radian of longitude.
    const hemisphere = 40_589_732_499_314.76
    const kernel = loadKernel()
    for (let index = 0; index < 2000; index++) {
      const lat1 = ((index * 37) % 9001) / 100
      const lat2 = Math.min(90, lat1 + 10 ** -(index % 7))
      const lon2 = index % 2 === 0 ? ((index * 53) % 17000) / 100 : 10 ** -(index % 11)
      for (const side of [1, -1]) {
        kernel.inverseWithArea(side * lat1, 0, side * lat2, lon2)
        const expected = ((hemisphere * lon2) / 180) * Math.PI - side * kernel.S12()
        expect(Math.abs(kernel.P12() - expected), `${lat1} ${lat2} ${lon2}`).toBeLessThanOrEqual(0.125)
      }
    }
  })
})

describe('the arena', () => {
  it('keeps its content until it is released, also when later writes grow the memory', () => {
    const kernel = loadKernel()
    kernel.release()
    const first = kernel.write(Float64Array.of(1.5, -2.5))
    const second = kernel.writeIntegers(Uint32Array.of(7, 8, 9))
    const large = kernel.write(new Float64Array(300_000).fill(3))
    expect([...new Float64Array(kernel.memory.buffer, first, 2)]).toEqual([1.5, -2.5])
    expect([...new Uint32Array(kernel.memory.buffer, second, 3)]).toEqual([7, 8, 9])
    expect(new Float64Array(kernel.memory.buffer, large, 300_000).every((value) => value === 3)).toBe(true)
  })

  it('returns aligned blocks that do not overlap', () => {
    const kernel = loadKernel()
    kernel.release()
    let end = 0
    for (const bytes of [1, 8, 15, 16, 17, 0, 4096]) {
      const pointer = kernel.reserve(bytes)
      expect(pointer % 16).toBe(0)
      expect(pointer).toBeGreaterThanOrEqual(end)
      end = pointer + bytes
    }
  })

  it('returns the same addresses again after a release and after a release to a mark', () => {
    const kernel = loadKernel()
    kernel.release()
    const first = kernel.reserve(100)
    const mark = kernel.mark()
    const second = kernel.reserve(100)
    kernel.releaseTo(mark)
    expect(kernel.reserve(100)).toBe(second)
    kernel.release()
    expect(kernel.reserve(100)).toBe(first)
  })

  it('does not grow again for repeated work', () => {
    const kernel = loadKernel()
    const ring = new Float64Array(200_000)
    const measure = () => {
      kernel.release()
      return kernel.lineLength(kernel.write(ring), ring.length / 2)
    }
    measure()
    const bytes = kernel.memory.buffer.byteLength
    for (let round = 0; round < 20; round++) measure()
    expect(kernel.memory.buffer.byteLength).toBe(bytes)
  })

  it('returns 0 and stays usable when the memory cannot grow', () => {
    const kernel = loadKernel()
    kernel.release()
    for (const bytes of [1 << 30, 0xfff0_0000, 0xffff_ffff]) expect(kernel.reserve(bytes)).toBe(0)
    expect(() => selfTestKernel(kernel)).not.toThrow()
  })
})
