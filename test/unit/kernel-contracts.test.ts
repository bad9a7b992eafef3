import { describe, expect, it } from 'vitest'
import { checkedBase64 } from '../../src/wasm/generated/checked.ts'
import { compileModule, instantiateKernel, type Kernel, loadKernel } from '../../src/wasm/loader.ts'

const module = compileModule(checkedBase64)
/** Creates a kernel for each case. An abort leaves a kernel unchanged, but the tests do not rely on it. */
const createChecked = () => instantiateKernel(module)
const write = (kernel: Kernel, ...values: number[]) => kernel.write(Float64Array.from(values))

const RING = [2.5, 48.5, 2.6, 48.5, 2.6, 48.6, 2.5, 48.5]

describe('the contract of lineLength', () => {
  it('requires a vertex', () => {
    const kernel = createChecked()
    for (const count of [0, -1]) {
      expect(() => kernel.lineLength(write(kernel, ...RING), count)).toThrow(RangeError)
      expect(() => kernel.lineLength(write(kernel, ...RING), count)).toThrow('lineLength: a line needs a vertex')
    }
  })

  it.each([
    [Number.NaN, 0],
    [0, Number.NaN],
    [Number.POSITIVE_INFINITY, 0],
    [0, Number.NEGATIVE_INFINITY],
    [180.00000000000003, 0],
    [0, -90.00000000000001],
  ])('requires positions in range, not longitude %d and latitude %d', (lon, lat) => {
    for (const line of [
      [lon, lat],
      [lon, lat, 1, 1],
      [1, 1, lon, lat],
    ]) {
      const kernel = createChecked()
      expect(() => kernel.lineLength(write(kernel, ...line), line.length / 2)).toThrow(RangeError)
      expect(() => kernel.lineLength(write(kernel, ...line), line.length / 2)).toThrow(
        'lineLength: vertices must be aligned, finite and in range',
      )
    }
  })

  it('requires aligned doubles inside the memory', () => {
    const kernel = createChecked()
    const line = write(kernel, ...RING)
    for (const pointer of [0, line + 4, kernel.memory.buffer.byteLength - 16]) {
      expect(() => kernel.lineLength(pointer, 4)).toThrow('lineLength: vertices must be aligned, finite and in range')
    }
  })
})

describe('the contract of ringArea', () => {
  it('requires four vertices', () => {
    const kernel = createChecked()
    const message = 'ringArea: a ring needs 4 vertices'
    expect(() => kernel.ringArea(write(kernel, 1, 1, 2, 2, 1, 1), 3)).toThrow(RangeError)
    for (const count of [3, 0, -4]) expect(() => kernel.ringArea(write(kernel, ...RING), count)).toThrow(message)
  })

  it('requires a closed ring', () => {
    const kernel = createChecked()
    const message = 'ringArea: the last vertex must equal the first'
    expect(() => kernel.ringArea(write(kernel, ...RING.slice(0, 6), 2.5, 48.50001), 4)).toThrow(RangeError)
    expect(() => kernel.ringArea(write(kernel, ...RING.slice(0, 6), 2.50001, 48.5), 4)).toThrow(message)
    // The other longitude of the same meridian is a different number.
    expect(() => kernel.ringArea(write(kernel, 180, 5, 170, 5, 170, 8, -180, 5), 4)).toThrow(message)
  })

  it.each([
    [Number.NaN, 0],
    [0, Number.NaN],
    [-180.00000000000003, 0],
    [0, 91],
  ])('requires positions in range, not longitude %d and latitude %d', (lon, lat) => {
    const kernel = createChecked()
    const message = 'ringArea: vertices must be aligned, finite and in range'
    expect(() => kernel.ringArea(write(kernel, 1, 1, lon, lat, 2, 2, 1, 1), 4)).toThrow(RangeError)
    expect(() => kernel.ringArea(write(kernel, 1, 1, lon, lat, 2, 2, 1, 1), 4)).toThrow(message)
  })

  it('requires aligned doubles', () => {
    const kernel = createChecked()
    const ring = write(kernel, ...RING)
    expect(() => kernel.ringArea(ring + 1, 4)).toThrow('ringArea: vertices must be aligned, finite and in range')
  })
})

describe('a contract that is met', () => {
  it('gives the same bits as the release build, also at the limits of every range', () => {
    const release = loadKernel()
    const kernel = createChecked()
    for (const ring of [
      RING,
      [-180, -90, 180, -90, 180, 90, -180, -90],
      [-180, 0, -60, 0, 60, 0, 180, 0, -180, 0],
      [179.999, 10, -179.999, 10, -179.999, 10.001, 179.999, 10],
    ]) {
      const count = ring.length / 2
      for (const measure of ['ringArea', 'lineLength'] as const) {
        kernel.release()
        release.release()
        expect(kernel[measure](write(kernel, ...ring), count)).toBe(release[measure](write(release, ...ring), count))
        expect(kernel.perimeter()).toBe(release.perimeter())
        expect(kernel.enclosedPole()).toBe(release.enclosedPole())
      }
    }
    expect(kernel.lineLength(write(kernel, 180, -90), 1)).toBe(0)
  })
})
