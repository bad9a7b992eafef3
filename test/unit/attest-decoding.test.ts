import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { describe, expect, it } from 'vitest'
import type { Decoded } from '../../src/attest/abi.ts'
import { decodeBoolean, decodeLocation, decodeMerkleRoot, decodeNumeric, decodeVerify } from '../../src/attest/data.ts'
import { LOCATION_STRINGS, SCHEMA_STRINGS, type SchemaKind } from '../../src/attest/schemas.ts'
import type { Hex } from '../../src/wire/values.ts'
import fc from '../seeded.ts'

const DECODERS: Record<SchemaKind, (data: Hex) => Decoded<unknown>> = {
  numeric: decodeNumeric,
  boolean: decodeBoolean,
  verify: decodeVerify,
  'merkle-root': decodeMerkleRoot,
  location: (data) => decodeLocation(data, 'nine-fields'),
}
const KINDS = Object.keys(DECODERS) as SchemaKind[]

const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size }).map(toHex)
const anyBytes = fc.uint8Array({ maxLength: 70 }).map(toHex)
const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const uint = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n })

function toHex(value: Uint8Array): Hex {
  return `0x${Buffer.from(value).toString('hex')}`
}

/** Random values of a schema's fields, in the order and types that viem expects. */
const VALUES: Record<SchemaKind, fc.Arbitrary<unknown[]>> = {
  numeric: fc.tuple(uint(256), text, fc.array(bytes(32), { maxLength: 4 }), uint(256), text),
  boolean: fc.tuple(fc.boolean(), fc.array(bytes(32), { maxLength: 4 }), uint(256), text),
  verify: fc.tuple(
    bytes(32),
    ...[32, 32].map((bits) => uint(bits).map(Number)),
    ...Array.from({ length: 7 }, () => uint(16).map(Number)),
    uint(8).map(Number),
  ),
  'merkle-root': fc.tuple(
    bytes(32),
    uint(32).map((count) => Math.max(1, Number(count))),
    uint(48).map(Number),
  ),
  location: fc.tuple(
    uint(256),
    text,
    text,
    text,
    fc.array(text, { maxLength: 4 }),
    fc.array(anyBytes, { maxLength: 4 }),
    fc.array(text, { maxLength: 4 }),
    fc.array(text, { maxLength: 4 }),
    text,
  ),
}

function encode(kind: SchemaKind, values: unknown[]): Hex {
  return encodeAbiParameters(parseAbiParameters(SCHEMA_STRINGS[kind]), values as never)
}

describe('decoding attestation data', () => {
  it.each(KINDS)('reads what viem encodes for %s data', (kind) => {
    fc.assert(
      fc.property(VALUES[kind], (values) => {
        const decoded = DECODERS[kind](encode(kind, values))
        expect(decoded.ok && Object.values(decoded.value as object)).toEqual(values)
      }),
      { numRuns: 300 },
    )
  })

  it.each(KINDS)('never throws on random bytes for %s data', (kind) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1500 }), (data) => {
        const decoded = DECODERS[kind](toHex(data))
        expect(typeof decoded.ok).toBe('boolean')
      }),
      { numRuns: 2000 },
    )
  })

  it.each(KINDS)('accepts only one encoding of each value of %s data', (kind) => {
    // A changed byte gives other values or a failure, never the same values.
    fc.assert(
      fc.property(VALUES[kind], fc.nat(), fc.integer({ min: 1, max: 255 }), (values, position, change) => {
        const data = encode(kind, values)
        const changed = Buffer.from(data.slice(2), 'hex')
        changed[position % changed.length]! ^= change
        const decoded = DECODERS[kind](toHex(changed))
        if (decoded.ok) expect(encode(kind, Object.values(decoded.value as object))).toBe(toHex(changed))
      }),
      { numRuns: 2000 },
    )
  })

  it.each(KINDS)('rejects %s data that is truncated or has extra bytes', (kind) => {
    fc.assert(
      fc.property(VALUES[kind], fc.nat(), anyBytes, (values, cut, extra) => {
        const data = encode(kind, values)
        const size = (data.length - 2) / 2
        expect(DECODERS[kind](data.slice(0, 2 + 2 * (cut % size)) as Hex).ok).toBe(false)
        if (extra.length > 2) expect(DECODERS[kind](`${data}${extra.slice(2)}`).ok).toBe(false)
      }),
      { numRuns: 300 },
    )
  })

  it('never accepts the data of one kind as another', () => {
    for (const kind of KINDS) {
      for (const other of KINDS.filter((candidate) => candidate !== kind)) {
        fc.assert(
          fc.property(VALUES[kind], (values) => {
            expect(DECODERS[other](encode(kind, values)).ok).toBe(false)
          }),
          { numRuns: 100 },
        )
      }
    }
  })

  it('rejects a root over no leaves', () => {
    const data = encode('merkle-root', [`0x${'ab'.repeat(32)}`, 0, 1_700_000_000])
    expect(decodeMerkleRoot(data)).toEqual({ ok: false, reason: 'has a leafCount of 0' })
  })

  it('rejects a length that exceeds the bytes before allocating for it', () => {
    const word = (value: bigint) => value.toString(16).padStart(64, '0')
    for (const length of [2n, 2n ** 20n, 2n ** 31n, 2n ** 47n, 2n ** 48n, 2n ** 64n, 2n ** 256n - 1n]) {
      // bool, offset, time, offset, then an array that claims `length` references but holds only one.
      const data: Hex = `0x${word(1n)}${word(128n)}${word(0n)}${word(192n)}${word(length)}${word(7n)}`
      expect(decodeBoolean(data)).toEqual({ ok: false, reason: 'has a length that exceeds its bytes' })
    }
  })

  it('rejects arrays whose items point at the same bytes', () => {
    const word = (value: number) => value.toString(16).padStart(64, '0')
    const twice = encode('location', [0n, '', '', '', ['ab', 'ab'], [], [], [], ''])
    // The items of recipeType: the second offset is set to the first.
    const shared = twice.replace(`${word(64)}${word(128)}`, `${word(64)}${word(64)}`)
    expect(shared).not.toBe(twice)
    expect(decodeLocation(twice, 'nine-fields').ok).toBe(true)
    expect(decodeLocation(shared as Hex, 'nine-fields')).toMatchObject({
      ok: false,
      reason: expect.stringContaining('offset'),
    })
  })

  it('rejects data that is not hex, a bool of 2, text that is not UTF-8 and padding that is not zero', () => {
    for (const data of ['', '0x', '0x0', '0xzz', 'hello', `0X${'0'.repeat(64)}`]) {
      expect(decodeVerify(data as Hex).ok, data).toBe(false)
    }
    const good = encode('boolean', [true, [], 0n, 'abc'])
    expect(decodeBoolean(good).ok).toBe(true)
    expect(decodeBoolean(good.replace(/1/, '2') as Hex)).toMatchObject({ reason: expect.stringContaining('bool') })
    expect(decodeBoolean(good.replace('616263', 'ff6263') as Hex)).toMatchObject({
      reason: expect.stringContaining('UTF-8'),
    })
    expect(decodeBoolean(good.replace(/0$/, '1') as Hex)).toMatchObject({ reason: expect.stringContaining('padding') })
  })

  it('reads the four strings of the older layout, and does not confuse the two layouts', () => {
    const parameters = parseAbiParameters(LOCATION_STRINGS['four-strings'])
    fc.assert(
      fc.property(fc.tuple(text, text, text, text), VALUES.location, (strings, fields) => {
        const data = encodeAbiParameters(parameters, strings)
        const [, srs, locationType, location] = strings
        const expected = {
          srs,
          locationType,
          location,
          recipeType: [],
          recipePayload: [],
          mediaType: [],
          mediaData: [],
        }
        const read = decodeLocation(data, 'four-strings')
        expect(read).toEqual({ ok: true, value: { ...expected, eventTimestampSeconds: undefined, memo: '' } })
        expect(decodeLocation(data, 'nine-fields').ok).toBe(false)
        expect(decodeLocation(encode('location', fields), 'four-strings').ok).toBe(false)
      }),
    )
  })
})
