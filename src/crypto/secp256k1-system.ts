import { randomBytes } from 'node:crypto'
import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { LibraryHandle } from 'koffi'
import type { Secp256k1 } from './primitives.ts'

/**
 * File names of libsecp256k1 and their releases, in the order in which they are tried. Newer ones come first, because they
 * protect the key better. Files with other names are not loaded, because their function signatures are unknown.
 */
const RELEASES = [
  ['libsecp256k1.so.6', '0.7'],
  ['libsecp256k1.so.5', '0.6'],
  ['libsecp256k1.so.2', '0.3 to 0.5'],
  ['libsecp256k1.so.1', '0.2'], // Debian 12: libsecp256k1-1
] as const

/** Library folders of Debian and its derivatives, by processor. */
const DEBIAN_FOLDERS: Readonly<Record<string, string>> = {
  x64: '/usr/lib/x86_64-linux-gnu',
  arm64: '/usr/lib/aarch64-linux-gnu',
  arm: '/usr/lib/arm-linux-gnueabihf',
  riscv64: '/usr/lib/riscv64-linux-gnu',
  ppc64: '/usr/lib/powerpc64le-linux-gnu',
  s390x: '/usr/lib/s390x-linux-gnu',
}
/** Library folders of other distributions. */
const OTHER_FOLDERS = ['/usr/lib64', '/usr/lib']

const WRITABLE_BY_OTHERS = 0o022

/** The file system calls that are needed; a parameter for tests. Both throw when there is no file. */
export interface LibraryFiles {
  realpath(path: string): string
  stat(path: string): { readonly uid: number; readonly mode: number }
}

interface SystemLibrary {
  /** Absolute, with symbolic links resolved. */
  readonly path: string
  readonly release: string
}

/**
 * Finds the distribution's libsecp256k1. That code gets the private key, so no search path is used, and the file and all folders
 * above it must belong to root and be writable only by root.
 *
 * @returns `trusted`: files that may be loaded, best first; `rejected`: why other files may not
 */
export function findSystemLibraries(
  platform: string = process.platform,
  arch: string = process.arch,
  files: LibraryFiles = { realpath: realpathSync, stat: statSync },
): { readonly trusted: readonly SystemLibrary[]; readonly rejected: readonly string[] } {
  const trusted: SystemLibrary[] = []
  const rejected: string[] = []
  if (platform !== 'linux') return { trusted, rejected }
  const debian = DEBIAN_FOLDERS[arch]
  const folders = debian === undefined ? OTHER_FOLDERS : [debian, ...OTHER_FOLDERS]
  for (const [name, release] of RELEASES) {
    for (const folder of folders) {
      let path: string
      try {
        path = files.realpath(`${folder}/${name}`)
      } catch {
        continue
      }
      const problem = trustProblem(path, files)
      if (problem !== undefined) rejected.push(problem)
      else if (!trusted.some((other) => other.path === path)) trusted.push({ path, release })
    }
  }
  return { trusted, rejected }
}

/** Checks the file and each folder above it: an account that can write to one of them could replace the library. */
function trustProblem(file: string, files: LibraryFiles): string | undefined {
  for (let path = file; ; path = dirname(path)) {
    const { uid, mode } = files.stat(path)
    if (uid !== 0) return `${path}: does not belong to root`
    if ((mode & WRITABLE_BY_OTHERS) !== 0) return `${path}: accounts other than root may write to it`
    if (path === dirname(path)) return undefined
  }
}

// secp256k1.h: SECP256K1_CONTEXT_NONE, SECP256K1_EC_UNCOMPRESSED.
const CONTEXT_NONE = 1
const UNCOMPRESSED = 2
const PUBLIC_KEY_BYTES = 65
/** Sizes of the library's opaque types `secp256k1_ecdsa_recoverable_signature` and `secp256k1_pubkey`. */
const OPAQUE_SIGNATURE_BYTES = 65
const OPAQUE_PUBLIC_KEY_BYTES = 64

/**
 * Loads the libsecp256k1 of the operating system, which signs in constant time. It is 1.4 times as fast as the older version in the
 * addon, gets security updates from the distribution, and exists for processors for which the addon is not built.
 *
 * The library ends the process on an illegal argument, so lengths and the recovery id are checked before each call.
 *
 * @throws {Error} when the system has no such library with the recovery module, or only files that cannot be trusted
 */
export async function loadSystem(): Promise<Secp256k1> {
  const { default: koffi } = await import('koffi')
  // The path is absolute, so the system's loader uses neither LD_LIBRARY_PATH nor its own search path.
  const { file, functions: library } = loadFirst((path) => bindFunctions(koffi.load(path)))
  const context: unknown = library.createContext(CONTEXT_NONE)
  library.randomize(context, randomBytes(32)) // blinds the context
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
      if (recovery > 1) throw new RangeError('r overflowed the order') // happens with probability 2⁻¹²⁷
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

/** Binds the functions that are used here. @throws {Error} when the library was built without the recovery module */
function bindFunctions(library: LibraryHandle) {
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

/** Loads the first trusted library that works. @throws {Error} with the files that were rejected */
function loadFirst<T>(load: (path: string) => T): { readonly file: SystemLibrary; readonly functions: T } {
  const { trusted, rejected } = findSystemLibraries()
  for (const file of trusted) {
    try {
      return { file, functions: load(file.path) }
    } catch {
      // Another release may work.
    }
  }
  const reasons = rejected.length > 0 ? ` (${rejected.join('; ')})` : ''
  throw new Error(`this system has no libsecp256k1 of release 0.2 to 0.7 with the recovery module${reasons}`)
}
