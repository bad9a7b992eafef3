import { createSiweMessage, parseSiweMessage } from 'viem/siwe'
import { describe, expect, it } from 'vitest'
import { readSignInText, type SignInFields, writeSignInText } from '../../src/wire/sign-in-text.ts'

const FIELDS: SignInFields = {
  domain: 'geo.example.org:8443',
  address: '0x52908400098527886E0F7030069857D2E4169EE7',
  uri: 'https://geo.example.org:8443/explore',
  chainId: 84532,
  nonce: 'abcdefgh12345678',
  issuedAtMs: Date.UTC(2030, 11, 31, 9, 41, 7, 512),
  statement: 'Sign in. It costs nothing: no transaction, no fee.',
}

describe('the text of a sign-in', () => {
  it.each([FIELDS.statement, undefined])('is that of viem, and is read back (statement %j)', (statement) => {
    const text = writeSignInText({ ...FIELDS, statement })
    const { issuedAtMs, ...fields } = FIELDS
    const expected = { ...fields, statement, version: '1', issuedAt: new Date(issuedAtMs) } as const
    expect(text).toBe(createSiweMessage(expected as Parameters<typeof createSiweMessage>[0]))
    expect(parseSiweMessage(text)).toMatchObject({ nonce: fields.nonce, chainId: 84532, domain: fields.domain })
    const { address, domain, uri, chainId, nonce } = fields
    const message = { scheme: undefined, address, domain, uri, chainId, nonce, issuedAtMs }
    expect(readSignInText(text)).toEqual({ ok: true, message })
  })

  it.each<[string, Partial<SignInFields>]>([
    ['a statement of two lines', { statement: 'Sign in.\nAnd pay.' }],
    ['a statement that ends the message', { statement: '\nURI: https://evil.example' }],
    ['an empty statement', { statement: '' }],
    ['a statement with other characters', { statement: 'Sign in \u202eyap' }],
    ['a domain with a path', { domain: 'geo.example.org/path' }],
    ['no domain', { domain: '' }],
    ['a URI with a line feed', { uri: 'https://geo.example.org\nVersion: 1' }],
    ['no address', { address: '0x12' }],
    ['a fraction as its chain', { chainId: 1.5 }],
    ['a short nonce', { nonce: 'abc' }],
  ])('is not written with %s', (_name, change) => {
    expect(() => writeSignInText({ ...FIELDS, ...change })).toThrow(RangeError)
  })

  it.each([
    ['Issued At: 2030-12-31T09:41:07.512Z', 'Issued At: 2030-13-31T09:41:07.512Z', 'has no time as its Issued At'],
    ['Version: 1', 'Version: 2', 'is not of version 1 of EIP-4361'],
    ['Nonce: abcdefgh12345678\n', '', 'is not exactly a message of EIP-4361'],
    ['Sign in.', 'Sign ın.', 'has a character that is neither printable ASCII nor a line feed'],
  ])('with %j as %j is not read', (part, other, reason) => {
    const text = writeSignInText(FIELDS)
    expect(text).toContain(part)
    expect(readSignInText(text.replace(part, other))).toEqual({ ok: false, reason })
  })
})
