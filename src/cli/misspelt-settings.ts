import { CHAIN_SETTING_PREFIXES } from '../config/chains.ts'
import { SETTINGS } from '../config/config.ts'
import { type Environment, settingRows } from '../config/setting.ts'
import { KEY_SETTINGS } from '../config/signing-key.ts'
import { nearest } from '../validation/sentences.ts'

/** Up to this length, only one edit counts as a misspelling. HOME and HOST are two edits apart. */
const MAX_SHORT_LENGTH = 5

/** All settings except for those whose names end with a chain ID. */
const SETTING_NAMES: ReadonlySet<string> = new Set([
  ...[...settingRows(SETTINGS)].flatMap(([, { names }]) => names),
  ...KEY_SETTINGS,
])

export interface MisspeltSetting {
  readonly name: string
  readonly meant: string
}

/** Returns environment variables that are not settings but are similar to one. It never reads their values. */
export function misspeltSettings(env: Environment): readonly MisspeltSetting[] {
  return Object.keys(env).flatMap((name) => {
    if (SETTING_NAMES.has(name) || name.startsWith('npm_')) return []
    const meant = CHAIN_SETTING_PREFIXES.includes(name) ? `${name}_<chainId>` : suggest(name, [...SETTING_NAMES])
    return meant === undefined ? [] : [{ name, meant }]
  })
}

function suggest(name: string, known: readonly string[]): string | undefined {
  const chain = /^(.+)_(\d+)$/.exec(name)
  if (chain === null) return nearest(name, known, name.length > MAX_SHORT_LENGTH ? 2 : 1)
  const prefix = nearest(chain[1]!, CHAIN_SETTING_PREFIXES, 2)
  // A correct prefix is a setting, not a misspelling.
  return prefix === undefined || prefix === chain[1] ? undefined : `${prefix}_${chain[2]}`
}
