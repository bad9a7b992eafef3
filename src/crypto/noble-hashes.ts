import { sha256 as hash } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from './hex.ts'
import type { Keccak } from './primitives.ts'

/** Creates the JavaScript implementation, without waiting: for browsers, and for rare, short inputs such as an address. */
export function javascriptKeccak(): Keccak {
  return {
    hash: (bytes) => keccak_256(bytes),
    hashInto: (bytes, target, at) => target.set(keccak_256(bytes), at),
    hashHex: (bytes) => `0x${bytesToHex(keccak_256(bytes))}`,
    backend: 'javascript',
  }
}

/** Computes SHA-256 (FIPS 180-4), 32 bytes. Synchronous; works in browsers too. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return hash(bytes)
}
