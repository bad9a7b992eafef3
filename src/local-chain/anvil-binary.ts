import { accessSync, constants, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'

const PACKAGE_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** Returns the name of the npm package with anvil for a platform, e.g. `@foundry-rs/anvil-linux-amd64`. */
export function anvilPackage(platform: string, architecture: string): string {
  return `@foundry-rs/anvil-${platform}-${PACKAGE_ARCHITECTURES[architecture] ?? architecture}`
}

/**
 * Finds anvil, the program that runs a local chain: in the npm package for this machine, else in the search path.
 *
 * @param searchPath folders of programs, as in `PATH`
 * @param packageName npm package to look in first
 * @returns its path, or undefined when there is none
 */
export function findAnvil(
  searchPath: string,
  packageName = anvilPackage(process.platform, process.arch),
): string | undefined {
  const program = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
  const folders = searchPath.split(delimiter).filter((folder) => folder !== '')
  const candidates = [packageBinFolder(packageName), ...folders].filter((folder) => folder !== undefined)
  return candidates.map((folder) => join(folder, program)).find(isProgram)
}

function packageBinFolder(packageName: string): string | undefined {
  try {
    return join(createRequire(import.meta.url).resolve(`${packageName}/package.json`), '..', 'bin')
  } catch {
    return undefined // optional packages for other machines are not installed
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
