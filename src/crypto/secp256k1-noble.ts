import type { Secp256k1 } from './primitives.ts'

/** Loads the JavaScript implementation, the last resort where neither native code nor WebAssembly runs. */
export async function loadNoble(): Promise<Secp256k1> {
  const { secp256k1 } = await import('@noble/curves/secp256k1.js')
  return {
    backend: 'noble',
    library: '@noble/curves',
    sign(digest, privateKey) {
      if (digest.length !== 32) throw new RangeError('digest is not 32 bytes')
      const bytes = secp256k1.sign(digest, requireKey(privateKey), { prehash: false, lowS: true, format: 'recovered' })
      if (bytes[0]! > 1) throw new RangeError('r overflowed the order') // 2⁻¹²⁷
      return { compact: bytes.slice(1), recovery: bytes[0] as 0 | 1 }
    },
    recover(digest, { compact, recovery }) {
      const bytes = new Uint8Array(65)
      bytes[0] = recovery
      bytes.set(compact, 1)
      try {
        const compressed = secp256k1.recoverPublicKey(bytes, digest, { prehash: false })
        return secp256k1.Point.fromBytes(compressed).toBytes(false)
      } catch {
        return undefined
      }
    },
    publicKey: (privateKey) => secp256k1.getPublicKey(requireKey(privateKey), false),
  }

  function requireKey(privateKey: Uint8Array): Uint8Array {
    if (secp256k1.utils.isValidSecretKey(privateKey)) return privateKey
    throw new RangeError('private key is out of range')
  }
}
