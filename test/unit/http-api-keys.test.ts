import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/config/setting.ts'
import { ApiKeys } from '../../src/http/access/caller.ts'
import {
  developmentKeyEntries,
  generateKey,
  hasValidChecksum,
  loadDevelopmentKeys,
} from '../../src/http/access/dev-keys.ts'
import { RequestHead } from '../../src/http/transport/request-head.ts'

const createHead = (lines: readonly (readonly [string, string])[]) => {
  const head = new RequestHead()
  for (const [name, value] of lines) head.add(name, value)
  return head
}

describe('API keys', () => {
  const keys = new ApiKeys([
    { key: 'one', tier: 'developer', label: 'first' },
    { key: 'two', tier: 'internal', label: 'second' },
  ])

  it('finds the holder and gives each key its own subject', () => {
    const one = keys.findHolder(createHead([['x-api-key', 'one']]))
    const two = keys.findHolder(createHead([['authorization', 'Bearer two']]))
    expect(one).toMatchObject({ tier: 'developer', label: 'first' })
    expect(two).toMatchObject({ tier: 'internal', label: 'second' })
    expect((one as { subject: string }).subject).not.toBe((two as { subject: string }).subject)
  })

  it('does not expose the key in plain text', () => {
    expect(JSON.stringify(keys.findHolder(createHead([['x-api-key', 'one']])))).not.toContain('"one"')
  })

  it('treats a repeated header as an invalid key', () => {
    const twice = createHead([
      ['x-api-key', 'one'],
      ['x-api-key', 'one'],
    ])
    expect(keys.findHolder(twice)).toBe('invalid')
  })
})

describe('development keys', () => {
  const folders: string[] = []
  const newFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-keys-'))
    folders.push(folder)
    return folder
  }
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
  })

  it('are made once, readable only by their owner, and read again', () => {
    const folder = join(newFolder(), 'data')
    const keys = loadDevelopmentKeys(folder)
    expect(statSync(join(folder, 'dev-keys.json')).mode & 0o777).toBe(0o600)
    expect(keys.developer).toMatch(/^tp_dev_[0-9A-Za-z]{22}_[0-9A-Za-z]{6}$/)
    expect(keys.internal).toMatch(/^tp_int_[0-9A-Za-z]{22}_[0-9A-Za-z]{6}$/)
    expect(loadDevelopmentKeys(folder)).toEqual(keys)
    expect(JSON.parse(readFileSync(join(folder, 'dev-keys.json'), 'utf8'))).toEqual(keys)
  })

  it('give access to their tiers', () => {
    const keys = loadDevelopmentKeys(newFolder())
    const table = new ApiKeys(developmentKeyEntries(keys))
    expect(table.findHolder(createHead([['x-api-key', keys.internal]]))).toMatchObject({ tier: 'internal' })
    expect(table.findHolder(createHead([['x-api-key', keys.developer]]))).toMatchObject({ tier: 'developer' })
  })

  it.each(['not JSON', '{}', '{"developer":"x","internal":"y"}', 'null'])('reject a file that holds %s', (text) => {
    const folder = newFolder()
    writeFileSync(join(folder, 'dev-keys.json'), text)
    expect(() => loadDevelopmentKeys(folder)).toThrow(ConfigError)
  })

  it('have a checksum that detects any single wrong letter', () => {
    const key = generateKey('developer')
    expect(hasValidChecksum(key)).toBe(true)
    for (let index = 3; index < key.length; index++) {
      const mistyped = key.slice(0, index) + (key[index] === 'a' ? 'b' : 'a') + key.slice(index + 1)
      expect(hasValidChecksum(mistyped)).toBe(false)
    }
  })

  it('use every letter about equally often', () => {
    // 62 letters, 22 per key: 5,000 keys give 1,774 of each, with a standard deviation of 42.
    const counts = new Map<string, number>()
    for (let index = 0; index < 5000; index++) {
      for (const letter of generateKey('internal').slice(7, 29)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
    }
    expect(counts.size).toBe(62)
    for (const count of counts.values()) expect(Math.abs(count - 1774)).toBeLessThan(6 * 42)
  })
})
