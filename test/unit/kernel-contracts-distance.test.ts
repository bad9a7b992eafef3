import { describe, expect, it } from 'vitest'
import { checkedBase64 } from '../../src/wasm/generated/checked.ts'
import { compileModule, instantiateKernel, type Kernel } from '../../src/wasm/loader.ts'

const module = compileModule(checkedBase64)

interface Parts {
  readonly vertices: readonly number[]
  readonly sequenceStarts?: readonly number[]
  readonly partStarts?: readonly number[]
  readonly dimensions?: readonly number[]
}

/** Writes a line, or what the arguments say, and prepares it with sizes that match it. */
function operand(kernel: Kernel, { vertices, sequenceStarts, partStarts, dimensions }: Parts): number {
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
  it('takes the limits of every range', () => {
    const kernel = instantiateKernel(module)
    const line = operand(kernel, { vertices: [-180, -90, 180, 90] })
    const point = operand(kernel, { vertices: [0, 0], dimensions: [0] })
    expect(kernel.minimumDistance(line, point, 100)).toBeGreaterThanOrEqual(0)
  })

  it.each([
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 0],
    [180.00000000000003, 0],
    [0, -90.00000000000001],
  ])('refuses longitude %d and latitude %d', (lon, lat) => {
    expect(() => operand(instantiateKernel(module), { vertices: [0, 0, lon, lat] })).toThrow('finite and in range')
  })

  it('refuses parts and sequences that do not hold all vertices in their order', () => {
    const kernel = instantiateKernel(module)
    const vertices = [0, 0, 1, 1, 2, 0, 0, 0]
    expect(() => operand(kernel, { vertices, sequenceStarts: [0, 3] })).toThrow('the sequences must hold all vertices')
    expect(() => operand(kernel, { vertices, sequenceStarts: [0, 5, 4], partStarts: [0, 2] })).toThrow('sequence')
    expect(() => operand(kernel, { vertices, sequenceStarts: [0, 0, 4], partStarts: [0, 2] })).toThrow('sequence')
    expect(() => operand(kernel, { vertices, partStarts: [0, 2] })).toThrow('the parts must hold all sequences')
    expect(() => operand(kernel, { vertices, dimensions: [3] })).toThrow('dimension')
    expect(() => operand(kernel, { vertices: [0, 0, 1, 1, 2, 0, 0, 1], dimensions: [2] })).toThrow('closed')
    expect(() => operand(kernel, { vertices, dimensions: [0] })).toThrow('a point has one vertex')
  })

  it('refuses a block that leads out of memory and sizes that hold nothing', () => {
    const kernel = instantiateKernel(module)
    expect(() => kernel.prepareOperand(kernel.memory.buffer.byteLength - 16, 4, 1, 1)).toThrow('in memory')
    expect(() => kernel.prepareOperand(0, 4, 1, 1)).toThrow('aligned')
    expect(() => kernel.operandInputs(8)).toThrow('aligned')
    expect(() => kernel.operandBytes(0, 1, 1)).toThrow('a geometry has a vertex')
    expect(() => kernel.operandBytes(-1, 1, 1)).toThrow('a geometry has a vertex')
  })
})

describe('the checked searches', () => {
  it('refuse operands that are none, radii the wrong way round and a limit below nothing', () => {
    const kernel = instantiateKernel(module)
    const line = operand(kernel, { vertices: [0, 0, 1, 1] })
    expect(() => kernel.minimumDistance(0, line, 1)).toThrow('must be prepared')
    expect(() => kernel.minimumDistance(line, 0, 1)).toThrow('must be prepared')
    expect(() => kernel.minimumDistance(line, line, -1)).toThrow('must not be negative')
    expect(() => kernel.minimumDistance(line, line, Number.NaN)).toThrow('must not be negative')
    expect(() => kernel.isWithin(line, line, 2, 1, 1)).toThrow('inner must be less than outer')
    expect(() => kernel.isWithin(line, line, Number.NaN, 1, 1)).toThrow('inner must be less than outer')
    expect(() => kernel.isWithin(0, line, 1, 2, 1)).toThrow('must be prepared')
  })

  it('refuse to set memory aside where nothing is', () => {
    const kernel = instantiateKernel(module)
    expect(() => kernel.setAside(0)).toThrow('bytes')
    expect(kernel.setAside(2 ** 30)).toBe(0)
    expect(kernel.setAside(64)).toBeGreaterThan(0)
  })
})
