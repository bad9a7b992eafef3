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
import { ConfigError, type Tier } from '../config.ts'
import { makeFolder } from '../make-folder.ts'

/** An API key as it is kept: what it is like, not the key. */
export interface StoredKey {
  /** First digits of the SHA-256, to name it by. */
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
 * The keys of a file that `trigpoint keys` writes; none where there is no file.
 *
 * @throws {ConfigError} on a file that holds something else, or that others may write
 */
export function readKeyFile(file: string): readonly StoredKey[] {
  if (!existsSync(file)) return []
  if (process.platform !== 'win32' && (statSync(file).mode & 0o022) !== 0) {
    throw new ConfigError(`${file} can be written by others, who could let themselves in: run chmod 600 on it`)
  }
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // Said below.
  }
  const keys = typeof value === 'object' && value !== null ? (value as { keys?: unknown }).keys : undefined
  if (Array.isArray(keys) && keys.every(isStoredKey)) return keys
  throw new ConfigError(`${file}: is no list of API keys as trigpoint keys writes it; correct or remove it`)
}

/** Most looks for the end of another change, and between two of them. */
const LOCK_LOOKS = 40
const LOCK_LOOK_MS = 50

/**
 * One change at a time: of two that overlap the later one would undo the earlier, a revocation too.
 *
 * @param change throws to leave the file as it is
 * @param untilNextLook waits between two looks for the end of another change
 * @throws {ConfigError} when it cannot be written, and when another change does not end
 */
export async function changeKeyFile(
  file: string,
  change: (keys: readonly StoredKey[]) => readonly StoredKey[],
  untilNextLook: () => Promise<unknown> = () => pause(LOCK_LOOK_MS),
): Promise<void> {
  const lock = `${file}.lock`
  for (let looks = 1; !isTaken(lock); looks++) {
    if (looks > LOCK_LOOKS) throw new ConfigError(`${file}: another change is under way; if none is, remove ${lock}`)
    await untilNextLook()
  }
  try {
    writeKeyFile(file, change(readKeyFile(file)))
  } finally {
    rmSync(lock, { force: true })
  }
}

/** @returns false when somebody else has it */
function isTaken(lock: string): boolean {
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

/** Replaces the file as a whole, for its owner alone. */
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
  const areTexts = [id, label, createdAt].every((text) => typeof text === 'string')
  return areTexts && typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256) && TIERS.includes(tier)
}

/**
 * Looks after a key file: what is added or revoked counts from the next look on, without a new start.
 *
 * @param onChange takes the keys, at once and whenever they are others
 * @param onFault takes why the file cannot be read; the keys before it stay
 * @returns ends it
 * @throws {ConfigError} when the file cannot be read at the start
 */
export function watchKeyFile(
  file: string,
  everyMs: number,
  onChange: (keys: readonly StoredKey[]) => void,
  onFault: (reason: string) => void,
): () => void {
  let seen = stampOf(file)
  onChange(readKeyFile(file))
  const timer = setInterval(() => {
    const stamp = stampOf(file)
    if (stamp === seen) return
    seen = stamp
    try {
      onChange(readKeyFile(file))
    } catch (error) {
      onFault((error as Error).message)
    }
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Another one for every writing: the file is replaced, so its number changes too. */
function stampOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file)
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    return 'none'
  }
}
