import { CHAIN_SETTINGS, type Environment, readConfig } from '../config.ts'
import { nearest } from '../validation/sentences.ts'

/** Names that other threads read: where the key comes from (`config-key.ts`). */
const KEY_SETTINGS = [
  'SIGNER_PRIVATE_KEY',
  'SIGNER_MNEMONIC',
  'SIGNER_MNEMONIC_PATH',
  'SIGNER_KEYSTORE',
  'SIGNER_PASSWORD_FILE',
]
/** Two edits lead from HOME to HOST: in names this short one is all that is taken for a slip. */
const SHORT_NAME = 5

export interface MisspeltSetting {
  readonly name: string
  readonly meant: string
}

/** Names of the environment that nobody reads and that are nearly one somebody does. Their values are never looked at. */
export function misspeltSettings(env: Environment): readonly MisspeltSetting[] {
  const known = settingNames()
  return Object.keys(env).flatMap((name) => {
    if (known.has(name) || name.startsWith('npm_')) return []
    const meant = CHAIN_SETTINGS.includes(name) ? `${name}_<chainId>` : meantBy(name, [...known])
    return meant === undefined ? [] : [{ name, meant }]
  })
}

function meantBy(name: string, known: readonly string[]): string | undefined {
  const chain = /^(.+)_(\d+)$/.exec(name)
  if (chain === null) return nearest(name, known, name.length > SHORT_NAME ? 2 : 1)
  const beginning = nearest(chain[1]!, CHAIN_SETTINGS, 2)
  // The right one is read, and is no slip.
  return beginning === undefined || beginning === chain[1] ? undefined : `${beginning}_${chain[2]}`
}

/** Every name that is asked for when the configuration is read: a list of its own would be forgotten one day. */
function settingNames(): ReadonlySet<string> {
  const names = new Set(KEY_SETTINGS)
  const asked: Environment = new Proxy(
    {},
    {
      get(_target, name) {
        names.add(String(name))
        // Some names are asked for in production alone, or when what they are about is on.
        return name === 'NODE_ENV' ? 'production' : String(name).startsWith('ENABLE_') ? '1' : undefined
      },
    },
  )
  readConfig(asked, 1)
  return names
}
