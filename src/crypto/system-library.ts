import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * File names of libsecp256k1 and their releases, in the order in which they are tried: newer releases have newer defences
 * of the key. A name that is not here is not loaded: how its functions are called is not known.
 */
const RELEASES = [
  ['libsecp256k1.so.6', '0.7'],
  ['libsecp256k1.so.5', '0.6'],
  ['libsecp256k1.so.2', '0.3 to 0.5'],
  ['libsecp256k1.so.1', '0.2'], // Debian 12: libsecp256k1-1
] as const

/** Folders of Debian and its relatives by processor; then those of other distributions. */
const DEBIAN_FOLDERS: Readonly<Record<string, string>> = {
  x64: '/usr/lib/x86_64-linux-gnu',
  arm64: '/usr/lib/aarch64-linux-gnu',
  arm: '/usr/lib/arm-linux-gnueabihf',
  riscv64: '/usr/lib/riscv64-linux-gnu',
  ppc64: '/usr/lib/powerpc64le-linux-gnu',
  s390x: '/usr/lib/s390x-linux-gnu',
}
const OTHER_FOLDERS = ['/usr/lib64', '/usr/lib']

const WRITABLE_BY_OTHERS = 0o022

/** The two questions to the file system; a parameter for tests. Both throw where there is nothing. */
export interface LibraryFiles {
  realpath(path: string): string
  stat(path: string): { readonly uid: number; readonly mode: number }
}

export interface SystemLibrary {
  /** Absolute, without links. */
  readonly path: string
  readonly release: string
}

/**
 * Where the distribution keeps its libsecp256k1. The private key passes through that code, so no search path decides which
 * file it is, and file and folders have to belong to root and to be writable by root alone.
 *
 * @returns what may be loaded, best first, and why the rest may not
 */
export function systemLibraries(
  platform: string = process.platform,
  arch: string = process.arch,
  files: LibraryFiles = { realpath: realpathSync, stat: statSync },
): { readonly found: readonly SystemLibrary[]; readonly refused: readonly string[] } {
  const found: SystemLibrary[] = []
  const refused: string[] = []
  if (platform !== 'linux') return { found, refused }
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
      if (problem !== undefined) refused.push(problem)
      else if (!found.some((other) => other.path === path)) found.push({ path, release })
    }
  }
  return { found, refused }
}

/** Looks at the file and at each folder above it: an account that may write one of them chooses what is loaded. */
function trustProblem(file: string, files: LibraryFiles): string | undefined {
  for (let path = file; ; path = dirname(path)) {
    const { uid, mode } = files.stat(path)
    if (uid !== 0) return `${path}: does not belong to root`
    if ((mode & WRITABLE_BY_OTHERS) !== 0) return `${path}: others than root may write it`
    if (path === dirname(path)) return undefined
  }
}
