import type { Hex } from '../wire/messages.ts'
import type { Keccak } from './keccak.ts'
import type { Secp256k1 } from './secp256k1.ts'
import type { RecoverableSignature } from './signature.ts'

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
