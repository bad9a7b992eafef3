import { describe, expect, it } from 'vitest'
import { checkedBase64 } from '../../src/wasm/generated/checked.ts'
import { compileModule, instantiateKernel } from '../../src/wasm/loader.ts'

const module = compileModule(checkedBase64)
/** Creates a kernel for each case. A trap leaves a kernel unchanged, but the tests do not rely on it. */
const createChecked = () => instantiateKernel(module)

const BAD_POSITIONS: readonly (readonly [lon: number, lat: number])[] = [
  [Number.NaN, 0],
  [0, Number.NaN],
  [Number.POSITIVE_INFINITY, 0],
  [0, Number.NEGATIVE_INFINITY],
  [180.00000000000003, 0],
  [-181, 0],
  [0, 90.00000000000001],
  [0, -91],
]

describe('the checked build', () => {
  it('accepts the limits of every range', () => {
    const kernel = createChecked()
    const pairs = kernel.write(Float64Array.of(-180, -90, 180, 90))
    const out = kernel.write(new Float64Array(1))
    kernel.pairLengths(pairs, 1, out)
    kernel.generalLengths(pairs, 2, out)
    expect(new Float64Array(kernel.memory.buffer, out, 1)[0]).toBeCloseTo(20003931.4586254, 6)
    expect(kernel.fastInverse(-90, -180, 90, 180)).toBeCloseTo(20003931.4586254, 6)
  })

  it('accepts a count of zero without checking the pointers', () => {
    const kernel = createChecked()
    expect(() => kernel.generalLengths(0, 0, 0)).not.toThrow()
    expect(() => kernel.pairLengths(0, 0, 0)).not.toThrow()
  })

  it.each(BAD_POSITIONS)('rejects a position of longitude %d and latitude %d', (lon, lat) => {
    const expectedMessage = /the kernel aborted: \w+: .* finite and in range/
    for (const badIndex of [0, 1]) {
      const kernel = createChecked()
      const values = badIndex === 0 ? [lon, lat, 1, 1] : [1, 1, lon, lat]
      const vertices = kernel.write(Float64Array.from(values))
      const out = kernel.write(new Float64Array(1))
      const [lon1, lat1, lon2, lat2] = values as [number, number, number, number]
      expect(() => kernel.generalLengths(vertices, 2, out)).toThrow(expectedMessage)
      expect(() => kernel.generalAreas(vertices, 2, 0, out)).toThrow(expectedMessage)
      expect(() => kernel.pairLengths(vertices, 1, out)).toThrow(expectedMessage)
      expect(() => kernel.fastInverse(lat1, lon1, lat2, lon2)).toThrow(expectedMessage)
      expect(() => kernel.guardedInverse(lat1, lon1, lat2, lon2)).toThrow(expectedMessage)
    }
  })

  it('rejects negative counts', () => {
    const kernel = createChecked()
    const vertices = kernel.write(new Float64Array(4))
    expect(() => kernel.generalLengths(vertices, -1, vertices)).toThrow('count must not be negative')
    expect(() => kernel.generalAreas(vertices, -1, 0, vertices)).toThrow('count must not be negative')
    expect(() => kernel.pairLengths(vertices, -1, vertices)).toThrow('count must not be negative')
  })

  it('rejects an invalid side, and vertices across the equator from their pole', () => {
    const kernel = createChecked()
    const vertices = kernel.write(Float64Array.of(0, 10, 1, 10, 2, -1e-9))
    const out = kernel.write(new Float64Array(2))
    expect(() => kernel.generalAreas(vertices, 2, 2, out)).toThrow('side must be −1, 0 or 1')
    expect(() => kernel.generalAreas(vertices, 2, -2, out)).toThrow('side must be −1, 0 or 1')
    expect(() => kernel.generalAreas(vertices, 2, 1, out)).not.toThrow()
    expect(() => kernel.generalAreas(vertices, 2, -1, out)).toThrow('on the side of their pole')
    expect(() => kernel.generalAreas(vertices, 3, 1, out)).toThrow('on the side of their pole')
  })

  it('rejects pointers that are not aligned, are null, or lead outside the memory', () => {
    const kernel = createChecked()
    const vertices = kernel.write(new Float64Array(8))
    const end = kernel.memory.buffer.byteLength
    for (const badPointer of [0, vertices + 4, end - 8]) {
      expect(() => kernel.generalLengths(badPointer, 3, vertices)).toThrow('vertices must be aligned')
      expect(() => kernel.generalLengths(vertices, 3, badPointer)).toThrow('out must be aligned and in memory')
      expect(() => kernel.generalAreas(badPointer, 3, 0, vertices)).toThrow('vertices must be aligned')
      expect(() => kernel.generalAreas(vertices, 3, 0, badPointer)).toThrow('out must be aligned and in memory')
      expect(() => kernel.pairLengths(badPointer, 2, vertices)).toThrow('pairs must be aligned')
      expect(() => kernel.pairLengths(vertices, 2, badPointer)).toThrow('out must be aligned and in memory')
    }
    expect(() => kernel.pairLengths(vertices, 0x7fffffff, vertices)).toThrow('pairs must be aligned')
  })
})
