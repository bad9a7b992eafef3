import { createHash } from 'node:crypto'
import { type Config, readConfig, type Tier } from '../../config.ts'
import { generateKey } from '../../http/dev-keys.ts'
import { changeKeyFile, readKeyFile, type StoredKey } from '../../http/key-file.ts'
import { EXIT, type ExitCode, usage } from '../exit-codes.ts'
import { counted, outJson, type Terminal } from '../terminal.ts'

export interface KeysOptions {
  readonly data?: string
  readonly file?: string
  readonly json?: boolean
}

/** Digits of the hash that name a key. */
const ID_DIGITS = 12

/** `trigpoint keys add`. */
export async function addKey(
  tier: Tier,
  options: KeysOptions & { readonly label: string },
  terminal: Terminal,
): Promise<void> {
  const { apiKeysFile: file } = configOf(options, terminal)
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
  terminal.err(`key ${stored.id} (${tier}, ${label}), shown this once; the service takes it from the next second on\n`)
}

/** `trigpoint keys list`: those of the file, and how many the environment has. */
export async function listKeys(options: KeysOptions, terminal: Terminal): Promise<void> {
  const { apiKeysFile: file, apiKeys } = configOf(options, terminal)
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
  terminal.err(`${counted(keys.length, 'key')} in ${file}${others}\n`)
}

/** `trigpoint keys revoke`. @returns 1 when there is none */
export async function revokeKey(given: string, options: KeysOptions, terminal: Terminal): Promise<ExitCode> {
  const { apiKeysFile: file } = configOf(options, terminal)
  const sha256 = createHash('sha256').update(given).digest('hex')
  const keys = readKeyFile(file)
  const found = keys.filter((key) => key.sha256 === sha256 || (given.length >= 4 && key.id.startsWith(given)))
  if (found.length > 1) throw usage(`${given} is the beginning of ${found.length} keys: give more of it`)
  const [key] = found
  if (key === undefined) {
    terminal.err(`no key ${given.startsWith('tp_') ? 'like this' : given} in ${file}\n`)
    return EXIT.failed
  }
  await changeKeyFile(file, (now) => now.filter((other) => other.sha256 !== key.sha256))
  if (options.json === true) await outJson(terminal, { revoked: key.id })
  else await terminal.out(`${key.id} (${key.tier}, ${key.label}) is revoked\n`)
  return EXIT.ok
}

function configOf({ data, file }: KeysOptions, { env }: Terminal): Config {
  const folder = data === undefined ? {} : { DATA_DIR: data }
  return readConfig({ ...env, ...folder, ...(file === undefined ? {} : { API_KEYS_FILE: file }) }, 1)
}
