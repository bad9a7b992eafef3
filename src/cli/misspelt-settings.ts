import { CHAIN_SETTING_PREFIXES } from '../config/chains.ts'
import { SETTINGS } from '../config/config.ts'
import { type Environment, settingRows } from '../config/setting.ts'
import { KEY_SETTINGS } from '../config/signing-key.ts'
import { nearest } from '../validation/sentences.ts'

/** Up to this length of either name, only one edit counts as a misspelling. HOME and HOST are two edits apart, PGPORT and PORT too. */
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
  if (chain === null) return nearestSetting(name, known) ?? known.find((setting) => isBeginning(name, setting))
  const prefix = nearest(chain[1]!, CHAIN_SETTING_PREFIXES, 2)
  // A correct prefix is a setting, not a misspelling.
  return prefix === undefined || prefix === chain[1] ? undefined : `${prefix}_${chain[2]}`
}

function nearestSetting(name: string, known: readonly string[]): string | undefined {
  const long = name.length > MAX_SHORT_LENGTH ? known.filter((setting) => setting.length > MAX_SHORT_LENGTH) : []
  const singular = known.find((setting) => toSingular(setting) === toSingular(name))
  return nearest(name, known, 1) ?? nearest(name, long, 2) ?? singular
}

/** Returns a name with each of its words in the singular: TRUSTED_PROXIES and TRUSTED_PROXY are three edits apart. */
function toSingular(name: string): string {
  return name
    .toUpperCase()
    .replace(/IES(?=_|$)/g, 'Y')
    .replace(/S(?=_|$)/g, '')
}

/** Returns true if a name is the first words of a setting, at least two of them, as RATE_LIMIT of RATE_LIMIT_PUBLIC. */
function isBeginning(name: string, setting: string): boolean {
  return name.includes('_') && setting.startsWith(`${name.toUpperCase()}_`)
}
