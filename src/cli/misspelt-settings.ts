import { CHAIN_SETTINGS, type Environment, readConfig } from '../config/config.ts'
import { nearest } from '../validation/sentences.ts'

/** Settings that only the signer thread reads (`config/signing-key.ts`). */
const KEY_SETTINGS = [
  'SIGNER_PRIVATE_KEY',
  'SIGNER_MNEMONIC',
  'SIGNER_MNEMONIC_PATH',
  'SIGNER_KEYSTORE',
  'SIGNER_PASSWORD_FILE',
]
/** Up to this length, only one edit counts as a misspelling. HOME and HOST are two edits apart. */
const MAX_SHORT_LENGTH = 5

export interface MisspeltSetting {
  readonly name: string
  readonly meant: string
}

/** Returns environment variables that are not settings but are similar to one. It never reads their values. */
export function misspeltSettings(env: Environment): readonly MisspeltSetting[] {
  const known = settingNames()
  return Object.keys(env).flatMap((name) => {
    if (known.has(name) || name.startsWith('npm_')) return []
    const meant = CHAIN_SETTINGS.includes(name) ? `${name}_<chainId>` : suggest(name, [...known])
    return meant === undefined ? [] : [{ name, meant }]
  })
}

function suggest(name: string, known: readonly string[]): string | undefined {
  const chain = /^(.+)_(\d+)$/.exec(name)
  if (chain === null) return nearest(name, known, name.length > MAX_SHORT_LENGTH ? 2 : 1)
  const prefix = nearest(chain[1]!, CHAIN_SETTINGS, 2)
  // A correct prefix is a setting, not a misspelling.
  return prefix === undefined || prefix === chain[1] ? undefined : `${prefix}_${chain[2]}`
}

/** Returns every name that `readConfig` reads. They are recorded, because a separate list would become outdated. */
function settingNames(): ReadonlySet<string> {
  const names = new Set(KEY_SETTINGS)
  const recordingEnv: Environment = new Proxy(
    {},
    {
      get(_target, name) {
        names.add(String(name))
        // Some names are read only in production, or only if their feature is enabled.
        return name === 'NODE_ENV' ? 'production' : String(name).startsWith('ENABLE_') ? '1' : undefined
      },
    },
  )
  readConfig(recordingEnv, 1)
  return names
}
