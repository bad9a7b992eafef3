/** The interfaces of the cryptographic primitives. Several backends implement each of them. */

import type { Hex } from '../wire/values.ts'
import type { RecoverableSignature } from './signature.ts'

/** keccak-256 as Ethereum uses it, with the padding from before FIPS 202. One instance per thread; every call is synchronous. */
export interface Keccak {
  /** @returns a new array of 32 bytes, never a view of a shared buffer */
  hash(bytes: Uint8Array): Uint8Array
  /** Writes the 32 bytes of the hash to `target`, from offset `at` on. */
  hashInto(bytes: Uint8Array, target: Uint8Array, at: number): void
  hashHex(bytes: Uint8Array): Hex
  readonly backend: 'wasm' | 'javascript'
}

export type Secp256k1Backend = 'system' | 'native' | 'libauth' | 'noble'

/**
 * ECDSA on secp256k1 (SEC 2) behind one interface. All backends give byte-equal signatures (RFC 6979, low s). The exception is
 * digests above the order of the group, one in 2¹²⁸, which older releases of libsecp256k1 do not reduce for the nonce.
 * Digests and private keys are 32 bytes, public keys 65 bytes (uncompressed).
 */
export interface Secp256k1 {
  readonly backend: Secp256k1Backend
  /** Shown to the operator: the package, or the path of the system's library; with the version for native code. */
  readonly library: string
  /** @throws {RangeError} on a digest that is not 32 bytes or a key outside 1..n-1 */
  sign(digest: Uint8Array, privateKey: Uint8Array): RecoverableSignature
  /** Recovers the public key; undefined when no public key fits the signature. */
  recover(digest: Uint8Array, signature: RecoverableSignature): Uint8Array | undefined
  /** Derives the public key. @throws {RangeError} on a key outside 1..n-1 */
  publicKey(privateKey: Uint8Array): Uint8Array
}
