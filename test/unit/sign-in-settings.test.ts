import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { signInDomains } from '../../src/service/accounts/account-api.ts'

const domainsOf = (env: Record<string, string>) => signInDomains(readConfig(env, 1))
const PRODUCTION = { NODE_ENV: 'production' }

describe('the domains for which wallets sign in', () => {
  it.each([
    [{}, 'loopback'],
    [{ PUBLIC_URL: 'https://Geo.example.org:8443/api' }, ['geo.example.org:8443']],
    [
      { PUBLIC_URL: 'https://geo.example.org', SIGN_IN_DOMAINS: 'App.example.org, localhost:5173' },
      ['app.example.org', 'localhost:5173'],
    ],
    [{ SIGN_IN: '0' }, undefined],
    [{ RECORDS: '0' }, undefined],
    [{ REQUIRE_API_KEY: '1' }, undefined],
    [{ REQUIRE_API_KEY: '1', SIGN_IN: '1' }, 'loopback'],
    [PRODUCTION, undefined],
    [{ ...PRODUCTION, PUBLIC_URL: 'https://geo.example.org' }, ['geo.example.org']],
  ])('follow from %j', (env, domains) => {
    expect(domainsOf(env as Record<string, string>)).toEqual(domains)
  })

  it.each([
    [{ SIGN_IN: '1', RECORDS: '0' }, /remove RECORDS=0/],
    [{ ...PRODUCTION, SIGN_IN: '1' }, /needs SIGN_IN_DOMAINS or PUBLIC_URL/],
    [{ SIGN_IN_DOMAINS: 'https://example.org' }, /is not a host/],
    [{ SIGN_IN_DOMAINS: 'example.org/path' }, /is not a host/],
    [{ SIGN_IN: 'yes' }, /SIGN_IN/],
  ])('cannot be %j', (env, message) => {
    expect(() => domainsOf(env as Record<string, string>)).toThrow(message)
  })
})
