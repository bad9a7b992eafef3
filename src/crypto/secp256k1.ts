import { loadLibauth } from './secp256k1-libauth.ts'
import { loadNative } from './secp256k1-native.ts'
import { loadNoble } from './secp256k1-noble.ts'
import { loadSystem } from './secp256k1-system.ts'
import type { RecoverableSignature } from './signature.ts'

export type Secp256k1Backend = 'system' | 'native' | 'libauth' | 'noble'

/**
 * ECDSA on secp256k1 (SEC 2) behind one interface. All backends give byte-equal signatures: RFC 6979, low s; but for digests
 * beyond the order of the group, 2⁻¹²⁸ of them, which older releases of libsecp256k1 do not reduce for the nonce.
 * Digests and private keys are 32 bytes, public keys 65 bytes (uncompressed).
 */
export interface Secp256k1 {
  readonly backend: Secp256k1Backend
  /** What signs, for the operator: the package, or the system's library; native code with its version. */
  readonly library: string
  /** @throws {RangeError} on a digest that is not 32 bytes or a key outside 1..n-1 */
  sign(digest: Uint8Array, privateKey: Uint8Array): RecoverableSignature
  /** undefined when no public key fits the signature. */
  recover(digest: Uint8Array, signature: RecoverableSignature): Uint8Array | undefined
  /** @throws {RangeError} on a key outside 1..n-1 */
  publicKey(privateKey: Uint8Array): Uint8Array
}

/** In the order of speed: of the first 1.4, 4.5 and 21 times the time for a signature. Three are libsecp256k1 itself. */
const LOADERS: Readonly<Record<Secp256k1Backend, () => Promise<Secp256k1>>> = {
  system: loadSystem,
  native: loadNative,
  libauth: loadLibauth,
  noble: loadNoble,
}
const ALL = Object.keys(LOADERS) as Secp256k1Backend[]

/**
 * For threads that may be ended at any moment: the addon throws when it returns to a thread that ends, and that ends the
 * process.
 */
export const ENDABLE_BACKENDS: readonly Secp256k1Backend[] = ALL.filter((name) => name !== 'native')

/**
 * The fastest backend that loads here and passes the self-test.
 *
 * @param names in the order in which they are tried
 * @throws {Error} when none works, with the reason of each
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

/** Private key 1 over SHA-256 of a sentence: the RFC 6979 signature many implementations publish as their vector. */
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
