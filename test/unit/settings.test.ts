import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CHAIN_SETTING_PREFIXES } from '../../src/config/chains.ts'
import { SETTINGS } from '../../src/config/config.ts'
import { type Setting, settingRows } from '../../src/config/setting.ts'
import { KEY_SETTINGS } from '../../src/config/signing-key.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/configuration.md'), 'utf8')
/** Rows of the page's table: names in the first cell, defaults in the second. */
const DOCUMENTED = PAGE.split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => {
    const [, first, second] = line.replaceAll('\\|', '').split('|')
    const names = [...first!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)
    return { names, defaults: second!.replace(/ \([^)]*\)/g, '').trim() }
  })
const ROWS = [...settingRows(SETTINGS)]
const byName = new Map<string, Setting<unknown>>()
for (const [, setting] of ROWS) for (const name of setting.names) if (!byName.has(name)) byName.set(name, setting)

/** Reads a default of the page: `1 MiB`, `10,000`, `` `uws` ``; – stands for none. */
function readDefault(text: string): unknown {
  const [, digits, unit] = /^(\d[\d,]*(?:\.\d+)?)( MiB)?$/.exec(text) ?? []
  if (digits !== undefined) return Number(digits.replaceAll(',', '')) * (unit === undefined ? 1 : 1_048_576)
  return text === '–' ? undefined : text.replaceAll('`', '')
}

describe('docs/configuration.md', () => {
  it('lists the settings of the tables, and no others', () => {
    const known = [...byName.keys(), ...KEY_SETTINGS, ...CHAIN_SETTING_PREFIXES.map((prefix) => `${prefix}_<chainId>`)]
    const documented = DOCUMENTED.flatMap(({ names }) => names)
    // NODE_ENV belongs to Node itself and is described in the text below the table.
    expect(documented.sort()).toEqual(known.filter((name) => name !== 'NODE_ENV').sort())
  })

  it('states the defaults of the tables', () => {
    const wrong: string[] = []
    let compared = 0
    for (const { names, defaults } of DOCUMENTED) {
      const texts = names.length === 1 ? [defaults] : defaults.split(', ')
      for (const [index, name] of names.entries()) {
        const { fallback } = byName.get(name) ?? {}
        if (typeof fallback !== 'number' && typeof fallback !== 'boolean' && typeof fallback !== 'string') continue
        compared++
        const stated = texts.length === 1 ? texts[0]! : texts[index]!
        const expected = typeof fallback === 'boolean' ? Number(fallback) : fallback
        if (readDefault(stated) !== expected) wrong.push(`${name}: ${stated} instead of ${expected}`)
      }
    }
    expect(wrong).toEqual([])
    expect(compared).toBeGreaterThan(60)
  })
})

describe('the tables of settings', () => {
  it('have defaults that are in their range', () => {
    const source = { production: false, cores: 1 }
    for (const [name, setting] of byName) {
      const { fallback, read } = setting
      if (typeof fallback !== 'number') continue
      const digits = fallback.toLocaleString('en', { useGrouping: false })
      expect(read({ ...source, env: { [name]: digits } }), name).toBe(fallback)
    }
  })

  it('have one row for each environment variable, except for the poll of the local chain', () => {
    const names = ROWS.flatMap(([, setting]) => setting.names)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual(['SYNC_POLL_MS'])
  })
})
