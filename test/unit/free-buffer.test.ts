import { describe, expect, it } from 'vitest'
import { freeBuffer } from '../../src/free-buffer.ts'

describe('memory that is given back at once', () => {
  it('is gone, again and again, without a collection', () => {
    for (let round = 0; round < 1000; round++) {
      const bytes = new Uint8Array(1_048_576)
      freeBuffer(bytes.buffer)
      expect(bytes.length).toBe(0)
    }
    // Of the gigabyte nothing waits for the collector.
    expect(process.memoryUsage().arrayBuffers).toBeLessThan(256 * 1_048_576)
  })

  it('stays when it is shared', () => {
    const bytes = new Uint8Array(new SharedArrayBuffer(8))
    freeBuffer(bytes.buffer)
    expect(bytes.length).toBe(8)
  })
})
