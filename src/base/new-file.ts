import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Creates a file that only its owner can read. The file appears complete or not at all, and an existing file stays as it is. If
 * two processes create it at the same time, one of them wins (`publish` names the exception).
 *
 * @returns false if the file exists already; it stays as it is
 * @throws {NodeJS.ErrnoException} if the file cannot be written
 */
export function createFile(file: string, text: string): boolean {
  if (existsSync(file)) return false // nothing is written, so that this works in a read-only folder too
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const descriptor = openSync(temporary, 'wx', 0o600)
    try {
      writeFileSync(descriptor, text)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    return publish(temporary, file)
  } finally {
    rmSync(temporary, { force: true })
  }
}

function publish(temporary: string, file: string): boolean {
  try {
    linkSync(temporary, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    // This file system has no hard links. A rename would replace another process's file, but only within a few microseconds.
    if (existsSync(file)) return false
    renameSync(temporary, file)
  }
  return true
}
