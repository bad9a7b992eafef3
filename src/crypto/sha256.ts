import { sha256 as hash } from '@noble/hashes/sha2.js'

/** Computes SHA-256 (FIPS 180-4), 32 bytes. Synchronous; works in browsers too. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return hash(bytes)
}
