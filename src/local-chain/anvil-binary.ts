import { accessSync, constants, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'

const PACKAGE_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** The npm package that has anvil for a machine, e.g. `@foundry-rs/anvil-linux-amd64`. */
export function anvilPackage(platform: string, architecture: string): string {
  return `@foundry-rs/anvil-${platform}-${PACKAGE_ARCHITECTURES[architecture] ?? architecture}`
}

/**
 * The program that runs a local chain: that of the npm package for this machine, else an `anvil` among the programs.
 *
 * @param searchPath folders of programs, as in `PATH`
 * @param packageName where it is looked for first
 * @returns its path, or undefined when there is none
 */
export function findAnvil(
  searchPath: string,
  packageName = anvilPackage(process.platform, process.arch),
): string | undefined {
  const program = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
  const folders = searchPath.split(delimiter).filter((folder) => folder !== '')
  const found = [packagedFolder(packageName), ...folders].filter((folder) => folder !== undefined)
  return found.map((folder) => join(folder, program)).find(isProgram)
}

function packagedFolder(packageName: string): string | undefined {
  try {
    return join(createRequire(import.meta.url).resolve(`${packageName}/package.json`), '..', 'bin')
  } catch {
    return undefined // an optional package, and one of another machine is not installed
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
