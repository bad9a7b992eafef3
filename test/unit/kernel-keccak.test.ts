import { expect, it } from 'vitest'
import { kernelKeccak } from '../../src/compute/engine.ts'
import { javascriptKeccak } from '../../src/crypto/noble.ts'
import { loadKernel } from '../../src/wasm/loader.ts'

it('gives the same hashes as another implementation, around the sizes of its blocks and of its buffer', () => {
  const kernelHasher = kernelKeccak(loadKernel())
  const javascriptHasher = javascriptKeccak()
  const lengths = [0, 1, 31, 32, 64, 135, 136, 137, 271, 272, 352, 16_383, 16_384, 16_385, 40_000]
  for (const length of lengths) {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 31 + length) & 255)
    expect(kernelHasher.hashHex(bytes)).toBe(javascriptHasher.hashHex(bytes))
    expect(Buffer.from(kernelHasher.hash(bytes)).toString('hex')).toBe(javascriptHasher.hashHex(bytes).slice(2))
  }
})

it('gives hashes that later calls do not change', () => {
  const keccak = kernelKeccak(loadKernel())
  const first = keccak.hash(Uint8Array.of(1))
  const copy = first.slice()
  keccak.hash(Uint8Array.of(2))
  expect(first).toEqual(copy)
})
