import { createRequire } from 'node:module'
import { randomBytes } from 'node:crypto'

/**
 * ECDSA on secp256k1 (SEC 2) behind one interface, with three backends that give byte-equal signatures (RFC 6979, low s).
 *
 * All digests and keys are 32 bytes, signatures 64 bytes r‖s, public keys 65 bytes uncompressed.
 */
export interface Secp256k1 {
  readonly backend: BackendName
  readonly isPrivateKey: (key: Uint8Array) => boolean
  readonly publicKey: (privateKey: Uint8Array) => Uint8Array
  readonly sign: (digest: Uint8Array, privateKey: Uint8Array) => { signature: Uint8Array; recoveryId: 0 | 1 }
  /** undefined when no public key fits the signature. */
  readonly recover: (digest: Uint8Array, signature: Uint8Array, recoveryId: 0 | 1) => Uint8Array | undefined
}

export type BackendName = 'native' | 'libauth' | 'noble'

/** In the order of speed: 29, 73 and 300 µs a signature. The first two are libsecp256k1 itself. */
const BACKENDS: Readonly<Record<BackendName, () => Promise<Secp256k1>>> = {
  native: loadNative,
  libauth: loadLibauth,
  noble: loadNoble,
}

/**
 * The fastest backend that works here and passes the self-test.
 *
 * @param preferred asks for one backend; throws when it does not work
 */
export async function loadSecp256k1(preferred?: BackendName): Promise<Secp256k1> {
  const failures: string[] = []
  for (const name of preferred === undefined ? (Object.keys(BACKENDS) as BackendName[]) : [preferred]) {
    try {
      const backend = await BACKENDS[name]()
      selfTest(backend)
      return backend
    } catch (error) {
      failures.push(`${name}: ${(error as Error).message}`)
    }
  }
  throw new Error(`no secp256k1 backend works: ${failures.join('; ')}`)
}

/** libsecp256k1 as a native addon. Its package root falls back to slow, variable-time JavaScript without a word: not so `/bindings`. */
async function loadNative(): Promise<Secp256k1> {
  const native = createRequire(import.meta.url)('secp256k1/bindings')
  native.contextRandomize(randomBytes(32)) // blinds the signing against side channels
  return {
    backend: 'native',
    isPrivateKey: (key) => key.length === 32 && native.privateKeyVerify(key) === 0,
    publicKey(privateKey) {
      const output = new Uint8Array(65)
      if (native.publicKeyCreate(output, privateKey) !== 0) throw new RangeError('not a private key')
      return output
    },
    sign(digest, privateKey) {
      const output = { signature: new Uint8Array(64), recid: 0 }
      if (native.ecdsaSign(output, digest, privateKey) !== 0) throw new RangeError('not a private key')
      return { signature: output.signature, recoveryId: output.recid as 0 | 1 }
    },
    recover(digest, signature, recoveryId) {
      const output = new Uint8Array(65)
      return native.ecdsaRecover(output, signature, recoveryId, digest) === 0 ? output : undefined
    },
  }
}

/** libsecp256k1 compiled to WebAssembly. */
async function loadLibauth(): Promise<Secp256k1> {
  const { instantiateSecp256k1 } = await import('@bitauth/libauth')
  const wasm = await instantiateSecp256k1(randomBytes(32))
  return {
    backend: 'libauth',
    isPrivateKey: (key) => key.length === 32 && wasm.validatePrivateKey(key),
    publicKey: (privateKey) => orThrow(wasm.derivePublicKeyUncompressed(privateKey)),
    sign(digest, privateKey) {
      const result = wasm.signMessageHashRecoverableCompact(privateKey, digest)
      if (typeof result === 'string') throw new RangeError('not a private key')
      return { signature: result.signature, recoveryId: result.recoveryId as 0 | 1 }
    },
    recover(digest, signature, recoveryId) {
      const result = wasm.recoverPublicKeyUncompressed(signature, recoveryId, digest)
      return typeof result === 'string' ? undefined : result
    },
  }
}

/** Plain JavaScript: the last resort. */
async function loadNoble(): Promise<Secp256k1> {
  const { secp256k1 } = await import('@noble/curves/secp256k1.js')
  return {
    backend: 'noble',
    isPrivateKey: (key) => key.length === 32 && secp256k1.utils.isValidSecretKey(key),
    publicKey: (privateKey) => secp256k1.getPublicKey(privateKey, false),
    sign(digest, privateKey) {
      const bytes = secp256k1.sign(digest, privateKey, { prehash: false, lowS: true, format: 'recovered' })
      return { signature: bytes.slice(1), recoveryId: bytes[0] as 0 | 1 }
    },
    recover(digest, signature, recoveryId) {
      try {
        const bytes = new Uint8Array(65)
        bytes[0] = recoveryId
        bytes.set(signature, 1)
        const compressed = secp256k1.recoverPublicKey(bytes, digest, { prehash: false })
        return secp256k1.Point.fromBytes(compressed).toBytes(false)
      } catch {
        return undefined
      }
    },
  }
}

function orThrow(result: Uint8Array | string): Uint8Array {
  if (typeof result === 'string') throw new RangeError('not a private key')
  return result
}

/** Private key 1 over the SHA-256 of "All those moments will be lost in time, like tears in rain. Time to die...". */
function selfTest(backend: Secp256k1): void {
  const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'))
  const key = hex(`${'0'.repeat(63)}1`)
  const digest = hex('c301ba9de5d6053caad9f5eb46523f007702add2c62fa39de03146a36b8026b7')
  // The deterministic signature for this key and text that many implementations publish as their test vector.
  const expected =
    '8600dbd41e348fe5c9465ab92d23e3db8b98b873beecd930736488696438cb6b' +
    '547fe64427496db33bf66019dacbf0039c04199abb0122918601db38a72cfc21'
  const { signature, recoveryId } = backend.sign(digest, key)
  if (Buffer.from(signature).toString('hex') !== expected) throw new Error('self-test: wrong signature')
  const publicKey = Buffer.from(backend.publicKey(key)).toString('hex')
  if (!publicKey.startsWith('0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d9')) {
    throw new Error('self-test: wrong public key')
  }
  const recovered = backend.recover(digest, signature, recoveryId)
  if (recovered === undefined || Buffer.from(recovered).toString('hex') !== publicKey) {
    throw new Error('self-test: wrong recovery')
  }
}
