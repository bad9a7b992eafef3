import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and the folders above it. A folder that is there already stays as it is.
 *
 * `mkdirSync` with `recursive` never returns where a parent exists and refuses every name, such as `/proc`
 * (Node.js 20 takes ENOENT for a missing parent and tries again): it would hang the start.
 *
 * @param mode of the folders that are made
 * @throws {NodeJS.ErrnoException} of the system
 */
export function makeFolder(folder: string, mode?: number): void {
  try {
    mkdirSync(folder, mode)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return
    const parent = dirname(folder)
    if (code !== 'ENOENT' || parent === folder) throw error
    makeFolder(parent, mode)
    try {
      mkdirSync(folder, mode)
    } catch (second) {
      if ((second as NodeJS.ErrnoException).code !== 'EEXIST') throw second
    }
  }
}
