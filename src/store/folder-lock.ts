import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../make-folder.ts'

/** For how long a lock that says nothing may be one that is being written. */
const WRITING_MS = 1000
const LOOK_MS = 20

/**
 * Keeps a folder for one process of this machine: the embedded engine has no lock of its own, and two of them would each see
 * their own rows until the files are beyond repair.
 *
 * The lock is a file with the owner's process id. One whose process is gone, as after `kill -9`, is taken over.
 *
 * @returns releases the lock
 * @throws {Error} naming the process that holds the folder
 */
export function lockFolder(folder: string): () => void {
  makeFolder(folder)
  const file = join(folder, 'lock')
  const own = `${process.pid} ${startOf(process.pid) ?? ''}`
  for (;;) {
    try {
      writeFileSync(file, own, { flag: 'wx', mode: 0o600 })
      return () => {
        if (readOwner(file) === own) rmSync(file, { force: true })
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const found = readOwner(file)
    const [owner = '', start = ''] = found.split(' ')
    // Threads share the process: a store that was started again in this one takes over what its predecessor left.
    if (owner !== '' && Number(owner) !== process.pid && isRunning(Number(owner), start)) {
      throw new Error(
        `${folder} is in use by process ${owner}: stop it, or choose another DATA_DIR (if process ${owner} is no trigpoint, remove ${file})`,
      )
    }
    if (isLeft(file, found)) takeAway(file, found)
    else pause()
  }
}

/** Whether the lock is the one that was found, and none that somebody is just writing. */
function isLeft(file: string, found: string): boolean {
  return readOwner(file) === found && (found !== '' || ageMs(file) > WRITING_MS)
}

/** Removes a lock that nobody holds. One process at a time looks and removes: it could be another's new lock by then. */
function takeAway(file: string, found: string): void {
  const turn = `${file}.turn`
  try {
    writeFileSync(turn, '', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // What is done in a turn takes no time: an old one is that of a process that ended in it.
    if (ageMs(turn) > WRITING_MS) rmSync(turn, { force: true })
    pause()
    return
  }
  if (isLeft(file, found)) rmSync(file, { force: true })
  rmSync(turn, { force: true })
}

/** Opening is synchronous, on a thread that has nothing else to do. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)
}

function ageMs(file: string): number {
  return Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
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
