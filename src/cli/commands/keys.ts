import { createHash } from 'node:crypto'
import { type Config, readConfig } from '../../config/config.ts'
import type { Tier } from '../../config/http.ts'
import { generateKey } from '../../http/access/dev-keys.ts'
import { changeKeyFile, readKeyFile, type StoredKey } from '../../http/access/key-file.ts'
import { EXIT, type ExitCode, usage } from '../exit-codes.ts'
import { formatCount, outJson, type Terminal } from '../terminal.ts'

export interface KeysOptions {
  readonly data?: string
  readonly file?: string
  readonly json?: boolean
}

/** Number of hash digits in the ID of a key. */
const ID_DIGITS = 12

/** Runs `trigpoint keys add`. */
export async function addKey(
  tier: Tier,
  options: KeysOptions & { readonly label: string },
  terminal: Terminal,
): Promise<void> {
  const { apiKeysFile: file } = readKeysConfig(options, terminal)
  const key = generateKey(tier)
  const sha256 = createHash('sha256').update(key).digest('hex')
  const { label } = options
  const stored: StoredKey = {
    id: sha256.slice(0, ID_DIGITS),
    sha256,
    tier,
    label,
    createdAt: new Date(terminal.now()).toISOString(),
  }
  await changeKeyFile(file, (keys) => [...keys, stored])
  if (options.json === true) return outJson(terminal, { key, id: stored.id, tier, label, createdAt: stored.createdAt })
  await terminal.out(`${key}\n`)
  terminal.err(`key ${stored.id} (${tier}, ${label}), shown only once; the service accepts it within a second\n`)
}

/** Runs `trigpoint keys list`. It lists the keys of the file and counts those of the environment. */
export async function listKeys(options: KeysOptions, terminal: Terminal): Promise<void> {
  const { apiKeysFile: file, apiKeys } = readKeysConfig(options, terminal)
  const keys = readKeyFile(file)
  if (options.json === true) {
    return outJson(
      terminal,
      keys.map(({ id, tier, label, createdAt }) => ({ id, tier, label, createdAt })),
    )
  }
  const lines = keys.map(({ id, tier, label, createdAt }) => `${id}  ${tier.padEnd(9)}  ${createdAt}  ${label}\n`)
  await terminal.out(lines.join(''))
  const others = apiKeys.length === 0 ? '' : `; ${apiKeys.length} more in API_KEYS`
  terminal.err(`${formatCount(keys.length, 'key')} in ${file}${others}\n`)
}

/** Runs `trigpoint keys revoke`. @returns 1 if there is no such key */
export async function revokeKey(idOrKey: string, options: KeysOptions, terminal: Terminal): Promise<ExitCode> {
  const { apiKeysFile: file } = readKeysConfig(options, terminal)
  const sha256 = createHash('sha256').update(idOrKey).digest('hex')
  const keys = readKeyFile(file)
  const matches = keys.filter((key) => key.sha256 === sha256 || (idOrKey.length >= 4 && key.id.startsWith(idOrKey)))
  if (matches.length > 1) throw usage(`${idOrKey} matches ${matches.length} keys: give more digits`)
  const [key] = matches
  if (key === undefined) {
    terminal.err(`no key ${idOrKey.startsWith('tp_') ? 'like this' : idOrKey} in ${file}\n`)
    return EXIT.failed
  }
  await changeKeyFile(file, (currentKeys) => currentKeys.filter((other) => other.sha256 !== key.sha256))
  if (options.json === true) await outJson(terminal, { revoked: key.id })
  else await terminal.out(`${key.id} (${key.tier}, ${key.label}) is revoked\n`)
  return EXIT.ok
}

function readKeysConfig({ data, file }: KeysOptions, { env }: Terminal): Config {
  const folder = data === undefined ? {} : { DATA_DIR: data }
  return readConfig({ ...env, ...folder, ...(file === undefined ? {} : { API_KEYS_FILE: file }) }, 1)
}
