import { sha256 as hash } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Ed25519 } from './ed25519.ts'
import { bytesToHex } from './hex.ts'
import type { Keccak, Secp256k1 } from './primitives.ts'

/** Creates keccak-256 in JavaScript, synchronously: for browsers, and for rare, short inputs such as an address. */
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

/** Loads secp256k1 in JavaScript, the last resort where neither native code nor WebAssembly runs. */
export async function loadNoble(): Promise<Secp256k1> {
  const { secp256k1 } = await import('@noble/curves/secp256k1.js')
  return {
    backend: 'noble',
    library: '@noble/curves',
    sign(digest, privateKey) {
      if (digest.length !== 32) throw new RangeError('digest is not 32 bytes')
      const bytes = secp256k1.sign(digest, requireKey(privateKey), { prehash: false, lowS: true, format: 'recovered' })
      if (bytes[0]! > 1) throw new RangeError('r overflowed the order') // happens with probability 2⁻¹²⁷
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

/**
 * Loads Ed25519 in JavaScript, for browsers: ten times slower than `loadEd25519` and exactly as strict. The library is imported
 * on demand.
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
