import { describe, expect, it } from 'vitest'
import { checkedBase64 } from '../../src/wasm/generated/checked.ts'
import { compileModule, instantiateKernel } from '../../src/wasm/loader.ts'

const kernel = instantiateKernel(compileModule(checkedBase64))
const TEXT = Buffer.from('{"coordinates":[1,2]}')

describe('the checked kernel refuses', () => {
  it('a text outside the arena', () => {
    expect(() => kernel.scanJson(0, 1, 32, 10)).toThrow('a text lies in the arena')
    expect(() => kernel.scanJson(kernel.writeText(TEXT), -1, 32, 10)).toThrow('a text lies in the arena')
  })

  it('a text at the end of the memory, without room behind it', () => {
    const end = kernel.memory.buffer.byteLength
    expect(() => kernel.scanJson(end - 16, 16, 32, 10)).toThrow('a text has room behind it')
  })

  it('a depth that it cannot follow', () => {
    const pointer = kernel.writeText(TEXT)
    expect(() => kernel.scanJson(pointer, TEXT.length, 0, 10)).toThrow('maxDepth is 1 to 64')
    expect(() => kernel.scanJson(pointer, TEXT.length, 65, 10)).toThrow('maxDepth is 1 to 64')
  })

  it('a negative number of vertices', () => {
    expect(() => kernel.scanJson(kernel.writeText(TEXT), TEXT.length, 32, -1)).toThrow('maxVertices is not negative')
  })

  it('a span that ends where it begins', () => {
    const pointer = kernel.writeText(TEXT)
    expect(() => kernel.canonicalText(pointer, pointer)).toThrow('a span is not empty')
  })

  it('bytes to hash at no address or of negative length', () => {
    kernel.keccakStart()
    expect(() => kernel.keccakAdd(0, 1)).toThrow('what is hashed lies in memory')
    expect(() => kernel.keccakAdd(kernel.writeText(TEXT), -1)).toThrow('what is hashed lies in memory')
  })

  it('nothing that keeps the contracts', () => {
    const pointer = kernel.writeText(TEXT)
    expect(kernel.scanJson(pointer, TEXT.length, 64, 0)).not.toBe(0)
    expect(kernel.scanJson(pointer, TEXT.length, 1, 1)).not.toBe(0)
    expect(kernel.scanJson(pointer, TEXT.length, 2, 1)).toBe(0)
    expect(kernel.scanJson(pointer, 0, 2, 1)).toBe(0)
    kernel.keccakStart()
    kernel.keccakAdd(pointer, 0)
  })
})
