import { utf8 } from './hex.ts'
import { javascriptKeccak } from './keccak-javascript.ts'

/** Checksummed spellings, cached: callers use few addresses, and the hash costs more than the rest of a response. */
const MAX_CACHED = 1024
const cache = new Map<string, string>()
const keccak = javascriptKeccak()

/**
 * Spells an address in mixed case, where the case is a checksum (EIP-55).
 *
 * @param address `0x` and 40 hex digits in any case; a wrong checksum is accepted (decision 79)
 * @throws {RangeError} on anything else
 */
export function checksumAddress(address: string): string {
  const cached = cache.get(address)
  if (cached !== undefined) return cached
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw new RangeError('an address is 0x and 40 hex digits')
  const digits = address.slice(2).toLowerCase()
  const hash = keccak.hash(utf8(digits))
  let text = '0x'
  for (let index = 0; index < 40; index++) {
    const nibble = (hash[index >> 1]! >> (index % 2 === 0 ? 4 : 0)) & 15
    text += nibble >= 8 ? digits[index]!.toUpperCase() : digits[index]
  }
  if (cache.size >= MAX_CACHED) cache.clear()
  cache.set(address, text)
  return text
}
