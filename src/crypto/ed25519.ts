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

/** Loads the implementation for Node.js: OpenSSL verifies, and the order of the points is checked by their bytes. Imported on demand. */
export async function loadEd25519(): Promise<Ed25519> {
  const { ED25519_TORSION_SUBGROUP } = await import('@noble/curves/ed25519.js')
  const smallOrder = new Set(ED25519_TORSION_SUBGROUP.map((point) => withoutSign(Buffer.from(point, 'hex'))))
  /** Checks that a point of the curve is not of small order, and that its encoding is canonical, which ZIP 215 would not require. */
  const isSound = (point: Uint8Array) => isCanonical(point) && !smallOrder.has(withoutSign(point))
  return {
    verify(message, signature, publicKey) {
      if (signature.length !== 64 || publicKey.length !== 32) return false
      if (!isSound(publicKey) || !isSound(signature.subarray(0, 32))) return false
      try {
        const x = Buffer.from(publicKey).toString('base64url')
        const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
        return verify(null, message, key, signature)
      } catch {
        return false // not a point on the curve
      }
    },
  }
}

/** Returns an encoded point without the sign of its x, in hex. */
function withoutSign(point: Uint8Array): string {
  const bytes = Buffer.from(point)
  bytes[31]! &= 0x7f
  return bytes.toString('hex')
}

/** Whether the encoded y, 255 bits with the lowest byte first, is below the prime 2²⁵⁵ − 19. */
function isCanonical(point: Uint8Array): boolean {
  const isAllOnes = (point[31]! & 0x7f) === 0x7f && point.subarray(1, 31).every((byte) => byte === 0xff)
  return !isAllOnes || point[0]! < 0xed
}
