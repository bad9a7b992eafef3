import { randomBytes } from 'node:crypto'
import type { Secp256k1 } from './primitives.ts'

/**
 * Loads libsecp256k1 compiled to WebAssembly: the same algorithm on every platform, without native code.
 *
 * The package is imported on demand, because that takes 0.1 s.
 */
export async function loadLibauth(): Promise<Secp256k1> {
  const { instantiateSecp256k1 } = await import('@bitauth/libauth')
  const library = await instantiateSecp256k1(randomBytes(32)) // the seed blinds the context
  return {
    backend: 'libauth',
    library: '@bitauth/libauth',
    sign(digest, privateKey) {
      if (digest.length !== 32) throw new RangeError('digest is not 32 bytes')
      const signed = library.signMessageHashRecoverableCompact(requireKey(privateKey), digest)
      if (typeof signed === 'string') throw new RangeError(signed)
      if (signed.recoveryId > 1) throw new RangeError('r overflowed the order') // 2⁻¹²⁷
      return { compact: signed.signature, recovery: signed.recoveryId as 0 | 1 }
    },
    recover(digest, { compact, recovery }) {
      const publicKey = library.recoverPublicKeyUncompressed(compact, recovery, digest)
      return typeof publicKey === 'string' ? undefined : publicKey
    },
    publicKey(privateKey) {
      const publicKey = library.derivePublicKeyUncompressed(requireKey(privateKey))
      if (typeof publicKey === 'string') throw new RangeError(publicKey)
      return publicKey
    },
  }

  function requireKey(privateKey: Uint8Array): Uint8Array {
    if (privateKey.length === 32 && library.validatePrivateKey(privateKey)) return privateKey
    throw new RangeError('private key is out of range')
  }
}
