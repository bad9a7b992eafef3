/**
 * Recursive length prefix (RLP), the encoding of Ethereum's transactions (Yellow Paper, appendix B): bytes, or a list of items.
 */
export type RlpItem = Uint8Array | readonly RlpItem[]

/** Encodes an item in its only valid form. */
export function encodeRlp(item: RlpItem): Buffer {
  if (item instanceof Uint8Array) {
    const isItsOwnEncoding = item.length === 1 && item[0]! < 0x80
    return isItsOwnEncoding ? Buffer.from(item) : Buffer.concat([prefix(0x80, item.length), item])
  }
  const body = Buffer.concat(item.map(encodeRlp))
  return Buffer.concat([prefix(0xc0, body.length), body])
}

/**
 * Returns an integer in the form that RLP requires: big-endian, without leading zeros, 0 as no bytes.
 *
 * @throws {RangeError} on a negative integer
 */
export function rlpInteger(value: number | bigint): Buffer {
  if (value < 0) throw new RangeError(`${value} is negative`)
  const digits = value.toString(16)
  return BigInt(value) === 0n ? Buffer.alloc(0) : Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

function prefix(base: number, length: number): Buffer {
  if (length < 56) return Buffer.from([base + length])
  const size = rlpInteger(length)
  return Buffer.concat([Buffer.from([base + 55 + size.length]), size])
}
