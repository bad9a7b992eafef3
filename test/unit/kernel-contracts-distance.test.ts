import { describe, expect, it } from 'vitest'
import { checkedBase64 } from '../../src/wasm/generated/checked.ts'
import { compileModule, instantiateKernel, type Kernel } from '../../src/wasm/loader.ts'

const module = compileModule(checkedBase64)

interface OperandParts {
  readonly vertices: readonly number[]
  readonly sequenceStarts?: readonly number[]
  readonly partStarts?: readonly number[]
  readonly dimensions?: readonly number[]
}

/** Writes a line, or the given parts and dimensions, and prepares it with matching sizes. */
function prepareOperand(kernel: Kernel, { vertices, sequenceStarts, partStarts, dimensions }: OperandParts): number {
  const count = vertices.length / 2
  const starts = [...(sequenceStarts ?? [0, count]), ...(partStarts ?? [0, 1])]
  const sequences = (sequenceStarts?.length ?? 2) - 1
  const parts = (partStarts?.length ?? 2) - 1
  const block = kernel.reserve(kernel.operandBytes(count, sequences, parts))
  const inputs = kernel.operandInputs(block)
  const { bytes, words, doubles } = kernel.views()
  doubles.set(vertices, inputs / 8)
  words.set(starts, (inputs + 16 * count) / 4)
  bytes.set(dimensions ?? [1], inputs + 16 * count + 4 * starts.length)
  kernel.prepareOperand(block, count, sequences, parts)
  return block
}

describe('the checked prepareOperand', () => {
  it('accepts the limits of every range', () => {
    const kernel = instantiateKernel(module)
    const line = prepareOperand(kernel, { vertices: [-180, -90, 180, 90] })
    const point = prepareOperand(kernel, { vertices: [0, 0], dimensions: [0] })
    expect(kernel.minimumDistance(line, point, 100)).toBeGreaterThanOrEqual(0)
  })

  it.each([
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 0],
    [180.00000000000003, 0],
    [0, -90.00000000000001],
  ])('rejects longitude %d and latitude %d', (lon, lat) => {
    expect(() => prepareOperand(instantiateKernel(module), { vertices: [0, 0, lon, lat] })).toThrow(
      'finite and in range',
    )
  })

  it('rejects parts and sequences that do not hold all vertices in order', () => {
    const kernel = instantiateKernel(module)
    const vertices = [0, 0, 1, 1, 2, 0, 0, 0]
    expect(() => prepareOperand(kernel, { vertices, sequenceStarts: [0, 3] })).toThrow(
      'the sequences must hold all vertices',
    )
    expect(() => prepareOperand(kernel, { vertices, sequenceStarts: [0, 5, 4], partStarts: [0, 2] })).toThrow(
      'sequence',
    )
    expect(() => prepareOperand(kernel, { vertices, sequenceStarts: [0, 0, 4], partStarts: [0, 2] })).toThrow(
      'sequence',
    )
    expect(() => prepareOperand(kernel, { vertices, partStarts: [0, 2] })).toThrow('the parts must hold all sequences')
    expect(() => prepareOperand(kernel, { vertices, dimensions: [3] })).toThrow('dimension')
    expect(() => prepareOperand(kernel, { vertices: [0, 0, 1, 1, 2, 0, 0, 1], dimensions: [2] })).toThrow('closed')
    expect(() => prepareOperand(kernel, { vertices, dimensions: [0] })).toThrow('a point has one vertex')
  })

  it('rejects a block that ends outside the memory and empty sizes', () => {
    const kernel = instantiateKernel(module)
    expect(() => kernel.prepareOperand(kernel.memory.buffer.byteLength - 16, 4, 1, 1)).toThrow('in memory')
    expect(() => kernel.prepareOperand(0, 4, 1, 1)).toThrow('aligned')
    expect(() => kernel.operandInputs(8)).toThrow('aligned')
    expect(() => kernel.operandBytes(0, 1, 1)).toThrow('a geometry has a vertex')
    expect(() => kernel.operandBytes(-1, 1, 1)).toThrow('a geometry has a vertex')
  })
})

describe('the checked searches', () => {
  it('reject unprepared operands, swapped radii and a negative limit', () => {
    const kernel = instantiateKernel(module)
    const line = prepareOperand(kernel, { vertices: [0, 0, 1, 1] })
    expect(() => kernel.minimumDistance(0, line, 1)).toThrow('must be prepared')
    expect(() => kernel.minimumDistance(line, 0, 1)).toThrow('must be prepared')
    expect(() => kernel.minimumDistance(line, line, -1)).toThrow('must not be negative')
    expect(() => kernel.minimumDistance(line, line, Number.NaN)).toThrow('must not be negative')
    expect(() => kernel.isWithin(line, line, 2, 1, 1)).toThrow('inner must be less than outer')
    expect(() => kernel.isWithin(line, line, Number.NaN, 1, 1)).toThrow('inner must be less than outer')
    expect(() => kernel.isWithin(0, line, 1, 2, 1)).toThrow('must be prepared')
  })

  it('cannot set aside zero bytes, and return 0 when memory is short', () => {
    const kernel = instantiateKernel(module)
    expect(() => kernel.setAside(0)).toThrow('bytes')
    expect(kernel.setAside(2 ** 30)).toBe(0)
    expect(kernel.setAside(64)).toBeGreaterThan(0)
  })
})
