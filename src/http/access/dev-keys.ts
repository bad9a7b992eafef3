import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { makeFolder } from '../../base/make-folder.ts'
import { createFile } from '../../base/new-file.ts'
import type { ApiKey, Tier } from '../../config/http.ts'
import { ConfigError } from '../../config/setting.ts'

/** The two API keys that the service makes for itself outside production. */
export interface DevelopmentKeys {
  /** `tp_dev_…` */
  readonly developer: string
  /** `tp_int_…` */
  readonly internal: string
}

/**
 * Reads the two development API keys from `<dataDir>/dev-keys.json`, and creates the file the first time.
 * Callers use it only outside production (decision 114).
 *
 * @throws {ConfigError} if the file holds something else
 */
export function loadDevelopmentKeys(dataDir: string): DevelopmentKeys {
  const path = join(dataDir, 'dev-keys.json')
  makeFolder(dataDir)
  const fresh: DevelopmentKeys = { developer: generateKey('developer'), internal: generateKey('internal') }
  // If two processes start together, one makes the keys and the other reads them.
  return createFile(path, `${JSON.stringify(fresh, null, 2)}\n`) ? fresh : readKeys(path)
}

/** Returns the keys that a service of this machine stored in `<dataDir>/dev-keys.json`; undefined if it holds none. */
export function findDevelopmentKeys(dataDir: string): DevelopmentKeys | undefined {
  try {
    return readKeys(join(dataDir, 'dev-keys.json'))
  } catch {
    return undefined
  }
}

/** Returns the keys as entries of the key table. */
export function developmentKeyEntries(keys: DevelopmentKeys): ApiKey[] {
  return [
    { key: keys.developer, tier: 'developer', label: 'development key, developer tier' },
    { key: keys.internal, tier: 'internal', label: 'development key, internal tier' },
  ]
}

function readKeys(path: string): DevelopmentKeys {
  let keys: Partial<Record<keyof DevelopmentKeys, unknown>> | null = null
  try {
    keys = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  const { developer, internal } = keys ?? {}
  if (typeof developer === 'string' && typeof internal === 'string' && [developer, internal].every(hasValidChecksum)) {
    return { developer, internal }
  }
  throw new ConfigError(`${path}: holds no development keys; delete the file to have new ones made`)
}

const TIER_CODES: Readonly<Record<Tier, string>> = { public: 'pub', developer: 'dev', internal: 'int' }
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_LENGTH = 22 // 62²² is 131 bits
const CHECKSUM_LENGTH = 6 // 62⁶ is more than 2³²

/** Makes a key `tp_<tier>_<22 base62>_<6 crc>`. Secret scanners find the prefix; the checksum detects typing errors. */
export function generateKey(tier: Tier): string {
  let secret = ''
  while (secret.length < SECRET_LENGTH) {
    // 248 is the largest multiple of 62 in a byte; larger bytes would make the first characters more likely.
    for (const byte of randomBytes(SECRET_LENGTH)) {
      if (byte < 248 && secret.length < SECRET_LENGTH) secret += BASE62[byte % 62]
    }
  }
  const body = `tp_${TIER_CODES[tier]}_${secret}`
  return `${body}_${checksum(body)}`
}

/** Returns true if the last digits of a key are the checksum of the others. */
export function hasValidChecksum(key: string): boolean {
  const separatorIndex = key.length - CHECKSUM_LENGTH - 1
  return (
    key.startsWith('tp_') &&
    key[separatorIndex] === '_' &&
    key.slice(separatorIndex + 1) === checksum(key.slice(0, separatorIndex))
  )
}

function checksum(text: string): string {
  let remaining = crc32(text)
  let digits = ''
  for (let index = 0; index < CHECKSUM_LENGTH; index++) {
    digits = BASE62[remaining % 62] + digits
    remaining = Math.floor(remaining / 62)
  }
  return digits
}
