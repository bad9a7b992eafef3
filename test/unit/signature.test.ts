import { describe, expect, it } from 'vitest'
import { formatSignature, parseSignature } from '../../src/crypto/signature.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const word = (value: bigint) => value.toString(16).padStart(64, '0')
const text = (r: bigint, s: bigint, v: number) => `0x${word(r)}${word(s)}${v.toString(16).padStart(2, '0')}`

describe('parseSignature', () => {
  it('accepts v 0, 1, 27 and 28 and nothing else', () => {
    const accepted = Array.from({ length: 256 }, (_, v) => v).filter((v) => parseSignature(text(1n, 1n, v)).ok)
    expect(accepted).toEqual([0, 1, 27, 28])
    for (const [v, recovery] of [
      [0, 0],
      [1, 1],
      [27, 0],
      [28, 1],
    ] as const) {
      const parsed = parseSignature(text(1n, 1n, v))
      expect(parsed.ok && parsed.signature.recovery).toBe(recovery)
    }
  })

  it('rejects r and s outside the group, and a high s', () => {
    const half = ORDER / 2n
    expect(parseSignature(text(1n, half, 27)).ok).toBe(true)
    expect(parseSignature(text(ORDER - 1n, 1n, 27)).ok).toBe(true)
    expect(parseSignature(text(1n, half + 1n, 27))).toMatchObject({
      ok: false,
      reason: expect.stringContaining('malleable'),
    })
    for (const r of [0n, ORDER, 2n ** 256n - 1n]) expect(parseSignature(text(r, 1n, 27)).ok).toBe(false)
    for (const s of [0n, ORDER, 2n ** 256n - 1n]) expect(parseSignature(text(1n, s, 27)).ok).toBe(false)
  })

  it('accepts 65 bytes of hex in any case and no other length or spelling', () => {
    const good = text(0xabcdefn, 0xfedcban, 27)
    expect(parseSignature(good.toUpperCase().replace('0X', '0x')).ok).toBe(true)
    const compact = good.slice(0, -2)
    for (const bad of [
      '',
      '0x',
      compact,
      `${good}00`,
      good.slice(2),
      `${good}\n`,
      ` ${good}`,
      good.replace('a', 'g'),
      good.toUpperCase(),
    ]) {
      expect(parseSignature(bad).ok, bad).toBe(false)
    }
  })

  it('parses what formatSignature writes', () => {
    for (const recovery of [0, 1] as const) {
      const compact = Buffer.from(text(0x1234n, 0x5678n, 0).slice(2, 130), 'hex')
      const parsed = parseSignature(formatSignature({ compact, recovery }))
      expect(parsed.ok && [Buffer.from(parsed.signature.compact), parsed.signature.recovery]).toEqual([
        compact,
        recovery,
      ])
    }
  })
})
