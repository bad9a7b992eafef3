import { randomBytes } from 'node:crypto'
import type { LibraryHandle } from 'koffi'
import type { Secp256k1 } from './secp256k1.ts'
import { type SystemLibrary, systemLibraries } from './system-library.ts'

// secp256k1.h: SECP256K1_CONTEXT_NONE, SECP256K1_EC_UNCOMPRESSED.
const CONTEXT_NONE = 1
const UNCOMPRESSED = 2
const PUBLIC_KEY_BYTES = 65
/** Its own forms of a signature with its recovery id and of a public key: opaque, kept for one call. */
const OPAQUE_SIGNATURE_BYTES = 65
const OPAQUE_PUBLIC_KEY_BYTES = 64

/**
 * The libsecp256k1 of the operating system, constant time: it signs 1.4 times as fast as the older one in the addon, its
 * distributor mends it, and it is there on processors for which the addon is not built.
 *
 * An argument that it calls illegal ends the process, so lengths and the recovery id are checked here before each call.
 *
 * @throws when the system has none with the recovery module that can be trusted
 */
export async function loadSystem(): Promise<Secp256k1> {
  const { default: koffi } = await import('koffi')
  // An absolute path: the loader of the system then asks neither LD_LIBRARY_PATH nor its own search path.
  const { file, functions: library } = firstOf((path) => functionsOf(koffi.load(path)))
  const context: unknown = library.createContext(CONTEXT_NONE)
  library.randomize(context, randomBytes(32)) // blinds it
  const opaqueSignature = new Uint8Array(OPAQUE_SIGNATURE_BYTES)
  const opaqueKey = new Uint8Array(OPAQUE_PUBLIC_KEY_BYTES)
  const recoveryId = new Int32Array(1)
  const outputLength = new BigUint64Array(1)
  return {
    backend: 'system',
    library: `libsecp256k1 ${file.release}, ${file.path}`,
    sign(digest, privateKey) {
      if (digest.length !== 32) throw new RangeError('digest is not 32 bytes')
      if (privateKey.length !== 32 || library.sign(context, opaqueSignature, digest, privateKey, null, null) !== 1)
        throw new RangeError('private key is out of range')
      const compact = new Uint8Array(64)
      library.toCompact(context, compact, recoveryId, opaqueSignature)
      const recovery = recoveryId[0]!
      if (recovery > 1) throw new RangeError('r overflowed the order') // 2⁻¹²⁷
      return { compact, recovery: recovery as 0 | 1 }
    },
    recover(digest, { compact, recovery }) {
      if (digest.length !== 32 || compact.length !== 64 || (recovery !== 0 && recovery !== 1)) return undefined
      if (library.fromCompact(context, opaqueSignature, compact, recovery) !== 1) return undefined
      if (library.recover(context, opaqueKey, opaqueSignature, digest) !== 1) return undefined
      return uncompressed()
    },
    publicKey(privateKey) {
      if (privateKey.length !== 32 || library.createKey(context, opaqueKey, privateKey) !== 1)
        throw new RangeError('private key is out of range')
      return uncompressed()
    },
  }

  function uncompressed(): Uint8Array {
    const output = new Uint8Array(PUBLIC_KEY_BYTES)
    outputLength[0] = BigInt(PUBLIC_KEY_BYTES)
    library.serializeKey(context, output, outputLength, opaqueKey, UNCOMPRESSED)
    return output
  }
}

/** @throws when it was built without the recovery module */
function functionsOf(library: LibraryHandle) {
  return {
    createContext: library.func('void *secp256k1_context_create(unsigned int flags)'),
    randomize: library.func('int secp256k1_context_randomize(void *context, const uint8_t *seed)'),
    sign: library.func(
      'int secp256k1_ecdsa_sign_recoverable(const void *context, uint8_t *signature, const uint8_t *digest, const uint8_t *key, void *nonce, void *data)',
    ),
    toCompact: library.func(
      'int secp256k1_ecdsa_recoverable_signature_serialize_compact(const void *context, uint8_t *compact, int *recovery, const uint8_t *signature)',
    ),
    fromCompact: library.func(
      'int secp256k1_ecdsa_recoverable_signature_parse_compact(const void *context, uint8_t *signature, const uint8_t *compact, int recovery)',
    ),
    recover: library.func(
      'int secp256k1_ecdsa_recover(const void *context, uint8_t *key, const uint8_t *signature, const uint8_t *digest)',
    ),
    createKey: library.func(
      'int secp256k1_ec_pubkey_create(const void *context, uint8_t *key, const uint8_t *privateKey)',
    ),
    serializeKey: library.func(
      'int secp256k1_ec_pubkey_serialize(const void *context, uint8_t *output, size_t *length, const uint8_t *key, unsigned int flags)',
    ),
  }
}

function firstOf<T>(load: (path: string) => T): { readonly file: SystemLibrary; readonly functions: T } {
  const { found, refused } = systemLibraries()
  for (const file of found) {
    try {
      return { file, functions: load(file.path) }
    } catch {
      // Another release may be there.
    }
  }
  const reasons = refused.length > 0 ? ` (${refused.join('; ')})` : ''
  throw new Error(`this system has no libsecp256k1 of release 0.2 to 0.7 with the recovery module${reasons}`)
}
