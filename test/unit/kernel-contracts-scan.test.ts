import { describe, expect, it } from 'vitest'
import { checkedBase64 } from '../../src/wasm/generated/checked.ts'
import { compileModule, instantiateKernel } from '../../src/wasm/loader.ts'

const kernel = instantiateKernel(compileModule(checkedBase64))
const TEXT = Buffer.from('{"coordinates":[1,2]}')

describe('the checked kernel rejects', () => {
  it('a text outside the arena', () => {
    expect(() => kernel.scanJson(0, 1, 32, 10)).toThrow('scanJson: text must be in the arena')
    expect(() => kernel.scanJson(kernel.writeText(TEXT), -1, 32, 10)).toThrow('scanJson: text must be in the arena')
  })

  it('a text at the end of the memory, without room after it', () => {
    const end = kernel.memory.buffer.byteLength
    expect(() => kernel.scanJson(end - 16, 16, 32, 10)).toThrow('scanJson: text must be followed by 96 bytes of memory')
  })

  it('an unsupported depth', () => {
    const pointer = kernel.writeText(TEXT)
    expect(() => kernel.scanJson(pointer, TEXT.length, 0, 10)).toThrow('scanJson: maxDepth must be 1 to 64')
    expect(() => kernel.scanJson(pointer, TEXT.length, 65, 10)).toThrow('scanJson: maxDepth must be 1 to 64')
  })

  it('a negative number of vertices', () => {
    expect(() => kernel.scanJson(kernel.writeText(TEXT), TEXT.length, 32, -1)).toThrow(
      'scanJson: maxVertices must not be negative',
    )
  })

  it('a span that ends where it begins', () => {
    const pointer = kernel.writeText(TEXT)
    expect(() => kernel.canonicalText(pointer, pointer)).toThrow('canonicalText: the span must not be empty')
  })

  it('bytes to hash at a null address or with a negative length', () => {
    kernel.keccakStart()
    expect(() => kernel.keccakAdd(0, 1)).toThrow('keccakAdd: bytes must be in memory')
    expect(() => kernel.keccakAdd(kernel.writeText(TEXT), -1)).toThrow('keccakAdd: bytes must be in memory')
  })

  it('nothing that meets the contracts', () => {
    const pointer = kernel.writeText(TEXT)
    expect(kernel.scanJson(pointer, TEXT.length, 64, 0)).not.toBe(0)
    expect(kernel.scanJson(pointer, TEXT.length, 1, 1)).not.toBe(0)
    expect(kernel.scanJson(pointer, TEXT.length, 2, 1)).toBe(0)
    expect(kernel.scanJson(pointer, 0, 2, 1)).toBe(0)
    kernel.keccakStart()
    kernel.keccakAdd(pointer, 0)
  })
})
