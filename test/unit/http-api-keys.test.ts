import { hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/config/setting.ts'
import { ApiKeys, keyProblem } from '../../src/http/access/api-keys.ts'
import { developmentKeyEntries, loadDevelopmentKeys } from '../../src/http/access/dev-keys.ts'
import { RequestHead } from '../../src/http/transport/request-head.ts'
import { generateKey, hasValidChecksum } from '../../src/service/keys/key-text.ts'
import { checkKeyProperties } from '../../src/validation/key-request.ts'
import type { StoredKey } from '../../src/wire/key-messages.ts'

const createHead = (lines: readonly (readonly [string, string])[]) => {
  const head = new RequestHead()
  for (const [name, value] of lines) head.add(name, value)
  return head
}

describe('API keys', () => {
  const keys = new ApiKeys(
    [
      { key: 'one', tier: 'developer', label: 'first' },
      { key: 'two', tier: 'internal', label: 'second' },
    ],
    false,
  )

  it('finds the holder and gives each key its own subject', () => {
    const one = keys.findHolder(createHead([['x-api-key', 'one']]), 0)
    const two = keys.findHolder(createHead([['authorization', 'Bearer two']]), 0)
    expect(one).toMatchObject({ tier: 'developer', label: 'first' })
    expect(two).toMatchObject({ tier: 'internal', label: 'second' })
    expect((one as { subject: string }).subject).not.toBe((two as { subject: string }).subject)
  })

  it('does not expose the key in plain text', () => {
    expect(JSON.stringify(keys.findHolder(createHead([['x-api-key', 'one']]), 0))).not.toContain('"one"')
  })

  it('treats a repeated header as an invalid key', () => {
    const twice = createHead([
      ['x-api-key', 'one'],
      ['x-api-key', 'one'],
    ])
    expect(keys.findHolder(twice, 0)).toBe('invalid')
  })
})

describe('stored keys', () => {
  const NOON_MS = Date.parse('2030-01-01T12:00:00Z')
  const key = generateKey('developer')
  const stored: StoredKey = {
    id: 'a',
    sha256: hash('sha256', key),
    tier: 'developer',
    label: 'stored',
    createdAt: '2029-01-01T00:00:00Z',
  }
  const head = createHead([['x-api-key', key]])
  const localAddress = () => Uint8Array.of(127, 0, 0, 1)
  const holderOf = (properties: Partial<StoredKey>) => {
    const keys = new ApiKeys([], false)
    keys.setStored([{ ...stored, ...properties }])
    const holder = keys.findHolder(head, NOON_MS)
    if (typeof holder !== 'object') throw new Error(`no holder: ${holder}`)
    return holder
  }

  it('end at the time of their expiry, with a reason', () => {
    const keys = new ApiKeys([], false)
    keys.setStored([{ ...stored, expiresAt: '2030-01-01T12:00:00.000Z' }])
    expect(keys.findHolder(head, NOON_MS - 1)).toMatchObject({ label: 'stored' })
    expect(keys.findHolder(head, NOON_MS)).toBe('invalid')
    expect(keys.explainInvalid(head)).toEqual({
      type: 'unauthorized',
      detail: 'the API key expired at 2030-01-01T12:00:00.000Z',
    })
  })

  it('are neither valid nor called invalid while their file cannot be read', () => {
    const keys = new ApiKeys([], false)
    keys.setStored([stored])
    keys.setStored(undefined)
    expect(keys.findHolder(head, NOON_MS)).toBe('invalid')
    expect(keys.explainInvalid(head)).toMatchObject({ type: 'overloaded', retryAfterSeconds: 1 })
    // No key of the service looks like this one.
    expect(keys.explainInvalid(createHead([['x-api-key', 'guess']]))).toMatchObject({ type: 'unauthorized' })
    keys.setStored([stored])
    expect(keys.findHolder(head, NOON_MS)).toMatchObject({ label: 'stored' })
  })

  it('open only what their scopes name; without scopes everything but the routes of keys', () => {
    const scopes = ['compute', 'verify', 'records', 'jobs', 'admin'] as const
    const problems = (properties: Partial<StoredKey>) =>
      scopes.filter((scope) => keyProblem(holderOf(properties), scope, head, localAddress) === undefined)
    expect(problems({})).toEqual(['compute', 'verify', 'records', 'jobs'])
    expect(problems({ scopes: ['admin'] })).toEqual(['admin'])
    expect(keyProblem(holderOf({ scopes: ['jobs'] }), 'compute', head, localAddress)).toMatchObject({
      type: 'forbidden',
      detail: expect.stringContaining('needs the scope compute and has jobs'),
    })
  })

  it('that name origins are refused without one, and for other pages', () => {
    const holder = holderOf({ origins: ['https://a.example'] })
    const from = (origin: string) => createHead([['origin', origin]])
    expect(keyProblem(holder, 'compute', from('https://a.example'), localAddress)).toBeUndefined()
    for (const other of [from('https://a.example.org'), from('null'), createHead([])])
      expect(keyProblem(holder, 'compute', other, localAddress)?.type).toBe('forbidden')
  })

  it('that name origins are accepted from a page that reads from its own origin, for which browsers send no Origin', () => {
    const holder = holderOf({ origins: ['https://a.example', 'http://localhost:3000'] })
    const isAccepted = (...headers: [string, string][]) =>
      keyProblem(holder, 'compute', createHead(headers), localAddress) === undefined
    const same: [string, string] = ['sec-fetch-site', 'same-origin']
    expect(isAccepted(['host', 'a.example'], same)).toBe(true)
    expect(isAccepted(['host', 'localhost:3000'], same)).toBe(true)
    // The page of a domain that leads to this service, and pages of other origins.
    expect(isAccepted(['host', 'b.example'], same)).toBe(false)
    expect(isAccepted(same)).toBe(false)
    for (const site of ['same-site', 'cross-site', 'none', 'same-origin, same-origin'])
      expect(isAccepted(['host', 'a.example'], ['sec-fetch-site', site])).toBe(false)
    expect(isAccepted(['host', 'a.example'], same, ['origin', 'https://b.example'])).toBe(false)
    expect(isAccepted(['host', 'a.example'])).toBe(false)
  })

  it.each([
    '::ffff:192.0.2.7',
    '0:0:0:0:0:ffff:192.0.2.7',
    '0:0:0:0:0:ffff:c000:207',
    '0:0:0:0:0:ffff:c000:200/120',
    '0::ffff:c000:200/120',
    '192.0.2.0/33',
    '2001:db8::/129',
    '192.0.2.0/',
  ])('are not made for %s, which would allow nobody or have two meanings', (address) => {
    expect(() => checkKeyProperties({ tier: 'developer', addresses: [address] }, 0)).toThrow(
      'addresses[0]: is neither an IP address nor a CIDR range',
    )
  })

  it.each(['192.0.2.7', '192.0.2.0/24', '2001:db8::1', '2001:db8::/32', '::/0'])('are made for %s', (address) => {
    expect(checkKeyProperties({ tier: 'developer', addresses: [address] }, 0).addresses).toEqual([address])
  })

  it('that name addresses are refused from others', () => {
    const holder = holderOf({ addresses: ['192.0.2.0/24', '2001:db8::1'] })
    const isRefused = (...bytes: number[]) =>
      keyProblem(holder, 'compute', head, () => Uint8Array.from(bytes)) !== undefined
    expect(isRefused(192, 0, 2, 255)).toBe(false)
    expect(isRefused(192, 0, 3, 0)).toBe(true)
    expect(isRefused(0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)).toBe(false)
    expect(isRefused(0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)).toBe(true)
  })

  it('of a database are unknown for now, not wrong, until they have been read', () => {
    const keys = new ApiKeys([], true)
    expect(keys.findHolder(head, NOON_MS)).toBe('invalid')
    expect(keys.explainInvalid(head)).toMatchObject({ type: 'overloaded', retryAfterSeconds: 1 })
    expect(keys.explainInvalid(createHead([['x-api-key', `${key}x`]]))).toMatchObject({ type: 'unauthorized' })
    keys.update({ isWhole: true, put: [], revoked: [] })
    expect(keys.explainInvalid(head)).toMatchObject({ type: 'unauthorized', detail: 'Invalid API key' })
  })

  it('of a database follow its changes, and their uses are reported once', () => {
    const keys = new ApiKeys([], true)
    keys.update({ isWhole: true, put: [stored], revoked: [] })
    expect(keys.findHolder(head, NOON_MS)).toMatchObject({ label: 'stored' })
    expect(keys.takeUses()).toEqual([{ sha256: stored.sha256, atMs: NOON_MS }])
    expect(keys.takeUses()).toEqual([])
    keys.update({ isWhole: false, put: [], revoked: [stored.sha256] })
    expect(keys.findHolder(head, NOON_MS)).toBe('invalid')
    keys.update({ isWhole: false, put: [stored], revoked: [] })
    keys.update({ isWhole: true, put: [], revoked: [] })
    expect(keys.findHolder(head, NOON_MS)).toBe('invalid')
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
    const table = new ApiKeys(developmentKeyEntries(keys), false)
    expect(table.findHolder(createHead([['x-api-key', keys.internal]]), 0)).toMatchObject({ tier: 'internal' })
    expect(table.findHolder(createHead([['x-api-key', keys.developer]]), 0)).toMatchObject({ tier: 'developer' })
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
