import type { Hex } from '../wire/values.ts'
import { utf8 } from './hex.ts'
import { javascriptKeccak } from './noble.ts'
import type { Keccak, Secp256k1 } from './primitives.ts'
import type { RecoverableSignature } from './signature.ts'

/** Size of the cache of checksummed addresses. Callers use few, and the hash costs more than the rest of a response. */
const MAX_CACHED = 1024
const cache = new Map<string, string>()
const keccak = javascriptKeccak()

/**
 * Formats an address in mixed case, where the case is a checksum (EIP-55).
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

/**
 * Computes the address of a public key: the last 20 bytes of its keccak-256, lower case.
 *
 * @param publicKey 65 bytes 04‖x‖y
 */
export function publicKeyAddress(publicKey: Uint8Array, keccak: Keccak): Hex {
  return `0x${keccak.hashHex(publicKey.subarray(1)).slice(26)}`
}

/**
 * Recovers the signer of a digest.
 *
 * @param digest 32 bytes
 * @returns the signer's address, lower case, or undefined when no public key fits the signature
 */
export function recoverAddress(
  digest: Uint8Array,
  signature: RecoverableSignature,
  secp256k1: Secp256k1,
  keccak: Keccak,
): Hex | undefined {
  const publicKey = secp256k1.recover(digest, signature)
  return publicKey === undefined ? undefined : publicKeyAddress(publicKey, keccak)
}
