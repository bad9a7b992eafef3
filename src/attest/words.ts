/** The 32-byte words of which ABI encodings and EIP-712 structures are made, written in place. */

/**
 * Right-aligned in its word: addresses and full words alike. Every other bit of the word has to be zero already.
 *
 * @param index of the word
 * @throws {RangeError} on anything but 20 or 32 bytes of hex
 */
export function putHex(words: Buffer, index: number, hex: string): void {
  const bytes = (hex.length - 2) / 2
  const written = words.write(hex.slice(2), index * 32 + 32 - bytes, bytes, 'hex')
  if (written !== bytes || (bytes !== 20 && bytes !== 32))
    throw new RangeError('a field is neither 20 nor 32 bytes of hex')
}

/**
 * @param value 0 … 2⁴⁸−1
 * @throws {RangeError} on anything else
 */
export function putUint(words: Buffer, index: number, value: number): void {
  words.writeUIntBE(value, index * 32 + 26, 6)
}
