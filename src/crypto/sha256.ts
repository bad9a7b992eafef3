import { sha256 as hash } from '@noble/hashes/sha2.js'

/** SHA-256 (FIPS 180-4), 32 bytes; in browsers too, and without waiting. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return hash(bytes)
}
