import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Keeps a folder for one process: the embedded engine has no lock of its own, and two of them would each see their own
 * rows until the files are beyond repair.
 *
 * The lock is a file with the owner's process id. One whose process is gone, as after `kill -9`, is taken over.
 *
 * @returns releases the lock
 * @throws {Error} naming the process that holds the folder
 */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'lock')
  for (;;) {
    try {
      const descriptor = openSync(file, 'wx', 0o600)
      writeSync(descriptor, `${process.pid} ${startOf(process.pid) ?? ''}`)
      closeSync(descriptor)
      return () => rmSync(file, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const [owner = '', start = ''] = readOwner(file).split(' ')
    // Threads share the process: a store that was started again in this one takes over what its predecessor left.
    if (owner !== '' && Number(owner) !== process.pid && isRunning(Number(owner), start)) {
      throw new Error(
        `${folder} is in use by process ${owner}: stop it, or choose another DATA_DIR (if process ${owner} is no trigpoint, remove ${file})`,
      )
    }
    rmSync(file, { force: true })
  }
}

function readOwner(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // released just now
  }
}

/** @param start when the owner began, as `startOf` gave it; a process with the same id may be another one */
function isRunning(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  const now = startOf(pid)
  return start === '' || now === undefined || now === start
}

/** Clock ticks from the boot to the start of a process; undefined where there is no /proc. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold spaces; the start is the 22nd field of all.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
