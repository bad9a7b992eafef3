import { describe, expect, it } from 'vitest'
import { freeBuffer } from '../../src/base/bytes.ts'

describe('a freed buffer', () => {
  it('is released repeatedly without a garbage collection', () => {
    for (let round = 0; round < 1000; round++) {
      const bytes = new Uint8Array(1_048_576)
      freeBuffer(bytes.buffer)
      expect(bytes.length).toBe(0)
    }
    // Nothing of the gigabyte waits for the garbage collector.
    expect(process.memoryUsage().arrayBuffers).toBeLessThan(256 * 1_048_576)
  })

  it('is not released when it is shared', () => {
    const bytes = new Uint8Array(new SharedArrayBuffer(8))
    freeBuffer(bytes.buffer)
    expect(bytes.length).toBe(8)
  })
})
