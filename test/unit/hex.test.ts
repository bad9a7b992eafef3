import { afterEach, describe, expect, it, vi } from 'vitest'
import fc from '../seeded.ts'

const nodeBuffer = globalThis.Buffer

describe.each(['with Buffer', 'without Buffer, as in a browser'])('hex %s', (environment) => {
  async function load() {
    vi.resetModules()
    if (environment !== 'with Buffer') vi.stubGlobal('Buffer', undefined)
    return import('../../src/crypto/hex.ts')
  }
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  it('equals the hex of Node.js and decodes to the same bytes', async () => {
    const { bytesToHex, hexToBytes, utf8 } = await load()
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'binary' }), (bytes, text) => {
        const hex = bytesToHex(bytes)
        expect(hex).toBe(nodeBuffer.from(bytes).toString('hex'))
        expect(Uint8Array.from(hexToBytes(`0x${hex}`)!)).toEqual(bytes)
        expect(Uint8Array.from(hexToBytes(`0x${hex.toUpperCase()}`)!)).toEqual(bytes)
        expect(bytesToHex(utf8(text))).toBe(nodeBuffer.from(text, 'utf8').toString('hex'))
      }),
    )
  })

  it.each(['', '0', 'ab', '0xa', '0xag', '0xga', '0xabzz', '0xab\u0100\u0130', ' 0xab', '0x0xab', '0Xab'])(
    'rejects %j',
    async (text) => {
      const { hexToBytes } = await load()
      expect(hexToBytes(text)).toBeUndefined()
    },
  )
})

it('writes digits at an offset and reports an invalid one', async () => {
  const { putDigits, compareBytes } = await import('../../src/crypto/hex.ts')
  const bytes = new Uint8Array(4)
  expect(putDigits(bytes, 1, '0x0aFf')).toBe(true)
  expect([...bytes]).toEqual([0, 0x0a, 0xff, 0])
  expect(putDigits(bytes, 0, '0x0/')).toBe(false)
  expect(compareBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3))).toBeLessThan(0)
  expect(compareBytes(Uint8Array.of(2, 0), Uint8Array.of(1, 255))).toBeGreaterThan(0)
  expect(compareBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2))).toBe(0)
})
