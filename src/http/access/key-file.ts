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
import type { Tier } from '../../config/http.ts'
import { ConfigError } from '../../config/setting.ts'

/** An API key as it is stored: its hash and properties, not the key. */
export interface StoredKey {
  /** First digits of the SHA-256; people refer to the key by it. */
  readonly id: string
  /** SHA-256 of the key, 64 hex digits. */
  readonly sha256: string
  readonly tier: Tier
  readonly label: string
  /** ISO 8601. */
  readonly createdAt: string
}

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
      throw new ConfigError(`${file}: another change is in progress; if there is none, remove ${lock}`)
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
    if (code === 'EEXIST') return false
    throw new ConfigError(`${lock} cannot be written (${code})`, { cause: error })
  }
}

/** Replaces the whole file; only its owner can read and write it. */
function writeKeyFile(file: string, keys: readonly StoredKey[]): void {
  const temporary = `${file}.${process.pid}.tmp`
  try {
    const descriptor = openSync(temporary, 'w', 0o600)
    writeFileSync(descriptor, `${JSON.stringify({ keys }, null, 2)}\n`)
    fsyncSync(descriptor)
    closeSync(descriptor)
    renameSync(temporary, file)
  } catch (error) {
    throw new ConfigError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code})`, { cause: error })
  }
}

function isStoredKey(value: unknown): value is StoredKey {
  if (typeof value !== 'object' || value === null) return false
  const { id, sha256, tier, label, createdAt } = value as Record<string, unknown>
  const areStrings = [id, label, createdAt].every((text) => typeof text === 'string')
  return areStrings && typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256) && TIERS.includes(tier)
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
  onChange(readKeyFile(file))
  const timer = setInterval(() => {
    const version = fileVersion(file)
    if (version === knownVersion) return
    knownVersion = version
    try {
      onChange(readKeyFile(file))
    } catch (error) {
      onFault((error as Error).message)
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
