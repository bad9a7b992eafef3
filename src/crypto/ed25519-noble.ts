import type { Ed25519 } from './ed25519.ts'

/**
 * Loads the JavaScript implementation, for browsers: ten times slower and exactly as strict. The library is imported on demand.
 */
export async function loadNobleEd25519(): Promise<Ed25519> {
  const { ed25519 } = await import('@noble/curves/ed25519.js')
  const isSound = (point: Uint8Array) => !ed25519.Point.fromBytes(point, false).isSmallOrder()
  return {
    verify(message, signature, publicKey) {
      if (signature.length !== 64 || publicKey.length !== 32) return false
      try {
        const isSigned = ed25519.verify(signature, message, publicKey, { zip215: false })
        return isSigned && isSound(publicKey) && isSound(signature.subarray(0, 32))
      } catch {
        return false // not a point on the curve
      }
    },
  }
}
