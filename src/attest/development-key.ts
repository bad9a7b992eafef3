import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../base/make-folder.ts'
import { ConfigError } from '../config/setting.ts'
import type { Hex } from '../wire/values.ts'

const PURPOSE = 'DEVELOPMENT ONLY'

export interface DevelopmentKeyParts {
  /** 32 random bytes. */
  readonly generate: () => Uint8Array
  /** Throws on bytes that are not a private key. */
  readonly addressOf: (privateKey: Uint8Array) => Hex
}

/**
 * Loads the development key of a data folder. The first start creates it; later starts reuse it, because a new key would change
 * the attester.
 *
 * @param file must be readable only by its owner (mode 0600)
 * @returns 32 bytes
 * @throws {ConfigError} that says what to do when others can read the file, it is damaged, or it cannot be written
 */
export function loadDevelopmentKey(file: string, { generate, addressOf }: DevelopmentKeyParts): Uint8Array {
  if (!existsSync(file)) {
    const key = generate()
    create(file, `${JSON.stringify({ purpose: PURPOSE, address: addressOf(key), privateKey: hex(key) }, null, 2)}\n`)
  }
  // Read the file even if it was just written: when two processes start at once, both must use the file that won.
  requirePrivate(file)
  return parse(file, addressOf)
}

function requirePrivate(file: string): void {
  const { mode } = statSync(file)
  if (process.platform === 'win32' || (mode & 0o077) === 0) return
  throw new ConfigError(`${file} can be read by others: run chmod 600 on it, or delete it for a new development key`)
}

function parse(file: string, addressOf: (privateKey: Uint8Array) => Hex): Uint8Array {
  try {
    const { purpose, address, privateKey } = JSON.parse(readFileSync(file, 'utf8'))
    if (purpose === PURPOSE && typeof privateKey === 'string' && /^0x[0-9a-f]{64}$/.test(privateKey)) {
      const key = Buffer.from(privateKey.slice(2), 'hex')
      if (addressOf(key) === String(address).toLowerCase()) return key
    }
  } catch {
    // The error below must not show the file's content.
  }
  throw new ConfigError(`${file} is damaged: delete it for a new development key (and a new attester address)`)
}

/** Writes a file completely or not at all, and never replaces an existing one. */
function create(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`
  try {
    makeFolder(dirname(file), 0o700)
    rmSync(temporary, { force: true }) // left by a dead process that had the same id
    const descriptor = openSync(temporary, 'wx', 0o600)
    writeSync(descriptor, text)
    fsyncSync(descriptor)
    closeSync(descriptor)
    publish(temporary, file)
  } catch (error) {
    throw new ConfigError(
      `${file} cannot be written (${(error as NodeJS.ErrnoException).code}): set DATA_DIR to a writable folder`,
    )
  }
}

function publish(temporary: string, file: string): void {
  try {
    linkSync(temporary, file)
  } catch (error) {
    // This file system has no hard links. A rename would replace another process's file, but only within a few microseconds.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') renameSync(temporary, file)
  }
  rmSync(temporary, { force: true })
}

function hex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`
}
