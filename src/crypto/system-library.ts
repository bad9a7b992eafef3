import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

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

export interface SystemLibrary {
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
