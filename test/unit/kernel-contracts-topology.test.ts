import { describe, expect, it } from 'vitest'
import { checkedBase64 } from '../../src/wasm/generated/checked.ts'
import { compileModule, instantiateKernel } from '../../src/wasm/loader.ts'

const module = compileModule(checkedBase64)
const createChecked = () => instantiateKernel(module)
const box = Float64Array.of(-180, -90, 180, -90, 180, 90, -180, 90, -180, -90)

describe('the checked sideOfRing', () => {
  it('accepts the limits of every range', () => {
    const kernel = createChecked()
    const vertices = kernel.write(box)
    // 1 is inside, 0 outside, 2 on the ring. The flag 4, clear of the antimeridian, is never set here.
    expect(kernel.sideOfRing(vertices, 5, 0, 0)).toBe(1)
    expect(kernel.sideOfRing(vertices, 5, 180, 90)).toBe(2)
    expect(kernel.sideOfRing(vertices, 5, -180, 5)).toBe(2)
  })

  it('reports whether a ring is clear of the antimeridian and the poles', () => {
    const kernel = createChecked()
    const clear = kernel.write(Float64Array.of(0, 0, 10, 0, 10, 10, 0, 0))
    expect(kernel.sideOfRing(clear, 4, 7, 5)).toBe(1 | 4)
    expect(kernel.sideOfRing(clear, 4, 12, 5)).toBe(0 | 4)
    const wide = kernel.write(Float64Array.of(-90, 0, 90, 0, 0, 10, -90, 0))
    expect(kernel.sideOfRing(wide, 4, 0, 5)).toBe(1)
  })

  it.each([
    [Number.NaN, 0],
    [0, Number.POSITIVE_INFINITY],
    [180.00000000000003, 0],
    [0, -90.00000000000001],
  ])('rejects longitude %d and latitude %d, in the ring and as the position', (lon, lat) => {
    const kernel = createChecked()
    const good = kernel.write(box)
    const bad = kernel.write(Float64Array.of(0, 0, lon, lat, 1, 1, 0, 0))
    expect(() => kernel.sideOfRing(good, 5, lon, lat)).toThrow('the position must be finite and in range')
    expect(() => kernel.sideOfRing(bad, 4, 0, 0)).toThrow('finite and in range')
  })

  it('rejects too few vertices, an open ring, and pointers that lead outside the memory', () => {
    const kernel = createChecked()
    const vertices = kernel.write(box)
    const end = kernel.memory.buffer.byteLength
    expect(() => kernel.sideOfRing(vertices, 1, 0, 0)).toThrow('count must be at least 2')
    expect(() => kernel.sideOfRing(vertices, -5, 0, 0)).toThrow('count must be at least 2')
    expect(() => kernel.sideOfRing(vertices, 4, 0, 0)).toThrow('the last vertex must equal the first')
    for (const bad of [0, vertices + 4, end - 16]) {
      expect(() => kernel.sideOfRing(bad, 5, 0, 0)).toThrow('vertices must be aligned')
    }
    expect(() => kernel.sideOfRing(vertices, 0x7fffffff, 0, 0)).toThrow('vertices must be aligned')
  })
})
