import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { makeFolder } from '../../base/make-folder.ts'
import { ConfigError } from '../../config/setting.ts'
import { KEY_SCOPES, type StoredKey, type Tier } from '../../wire/key-messages.ts'

const TIERS: readonly unknown[] = ['public', 'developer', 'internal'] satisfies readonly Tier[]

/**
 * Reads the keys that `trigpoint keys` wrote; returns none if there is no file.
 *
 * @throws {ConfigError} if the file holds something else, or if other users can write to it
 */
export function readKeyFile(file: string): readonly StoredKey[] {
  if (!existsSync(file)) return []
  if (process.platform !== 'win32' && (statSync(file).mode & 0o022) !== 0) {
    throw new ConfigError(`${file} is writable by other users, who could add keys to it: run chmod 600 on it`)
  }
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // Reported below.
  }
  const keys = typeof value === 'object' && value !== null ? (value as { keys?: unknown }).keys : undefined
  if (Array.isArray(keys) && keys.every(isStoredKey)) return keys
  throw new ConfigError(`${file}: is not a key file written by trigpoint keys; correct or remove it`)
}

/** Attempts to take the lock, and the time between two of them. */
const LOCK_ATTEMPTS = 40
const LOCK_RETRY_MS = 50
/** A lock of this age was left behind by a process that ended: a change holds it for milliseconds. Process IDs differ by container. */
const STALE_LOCK_MS = 10_000

/**
 * Changes the key file under a lock. Without it, the later of two overlapping changes would undo the earlier one, even a
 * revocation.
 *
 * @param change throws to leave the file as it is
 * @param waitForRetry waits between two attempts to take the lock
 * @throws {ConfigError} if the file cannot be written, or if another change does not end
 */
export async function changeKeyFile(
  file: string,
  change: (keys: readonly StoredKey[]) => readonly StoredKey[],
  waitForRetry: () => Promise<unknown> = () => pause(LOCK_RETRY_MS),
): Promise<void> {
  const lock = `${file}.lock`
  for (let attempts = 1; !takeLock(lock); attempts++) {
    if (attempts > LOCK_ATTEMPTS)
      throw new ConfigError(`${file}: another change is in progress; try again in a few seconds`)
    await waitForRetry()
  }
  try {
    writeKeyFile(file, change(readKeyFile(file)))
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Takes the lock. @returns false if another process holds it */
function takeLock(lock: string): boolean {
  try {
    makeFolder(dirname(lock))
    closeSync(openSync(lock, 'wx', 0o600))
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw new ConfigError(`${lock} cannot be written (${code})`, { cause: error })
    removeStaleLock(lock)
    return false
  }
}

/** Removes a lock that was left behind. The next attempt takes it. */
function removeStaleLock(lock: string): void {
  if (!isStale(lock)) return
  // A second file lets only one process at a time check and remove the lock. Otherwise one could remove the new lock of another.
  const guard = `${lock}.turn`
  if (isStale(guard)) rmSync(guard, { force: true })
  try {
    closeSync(openSync(guard, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    throw error
  }
  if (isStale(lock)) rmSync(lock, { force: true })
  rmSync(guard, { force: true })
}

function isStale(file: string): boolean {
  const modifiedMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs
  return modifiedMs !== undefined && Date.now() - modifiedMs > STALE_LOCK_MS
}

/** Replaces the whole file; only its owner can read and write it. A revocation survives a power failure once this returns. */
function writeKeyFile(file: string, keys: readonly StoredKey[]): void {
  const temporary = `${file}.${process.pid}.tmp`
  try {
    const descriptor = openSync(temporary, 'w', 0o600)
    writeFileSync(descriptor, `${JSON.stringify({ keys }, null, 2)}\n`)
    fsyncSync(descriptor)
    closeSync(descriptor)
    renameSync(temporary, file)
    syncFolder(dirname(file))
  } catch (error) {
    throw new ConfigError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code})`, { cause: error })
  }
}

/** Makes a rename in a folder durable. Windows cannot open a folder. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function isStoredKey(value: unknown): value is StoredKey {
  if (typeof value !== 'object' || value === null) return false
  const { id, sha256, tier, label, createdAt, expiresAt, requestsPerHour, ...lists } = value as Record<string, unknown>
  const { scopes, origins, addresses, owner } = lists
  return (
    [id, label, createdAt].every((text) => typeof text === 'string') &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    TIERS.includes(tier) &&
    (owner === undefined || typeof owner === 'string') &&
    (expiresAt === undefined || (typeof expiresAt === 'string' && !Number.isNaN(Date.parse(expiresAt)))) &&
    (requestsPerHour === undefined || Number.isInteger(requestsPerHour)) &&
    (scopes === undefined || (isTextList(scopes) && scopes.every((scope) => KEY_SCOPES.includes(scope as never)))) &&
    [origins, addresses].every((list) => list === undefined || isTextList(list))
  )
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}

/**
 * Watches a key file, so that added and revoked keys take effect at the next poll, without a restart.
 *
 * @param everyMs time between two polls
 * @param onChange called with the keys, at once and after each change
 * @param onFault called with the reason when the file cannot be read; the previous keys stay valid
 * @returns a function that stops watching
 * @throws {ConfigError} if the file cannot be read at the start
 */
export function watchKeyFile(
  file: string,
  everyMs: number,
  onChange: (keys: readonly StoredKey[]) => void,
  onFault: (reason: string) => void,
): () => void {
  let knownVersion = fileVersion(file)
  let faultyVersion: string | undefined
  onChange(readKeyFile(file))
  const timer = setInterval(() => {
    const version = fileVersion(file)
    if (version === knownVersion) return
    try {
      onChange(readKeyFile(file))
      knownVersion = version
    } catch (error) {
      // It is read again at the next poll, because the fault may be one of the disk and a revoked key has to end.
      if (version !== faultyVersion) onFault((error as Error).message)
      faultyVersion = version
    }
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Returns a text that differs after each write. The file is replaced, so its inode number changes too. */
function fileVersion(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file)
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    return 'none'
  }
}
