import { createPublicKey, verify } from 'node:crypto'

/** Verification of Ed25519 signatures (RFC 8032), as devices make them. */
export interface Ed25519 {
  /**
   * Verifies a signature strictly: rejects keys of small order, for which a signature of any message can be forged.
   *
   * @param signature 64 bytes R‖S, S below the order
   * @param publicKey 32 bytes
   * @returns false on malformed arguments, too; never throws
   */
  verify(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean
}

/** Loads the implementation for Node.js: OpenSSL verifies, JavaScript checks the order of the points. Imported on demand. */
export async function loadEd25519(): Promise<Ed25519> {
  const { ed25519 } = await import('@noble/curves/ed25519.js')
  /** Checks that a point is not of small order. Throws on a non-canonical encoding (y ≥ p), which ZIP 215 would accept. */
  const isSound = (point: Uint8Array) => !ed25519.Point.fromBytes(point, false).isSmallOrder()
  return {
    verify(message, signature, publicKey) {
      if (signature.length !== 64 || publicKey.length !== 32) return false
      try {
        const x = Buffer.from(publicKey).toString('base64url')
        const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
        // The points are checked last: in JavaScript that costs more than verifying the signature in OpenSSL.
        return verify(null, message, key, signature) && isSound(publicKey) && isSound(signature.subarray(0, 32))
      } catch {
        return false // not a point on the curve
      }
    },
  }
}
