import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../base/make-folder.ts'

/** An empty lock file up to this age may still be being written by its owner. */
const WRITING_MS = 1000
const POLL_MS = 20

/**
 * Locks a folder for one process of this machine. The embedded engine has no lock itself: two engines on one folder would
 * each see their own rows and corrupt the files beyond repair.
 *
 * The lock is a file with the owner's process id. If that process has ended, as after `kill -9`, the lock is taken over.
 *
 * @returns a function that releases the lock
 * @throws {Error} that names the process holding the folder
 */
export function lockFolder(folder: string): () => void {
  makeFolder(folder)
  const file = join(folder, 'lock')
  const own = `${process.pid} ${readStartTicks(process.pid) ?? ''}`
  for (;;) {
    try {
      writeFileSync(file, own, { flag: 'wx', mode: 0o600 })
      return () => {
        if (readOwner(file) === own) rmSync(file, { force: true })
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const content = readOwner(file)
    const [owner = '', start = ''] = content.split(' ')
    // Threads share the process id: a store thread that restarts in this process takes over the lock of its predecessor.
    if (owner !== '' && Number(owner) !== process.pid && isRunning(Number(owner), start)) {
      throw new Error(
        `${folder} is in use by process ${owner}: stop it, or choose another data folder with DATA_DIR or --data (if process ${owner} is not Trigpoint, remove ${file})`,
      )
    }
    if (isStale(file, content)) removeStaleLock(file, content)
    else pause()
  }
}

/** Returns true if the lock file still has this content and is not being written right now. */
function isStale(file: string, content: string): boolean {
  return readOwner(file) === content && (content !== '' || ageMs(file) > WRITING_MS)
}

/**
 * Removes a stale lock. A second file, the guard, lets only one process at a time check and remove the lock. Otherwise a process
 * could remove a new lock that another one has just taken.
 */
function removeStaleLock(file: string, content: string): void {
  const guardFile = `${file}.turn`
  try {
    writeFileSync(guardFile, '', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // A guard exists for an instant only. An older one was left behind by a process that ended.
    if (ageMs(guardFile) > WRITING_MS) rmSync(guardFile, { force: true })
    pause()
    return
  }
  if (isStale(file, content)) rmSync(file, { force: true })
  rmSync(guardFile, { force: true })
}

/** Blocks the thread. That is harmless: the thread has nothing else to do before the store is open. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS)
}

function ageMs(file: string): number {
  return Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
}

function readOwner(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // released in the meantime
  }
}

/**
 * Returns true if the owner of a lock still runs.
 *
 * @param start start of the owner from `readStartTicks`: another process may have been given the same id
 */
function isRunning(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  const currentStart = readStartTicks(pid)
  return start === '' || currentStart === undefined || currentStart === start
}

/** Returns the clock ticks from boot to the start of a process, or undefined where there is no /proc. */
function readStartTicks(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may contain spaces. The start time is the 22nd field.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
