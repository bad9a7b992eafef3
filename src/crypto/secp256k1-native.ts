import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import type { Secp256k1 } from './primitives.ts'

/** The part of the package's interface that is used here; the package ships no types. */
interface Addon {
  contextRandomize(seed: Uint8Array): void
  privateKeyVerify(privateKey: Uint8Array): boolean
  publicKeyCreate(privateKey: Uint8Array, compressed: boolean): Uint8Array
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: number }
  ecdsaRecover(compact: Uint8Array, recovery: number, digest: Uint8Array, compressed: boolean): Uint8Array
}

/**
 * Loads libsecp256k1 as a native addon, constant time.
 *
 * Imports `secp256k1/bindings`, never the package's root: on platforms without a prebuilt addon (linux-arm64, darwin-x64) the
 * root silently falls back to elliptic, which is not constant time and not faster than our next backend.
 *
 * @throws {Error} when there is no addon for this platform
 */
export async function loadNative(): Promise<Secp256k1> {
  const require = createRequire(import.meta.url)
  const addon = require('secp256k1/bindings') as Addon
  const { version } = require('secp256k1/package.json') as { version: string }
  addon.contextRandomize(randomBytes(32))
  return {
    backend: 'native',
    library: `secp256k1 ${version}`,
    sign(digest, privateKey) {
      if (digest.length !== 32) throw new RangeError('digest is not 32 bytes')
      if (privateKey.length !== 32 || !addon.privateKeyVerify(privateKey))
        throw new RangeError('private key is out of range')
      const { signature, recid } = addon.ecdsaSign(digest, privateKey)
      if (recid > 1) throw new RangeError('r overflowed the order') // 2⁻¹²⁷
      return { compact: signature, recovery: recid as 0 | 1 }
    },
    recover(digest, { compact, recovery }) {
      try {
        return addon.ecdsaRecover(compact, recovery, digest, false)
      } catch {
        return undefined
      }
    },
    publicKey(privateKey) {
      if (privateKey.length !== 32 || !addon.privateKeyVerify(privateKey))
        throw new RangeError('private key is out of range')
      return addon.publicKeyCreate(privateKey, false)
    },
  }
}
