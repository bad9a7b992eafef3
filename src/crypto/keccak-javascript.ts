import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from './hex.ts'
import type { Keccak } from './keccak.ts'

/** Synchronous from the first call on and without a thread's instance: for rare, short texts such as an address; and in browsers. */
export function javascriptKeccak(): Keccak {
  return {
    hash: (bytes) => keccak_256(bytes),
    hashInto: (bytes, target, at) => target.set(keccak_256(bytes), at),
    hashHex: (bytes) => `0x${bytesToHex(keccak_256(bytes))}`,
    backend: 'javascript',
  }
}
