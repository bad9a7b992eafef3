import { createPublicKey, verify } from 'node:crypto'

/** Ed25519 (RFC 8032) with a key a device holds. */
export interface Ed25519 {
  /**
   * Strict: a key of small order, which would sign anything for anybody, verifies nothing.
   *
   * @param signature 64 bytes R‖S, S below the order
   * @param publicKey 32 bytes
   */
  verify(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean
}

/** OpenSSL verifies; whether the key is a point of large order is asked in JavaScript. Loaded on demand. */
export async function loadEd25519(): Promise<Ed25519> {
  const { ed25519 } = await import('@noble/curves/ed25519.js')
  /** Canonical encodings alone (zip215 would take y ≥ p). */
  const isSound = (point: Uint8Array) => !ed25519.Point.fromBytes(point, false).isSmallOrder()
  return {
    verify(message, signature, publicKey) {
      if (signature.length !== 64 || publicKey.length !== 32) return false
      try {
        const x = Buffer.from(publicKey).toString('base64url')
        const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
        // The points are looked at last: in JavaScript that costs more than the signature.
        return verify(null, message, key, signature) && isSound(publicKey) && isSound(signature.subarray(0, 32))
      } catch {
        return false // not a point of the curve
      }
    },
  }
}
