import { utf8 } from '../crypto/hex.ts'
import { javascriptKeccak } from '../crypto/keccak-javascript.ts'

/** Spellings made lately: callers name few addresses, and a hash costs more than the rest of an answer. */
const MAX_KNOWN = 1024
const known = new Map<string, string>()
const keccak = javascriptKeccak()

/**
 * Mixed-case spelling of an address, whose case carries a checksum (EIP-55).
 *
 * @param address `0x` and 40 hex digits in any case; a wrong checksum in it is not looked at (decision 79)
 * @throws {RangeError} on anything else
 */
export function checksumAddress(address: string): string {
  const spelled = known.get(address)
  if (spelled !== undefined) return spelled
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw new RangeError('an address is 0x and 40 hex digits')
  const digits = address.slice(2).toLowerCase()
  const hash = keccak.hash(utf8(digits))
  let text = '0x'
  for (let index = 0; index < 40; index++) {
    const nibble = (hash[index >> 1]! >> (index % 2 === 0 ? 4 : 0)) & 15
    text += nibble >= 8 ? digits[index]!.toUpperCase() : digits[index]
  }
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(address, text)
  return text
}
