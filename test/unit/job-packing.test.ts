import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { pack, unpack } from '../../src/service/jobs/packing.ts'
import { JobWriter } from '../../src/service/jobs/upload.ts'

const LINE = (id: number) => `{"id":${id},"result":${id / 7},"inputRefs":["0x${'ab'.repeat(32)}"]}\n`
const LINES = Buffer.from(Array.from({ length: 4096 }, (_, id) => LINE(id)).join(''))

/** Packing frees the memory of large lines. */
const copyOf = (bytes: Uint8Array) => Uint8Array.from(bytes)

describe('the packing of jobs', () => {
  it.each([
    ['lines', LINES],
    ['nothing', Buffer.alloc(0)],
    ['bytes without any pattern', randomBytes(3_000_000)],
    ['a part of a larger buffer', LINES.subarray(1000, 5000)],
  ])('keeps every byte of %s', async (_, bytes) => {
    expect(Buffer.compare(await unpack(await pack(copyOf(bytes)), true), bytes)).toBe(0)
  })

  it('makes repeated lines much shorter, and other bytes hardly longer', async () => {
    expect((await pack(copyOf(LINES))).length).toBeLessThan(LINES.length / 5)
    expect((await pack(randomBytes(100_000))).length).toBeLessThan(100_100)
  })

  it('returns what an older version stored as it is', async () => {
    expect(await unpack(LINES, false)).toBe(LINES)
  })

  it('throws an error for damaged bytes', async () => {
    const packed = await pack(copyOf(LINES))
    await expect(unpack(packed.subarray(0, packed.length / 2), true)).rejects.toThrow('damaged')
    await expect(unpack(LINES, true)).rejects.toThrow('damaged')
    // Half of these would decompress into other lines.
    for (let bit = 0; bit < 8 * packed.length; bit += 97) {
      const damaged = copyOf(packed)
      damaged[bit >> 3]! ^= 1 << (bit & 7)
      await expect(unpack(damaged, true)).rejects.toThrow('damaged')
    }
  })

  it('takes room for the operations and their results, whose memory is freed while they are stored', async () => {
    const rooms: number[] = []
    const ask = async (_operation: string, { room }: { readonly room: number }) => {
      rooms.push(room)
      return 'stored'
    }
    const limits = { jobChunkOperations: 100, jobChunkBytes: 1 << 20 }
    const job = { position: 1, id: '', received: 0, options: { attest: 'none' } }
    const parts = { ask, limits, now: Date.now, walletAddress: undefined, onStored: () => {}, context: {} }
    const writer = new JobWriter(parts as never, job as never, 0)
    for (const bytes of [10, 100_000]) {
      writer.add(Buffer.alloc(bytes, 'x'))
      await writer.store()
    }
    expect(rooms).toEqual([4 + 10 + 1024, 4 + 100_000 + 1024])
  })

  it('cuts operations whose results are submitted into chunks of 100', async () => {
    const chunks: unknown[] = []
    let received = 0
    const ask = async (_: string, { first, operations, room }: Readonly<Record<string, number>>) => {
      chunks.push([first, operations, room])
      // Another upload has stored some operations meanwhile.
      received = chunks.length === 2 ? 130 : first! + operations!
      return chunks.length === 2 ? received : 'stored'
    }
    const limits = { jobChunkOperations: 4096, jobChunkBytes: 1 << 20 }
    const job = { position: 1, id: '', received: 0, options: { attest: 'each', submitOnchain: true } }
    const parts = { ask, limits, now: Date.now, walletAddress: undefined, onStored: () => {}, context: {} }
    const writer = new JobWriter(parts as never, job as never, 0)
    for (let line = 0; line < 256; line++) expect(writer.add(Buffer.from('x'))).toBe(line >= 99)
    await writer.store()
    const room = (operations: number) => operations * (5 + 1792 + 128)
    expect(chunks).toEqual([
      [0, 100, room(100)],
      [100, 100, room(100)],
      [130, 100, room(100)],
      [230, 26, room(26)],
    ])
    expect(writer.isEmpty).toBe(true)
  })
})
