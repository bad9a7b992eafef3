import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../base/make-folder.ts'
import { createFile } from '../../base/new-file.ts'
import type { ApiKey } from '../../config/http.ts'
import { ConfigError } from '../../config/setting.ts'
import { generateKey, hasValidChecksum } from '../../service/keys/key-text.ts'
import { DEFAULT_SCOPES } from '../../wire/key-messages.ts'

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
    {
      key: keys.internal,
      tier: 'internal',
      label: 'development key, internal tier',
      scopes: [...DEFAULT_SCOPES, 'admin'],
    },
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
  if (
    typeof developer === 'string' &&
    typeof internal === 'string' &&
    [developer, internal].every((key) => hasValidChecksum(key))
  ) {
    return { developer, internal }
  }
  throw new ConfigError(`${path}: holds no development keys; delete the file to have new ones made`)
}
