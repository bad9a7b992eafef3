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
  return readWholeFile(file).keys
}

/** Returns the account that made a key of the file, which may be revoked; undefined if there is no such key, or if no account made it. */
export function findKeyOwner(file: string, id: string): string | undefined {
  const { keys, revoked } = readWholeFile(file)
  return [...keys, ...revoked].find((key) => key.id === id)?.owner
}

/** A revoked key of an account. Without it, nobody could tell what the key has used. */
interface RevokedKey {
  readonly id: string
  readonly owner: string
}

/** Revoked keys that the file keeps, the newest ones. */
const MAX_REVOKED = 5000
/** Bytes of the keys in a file, and of the file. No request is answered while it is read or written, so that must not take long. */
export const MAX_KEY_BYTES = 1_572_864
const MAX_FILE_BYTES = 3_145_728
/** Bytes of the keys of one account. With many long origins, a few accounts would otherwise take the room of all. */
export const MAX_OWNER_KEY_BYTES = 16_384

/** Returns the bytes that keys take in a file. */
export function bytesOfKeys(keys: readonly StoredKey[]): number {
  return keys.reduce((sum, key) => sum + Buffer.byteLength(JSON.stringify(key)) + 2, 0)
}

function readWholeFile(file: string): { readonly keys: readonly StoredKey[]; readonly revoked: readonly RevokedKey[] } {
  if (!existsSync(file)) return { keys: [], revoked: [] }
  const { mode, size } = statSync(file)
  if (size > MAX_FILE_BYTES) {
    throw new ConfigError(
      `${file} has ${size} bytes, and a key file at most ${MAX_FILE_BYTES}, which is about 5,000 keys: revoke keys with the version that wrote the file, or move it away and create the keys again in a PostgreSQL database (DATABASE_URL)`,
    )
  }
  if (process.platform !== 'win32' && (mode & 0o022) !== 0) {
    throw new ConfigError(`${file} is writable by other users, who could add keys to it: run chmod 600 on it`)
  }
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // Reported below.
  }
  const { keys, revoked = [] } = (value ?? {}) as { keys?: unknown; revoked?: unknown }
  const isKeyFile = Array.isArray(keys) && keys.every(isStoredKey)
  if (isKeyFile && Array.isArray(revoked) && revoked.every(isRevokedKey)) return { keys, revoked }
  throw new ConfigError(`${file}: is not a key file written by trigpoint keys; correct or remove it`)
}

function isRevokedKey(value: unknown): value is RevokedKey {
  const { id, owner } = (value ?? {}) as Partial<Record<string, unknown>>
  return typeof id === 'string' && typeof owner === 'string'
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
 * @returns the keys that `change` returned
 * @throws {ConfigError} if the file cannot be written, or if another change does not end
 */
export async function changeKeyFile(
  file: string,
  change: (keys: readonly StoredKey[]) => readonly StoredKey[],
  waitForRetry: () => Promise<unknown> = () => pause(LOCK_RETRY_MS),
): Promise<readonly StoredKey[]> {
  const lock = `${file}.lock`
  for (let attempts = 1; !takeLock(lock); attempts++) {
    if (attempts > LOCK_ATTEMPTS)
      throw new ConfigError(`${file}: another change is in progress; try again in a few seconds`)
    await waitForRetry()
  }
  try {
    const { keys, revoked } = readWholeFile(file)
    const changed = change(keys)
    if (changed === keys) return keys
    const left = new Set(changed.map(({ id }) => id))
    const ended = keys.flatMap(({ id, owner }) => (owner === undefined || left.has(id) ? [] : [{ id, owner }]))
    writeKeyFile(file, changed, [...revoked, ...ended].slice(-MAX_REVOKED))
    return changed
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
function writeKeyFile(file: string, keys: readonly StoredKey[], revoked: readonly RevokedKey[]): void {
  const temporary = `${file}.${process.pid}.tmp`
  // One key in a line, so that people can read it.
  const lines = (list: readonly object[]) => `[${list.map((entry) => `\n${JSON.stringify(entry)}`).join(',')}\n]`
  const ended = revoked.length === 0 ? '' : `,\n"revoked": ${lines(revoked)}`
  const text = `{"keys": ${lines(keys)}${ended}}\n`
  // No service could read such a file. A revocation only makes the file smaller.
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    throw new ConfigError(
      `${file} would have more than ${MAX_FILE_BYTES} bytes, which no service reads: revoke keys first`,
    )
  try {
    const descriptor = openSync(temporary, 'w', 0o600)
    writeFileSync(descriptor, text)
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
 * Watches a key file, so that added and revoked keys take effect at the next poll, without a restart. If the file cannot be read, it has
 * no valid keys until it can: one of the known keys may have been revoked in it.
 *
 * @param everyMs time between two polls
 * @param onChange called with the keys, at once and after each change
 * @param onFault called once with the reason when a changed file cannot be read; until `onChange` is called again, no key of it is valid
 * @returns a function that stops watching
 * @throws {ConfigError} if the file cannot be read at the start
 */
export function watchKeyFile(
  file: string,
  everyMs: number,
  onChange: (keys: readonly StoredKey[]) => void,
  onFault: (reason: string) => void,
): () => void {
  let knownVersion: string | undefined = fileVersion(file)
  let faultyVersion: string | undefined
  onChange(readKeyFile(file))
  const timer = setInterval(() => {
    const version = fileVersion(file)
    if (version === knownVersion) return
    try {
      onChange(readKeyFile(file))
      knownVersion = version
      faultyVersion = undefined
    } catch (error) {
      // It is read again at the next poll, because the fault may be one of the disk. The known version is forgotten too: its keys are
      // valid again if the file is put back.
      knownVersion = undefined
      if (version === faultyVersion) return
      faultyVersion = version
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
