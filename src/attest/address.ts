import { javascriptKeccak } from '../crypto/keccak.ts'

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`
const keccak = javascriptKeccak()

/**
 * Mixed-case spelling of an address, whose case carries a checksum (EIP-55).
 *
 * @param address `0x` and 40 hex digits in any case; a wrong checksum in it is not looked at (decision 79)
 * @throws {RangeError} on anything else
 */
export function checksumAddress(address: string): string {
  if (address === ZERO_ADDRESS) return address // what most answers carry: spares a hash
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw new RangeError('an address is 0x and 40 hex digits')
  const digits = address.slice(2).toLowerCase()
  const hash = keccak.hash(Buffer.from(digits, 'latin1'))
  let text = '0x'
  for (let index = 0; index < 40; index++) {
    const nibble = (hash[index >> 1]! >> (index % 2 === 0 ? 4 : 0)) & 15
    text += nibble >= 8 ? digits[index]!.toUpperCase() : digits[index]
  }
  return text
}
