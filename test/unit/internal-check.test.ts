import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { ConfigError } from '../../src/config/setting.ts'
import { createInternalCheck } from '../../src/http/access/internal-check.ts'
import type { Exchange } from '../../src/http/transport/port.ts'
import { RequestHead } from '../../src/http/transport/request-head.ts'

const SECRET = 'a secret of the operator, long enough'
const LOOPBACK = [127, 0, 0, 1]
const OTHER = [192, 0, 2, 7]

/** Whether a request from this peer with these headers is allowed. */
function passes(
  environment: Readonly<Record<string, string>>,
  peer: readonly number[],
  headers: Readonly<Record<string, string>> = {},
): boolean {
  const head = new RequestHead()
  for (const [name, value] of Object.entries({ host: '127.0.0.1:3000', ...headers })) head.add(name, value)
  const check = createInternalCheck(readConfig(environment, 1))
  return check({ head, peer: Uint8Array.from(peer) } as unknown as Exchange) === undefined
}

describe('a request to the sync API', () => {
  it('is allowed from this machine, over IPv4 or IPv6 and by any of its names', () => {
    expect(passes({}, LOOPBACK)).toBe(true)
    expect(passes({}, LOOPBACK, { host: 'localhost' })).toBe(true)
    expect(passes({}, LOOPBACK, { host: '[::1]:3000' })).toBe(true)
    expect(passes({}, [...Array(15).fill(0), 1])).toBe(true)
    expect(passes({}, [...Array(10).fill(0), 255, 255, ...LOOPBACK])).toBe(true)
  })

  it('is rejected from elsewhere, even with an API key', () => {
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
  ])('is rejected for another spelling of the host: %j', (host) => expect(passes({}, LOOPBACK, { host })).toBe(false))

  it('is rejected from an address that only looks like this machine', () => {
    expect(passes({}, [...Array(12).fill(0), ...LOOPBACK])).toBe(false) // ::127.0.0.1, not mapped
    expect(passes({}, [0xfe, 0x80, ...Array(13).fill(0), 1])).toBe(false)
    expect(passes({}, [0, 0, 0, 0])).toBe(false)
  })

  it.each([
    ...['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded'],
    ...['cf-connecting-ip', 'true-client-ip', 'x-client-ip', 'x-envoy-external-address'],
  ])('is rejected when a proxy forwarded it: %s', (name) => {
    expect(passes({}, LOOPBACK, { [name]: '127.0.0.1' })).toBe(false)
    expect(passes({ SYNC_ALLOW: '192.0.2.0/24' }, OTHER, { [name]: '127.0.0.1' })).toBe(false)
  })

  it('is rejected for a host that is not ours, or from a page of another origin', () => {
    expect(passes({}, LOOPBACK, { host: 'rebound.example' })).toBe(false)
    expect(passes({}, LOOPBACK, { origin: 'https://page.example' })).toBe(false)
    expect(passes({}, LOOPBACK, { origin: 'null' })).toBe(false)
    expect(passes({}, LOOPBACK, { origin: 'http://127.0.0.1:3000' })).toBe(true)
    expect(passes({}, LOOPBACK, { origin: 'http://127.0.0.1:8080' })).toBe(false)
  })

  it.each([{ NODE_ENV: 'production' }, { TRUSTED_PROXIES: '127.0.0.1' }, { PUBLIC_URL: 'https://api.example' }])(
    'is not allowed just for coming from this machine where a proxy may run on it: %j',
    (environment) => {
      expect(passes(environment, LOOPBACK)).toBe(false)
      expect(passes({ ...environment, SYNC_ALLOW: '127.0.0.1' }, LOOPBACK)).toBe(true)
      expect(passes({ ...environment, CRON_SECRET: SECRET }, LOOPBACK, { authorization: `Bearer ${SECRET}` })).toBe(
        true,
      )
    },
  )

  it('is allowed from an address in SYNC_ALLOW, if the host is an address or our own name', () => {
    const environment = { SYNC_ALLOW: '192.0.2.0/24, 2001:db8::/32', PUBLIC_URL: 'https://api.example' }
    expect(passes(environment, OTHER)).toBe(true)
    expect(passes(environment, OTHER, { host: '198.51.100.1:3000' })).toBe(true)
    expect(passes(environment, OTHER, { host: 'api.example' })).toBe(true)
    expect(passes(environment, OTHER, { host: 'other.example' })).toBe(false)
    expect(passes(environment, [192, 0, 3, 7])).toBe(false)
    expect(passes(environment, [...Array(10).fill(0), 255, 255, ...OTHER])).toBe(true) // ::ffff:192.0.2.7, mapped
    expect(passes(environment, [0x20, 0x01, 0x0d, 0xb8, ...Array(12).fill(9)])).toBe(true)
  })

  it('is allowed from anywhere with the secret, but only with the exact secret', () => {
    const environment = { CRON_SECRET: SECRET, NODE_ENV: 'production' }
    const proxied = { host: 'x.example', 'x-forwarded-for': '192.0.2.1' }
    expect(passes(environment, OTHER, { ...proxied, authorization: `Bearer ${SECRET}` })).toBe(true)
    for (const wrongAuthorization of [
      `Bearer ${SECRET} `,
      `Bearer ${SECRET.slice(1)}`,
      SECRET,
      'Bearer ',
      `bearer ${SECRET}`,
    ]) {
      expect(passes(environment, OTHER, { ...proxied, authorization: wrongAuthorization })).toBe(false)
    }
  })

  it('requires valid settings', () => {
    expect(() => readConfig({ CRON_SECRET: 'short' }, 1)).toThrow(/^CRON_SECRET: must have at least 32 characters$/)
    expect(() => passes({ SYNC_ALLOW: 'everybody' }, OTHER)).toThrow(ConfigError)
    expect(() => readConfig({ START_BLOCK_84532: '-1' }, 1)).toThrow(/START_BLOCK_84532/)
  })
})
