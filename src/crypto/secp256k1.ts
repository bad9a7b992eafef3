import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { loadNoble } from './noble.ts'
import type { Secp256k1, Secp256k1Backend } from './primitives.ts'
import { loadSystem } from './secp256k1-system.ts'

/** Fastest first: the others take 1.4, 4.5 and 21 times as long for a signature. The first three are libsecp256k1. */
const LOADERS: Readonly<Record<Secp256k1Backend, () => Promise<Secp256k1>>> = {
  system: loadSystem,
  native: loadNative,
  libauth: loadLibauth,
  noble: loadNoble,
}
const ALL = Object.keys(LOADERS) as Secp256k1Backend[]

/**
 * Backends for threads that may be terminated at any moment. The addon is left out: it throws when it returns to a thread that is
 * being terminated, which ends the process.
 */
export const TERMINABLE_BACKENDS: readonly Secp256k1Backend[] = ALL.filter((name) => name !== 'native')

/**
 * Loads the first backend that works on this machine and passes the self-test.
 *
 * @param names backends in the order in which they are tried; by default all, fastest first
 * @throws {Error} when none works, with the reason for each
 */
export async function loadSecp256k1(names: readonly Secp256k1Backend[] = ALL): Promise<Secp256k1> {
  const failures: string[] = []
  for (const name of names) {
    try {
      const backend = await LOADERS[name]()
      selfTest(backend)
      return backend
    } catch (error) {
      failures.push(`${name}: ${(error as Error).message}`)
    }
  }
  throw new Error(`no secp256k1 backend works: ${failures.join('; ')}`)
}

/** Signs the SHA-256 of a sentence with private key 1, an RFC 6979 vector that many implementations publish. */
function selfTest(backend: Secp256k1): void {
  const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'))
  const privateKey = hex(`${'0'.repeat(63)}1`)
  const digest = hex('7d1833f54854ac51659521afcd0ec6dca2ce2351429614bfa28a756b1b3c637f')
  const expected =
    '8600dbd41e348fe5c9465ab92d23e3db8b98b873beecd930736488696438cb6b' +
    '547fe64427496db33bf66019dacbf0039c04199abb0122918601db38a72cfc21'
  const signed = backend.sign(digest, privateKey)
  if (Buffer.from(signed.compact).toString('hex') !== expected) throw new Error('self-test: wrong signature')
  const publicKey = Buffer.from(backend.publicKey(privateKey))
  // The generator of the group is the public key of 1.
  const generatorX = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
  if (publicKey.subarray(1, 33).toString('hex') !== generatorX) throw new Error('self-test: wrong public key')
  const recovered = backend.recover(digest, signed)
  if (recovered === undefined || !publicKey.equals(recovered)) throw new Error('self-test: wrong recovery')
}

/** The part of the package's interface that is used here; the package ships no types. */
interface Addon {
  contextRandomize(seed: Uint8Array): void
  privateKeyVerify(privateKey: Uint8Array): boolean
  publicKeyCreate(privateKey: Uint8Array, compressed: boolean): Uint8Array
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: number }
  ecdsaRecover(compact: Uint8Array, recovery: number, digest: Uint8Array, compressed: boolean): Uint8Array
}

/**
 * Loads libsecp256k1 as a native addon, which signs in constant time.
 *
 * Imports `secp256k1/bindings`, never the package's root: on platforms without a prebuilt addon (linux-arm64, darwin-x64) the
 * root silently falls back to elliptic, which is not constant time and not faster than our next backend.
 *
 * @throws {Error} when there is no addon for this platform
 */
async function loadNative(): Promise<Secp256k1> {
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
      if (recid > 1) throw new RangeError('r overflowed the order') // happens with probability 2⁻¹²⁷
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

/**
 * Loads libsecp256k1 compiled to WebAssembly: the same algorithm on every platform, without native code.
 *
 * The package is imported on demand, because that takes 0.1 s.
 */
async function loadLibauth(): Promise<Secp256k1> {
  const { instantiateSecp256k1 } = await import('@bitauth/libauth')
  const library = await instantiateSecp256k1(randomBytes(32)) // the seed blinds the context
  return {
    backend: 'libauth',
    library: '@bitauth/libauth',
    sign(digest, privateKey) {
      if (digest.length !== 32) throw new RangeError('digest is not 32 bytes')
      const signed = library.signMessageHashRecoverableCompact(requireKey(privateKey), digest)
      if (typeof signed === 'string') throw new RangeError(signed)
      if (signed.recoveryId > 1) throw new RangeError('r overflowed the order') // happens with probability 2⁻¹²⁷
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
