import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from '../../src/config.ts'
import { createInternalCheck } from '../../src/http/internal-check.ts'
import type { Exchange } from '../../src/http/port.ts'
import { RequestHead } from '../../src/http/request-head.ts'

const SECRET = 'a secret of the operator, long enough'
const LOOPBACK = [127, 0, 0, 1]
const OTHER = [192, 0, 2, 7]

/** Whether a request with these header lines may pass. */
function passes(
  environment: Readonly<Record<string, string>>,
  peer: readonly number[],
  lines: Readonly<Record<string, string>> = {},
): boolean {
  const head = new RequestHead()
  for (const [name, value] of Object.entries({ host: '127.0.0.1:3000', ...lines })) head.add(name, value)
  const check = createInternalCheck(readConfig(environment, 1))
  return check({ head, peer: Uint8Array.from(peer) } as unknown as Exchange) === undefined
}

describe('a request to the sync API', () => {
  it('passes from this machine, by either family and any of its names', () => {
    expect(passes({}, LOOPBACK)).toBe(true)
    expect(passes({}, LOOPBACK, { host: 'localhost' })).toBe(true)
    expect(passes({}, LOOPBACK, { host: '[::1]:3000' })).toBe(true)
    expect(passes({}, [...Array(15).fill(0), 1])).toBe(true)
    expect(passes({}, [...Array(10).fill(0), 255, 255, ...LOOPBACK])).toBe(true)
  })

  it('is refused from elsewhere, with an API key as well', () => {
    expect(passes({}, OTHER)).toBe(false)
    expect(passes({ API_KEYS: '{"k":{"tier":"internal","label":"x"}}' }, OTHER, { 'x-api-key': 'k' })).toBe(false)
    expect(passes({}, OTHER, { authorization: 'Bearer undefined' })).toBe(false)
  })

  it.each([
    'localhost.',
    '0.0.0.0:3000',
    '127.1',
    '0x7f000001',
    '2130706433',
    '::1',
    '[::1',
    '127.0.0.1:80:80',
    '',
    'localhost.example',
  ])('is refused by another spelling of a name: %j', (host) => expect(passes({}, LOOPBACK, { host })).toBe(false))

  it('is refused by an address that only looks like this machine', () => {
    expect(passes({}, [...Array(12).fill(0), ...LOOPBACK])).toBe(false) // ::127.0.0.1, not mapped
    expect(passes({}, [0xfe, 0x80, ...Array(13).fill(0), 1])).toBe(false)
    expect(passes({}, [0, 0, 0, 0])).toBe(false)
  })

  it.each([
    ...['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded'],
    ...['cf-connecting-ip', 'true-client-ip', 'x-client-ip', 'x-envoy-external-address'],
  ])('is refused when a proxy passed it on: %s', (name) => {
    expect(passes({}, LOOPBACK, { [name]: '127.0.0.1' })).toBe(false)
    expect(passes({ SYNC_ALLOW: '192.0.2.0/24' }, OTHER, { [name]: '127.0.0.1' })).toBe(false)
  })

  it('is refused by a name that is not ours, or from a page of another origin', () => {
    expect(passes({}, LOOPBACK, { host: 'rebound.example' })).toBe(false)
    expect(passes({}, LOOPBACK, { origin: 'https://page.example' })).toBe(false)
    expect(passes({}, LOOPBACK, { origin: 'null' })).toBe(false)
    expect(passes({}, LOOPBACK, { origin: 'http://127.0.0.1:3000' })).toBe(true)
    expect(passes({}, LOOPBACK, { origin: 'http://127.0.0.1:8080' })).toBe(false)
  })

  it.each([{ NODE_ENV: 'production' }, { TRUSTED_PROXIES: '127.0.0.1' }, { PUBLIC_URL: 'https://api.example' }])(
    'does not pass from this machine alone where others may stand behind it: %j',
    (environment) => {
      expect(passes(environment, LOOPBACK)).toBe(false)
      expect(passes({ ...environment, SYNC_ALLOW: '127.0.0.1' }, LOOPBACK)).toBe(true)
      expect(passes({ ...environment, CRON_SECRET: SECRET }, LOOPBACK, { authorization: `Bearer ${SECRET}` })).toBe(
        true,
      )
    },
  )

  it('passes from an address that the operator named, by an address or by our own name', () => {
    const environment = { SYNC_ALLOW: '192.0.2.0/24, 2001:db8::/32', PUBLIC_URL: 'https://api.example' }
    expect(passes(environment, OTHER)).toBe(true)
    expect(passes(environment, OTHER, { host: '198.51.100.1:3000' })).toBe(true)
    expect(passes(environment, OTHER, { host: 'api.example' })).toBe(true)
    expect(passes(environment, OTHER, { host: 'other.example' })).toBe(false)
    expect(passes(environment, [192, 0, 3, 7])).toBe(false)
    expect(passes(environment, [0x20, 0x01, 0x0d, 0xb8, ...Array(12).fill(9)])).toBe(true)
  })

  it('passes from anywhere with the secret, and only with the whole of it', () => {
    const environment = { CRON_SECRET: SECRET, NODE_ENV: 'production' }
    const proxied = { host: 'x.example', 'x-forwarded-for': '192.0.2.1' }
    expect(passes(environment, OTHER, { ...proxied, authorization: `Bearer ${SECRET}` })).toBe(true)
    for (const wrong of [`Bearer ${SECRET} `, `Bearer ${SECRET.slice(1)}`, SECRET, 'Bearer ', `bearer ${SECRET}`]) {
      expect(passes(environment, OTHER, { ...proxied, authorization: wrong })).toBe(false)
    }
  })

  it('needs settings that are right', () => {
    expect(() => readConfig({ CRON_SECRET: 'short' }, 1)).toThrow(/^CRON_SECRET: must have at least 32 characters$/)
    expect(() => passes({ SYNC_ALLOW: 'everybody' }, OTHER)).toThrow(ConfigError)
    expect(() => readConfig({ START_BLOCK_84532: '-1' }, 1)).toThrow(/START_BLOCK_84532/)
  })
})
