import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a folder and its missing parents. An existing folder stays as it is.
 *
 * `mkdirSync` with `recursive` would hang below a parent such as `/proc`, which exists but accepts no new entries: Node.js 20
 * takes the ENOENT for a missing parent and retries forever.
 *
 * @param mode permissions of the folders that are created
 * @throws {NodeJS.ErrnoException} if the system call fails
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
    } catch (secondError) {
      if ((secondError as NodeJS.ErrnoException).code !== 'EEXIST') throw secondError
    }
  }
}
