import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportSPKI, importJWK, type JWK } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Log } from '../../src/base/log.ts'
import { Metrics } from '../../src/base/metrics.ts'
import type { TokenSettings } from '../../src/config/http.ts'
import { ConfigError } from '../../src/config/setting.ts'
import { IssuerKeys, parseKeySet } from '../../src/http/access/issuer-keys.ts'
import { Tokens } from '../../src/http/access/tokens.ts'
import { AUDIENCE, ISSUER, type IssuerKeyPair, KeySetServer, makeKeyPair, makeToken } from '../token-issuer.ts'

const NOW_MS = Date.now()
const NOW = Math.floor(NOW_MS / 1000)
const SETTINGS: TokenSettings = {
  issuer: ISSUER,
  audience: AUDIENCE,
  keySet: '',
  allowsPrivateAddresses: true,
  tier: 'developer',
  tierClaim: 'tier',
  requiresAccessToken: false,
  skewSeconds: 60,
  failuresPerMinute: 1_000_000,
}
const folder = mkdtempSync(join(tmpdir(), 'trigpoint-tokens-'))
afterAll(() => rmSync(folder, { recursive: true }))

const warnings: string[] = []
const log = {
  info: () => {},
  warn: (_event: string, facts: { reason: string }) => warnings.push(facts.reason),
} as unknown as Log
let fileCount = 0

/** The keys of a file with this content. */
function keysOf(keys: readonly JWK[]): IssuerKeys {
  const source = join(folder, `${fileCount++}.json`)
  writeFileSync(source, JSON.stringify({ keys }))
  return new IssuerKeys({ source, allowsPrivateAddresses: false, log, now: () => NOW_MS })
}

function judge(tokens: Tokens, token: string, nowMs = NOW_MS) {
  const found = tokens.find(token, nowMs, () => 1)
  return 'problem' in found ? (found.problem.detail ?? '') : found
}

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const claimsOf = (more: Record<string, unknown> = {}) => ({
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'a',
  exp: NOW + 600,
  ...more,
})

let ed: IssuerKeyPair
let ec: IssuerKeyPair
let rsa: IssuerKeyPair
let tokens: Tokens
beforeAll(async () => {
  ;[ed, ec, rsa] = await Promise.all([
    makeKeyPair('EdDSA', 'ed'),
    makeKeyPair('ES256', 'ec'),
    makeKeyPair('RS256', 'rsa'),
  ])
  tokens = new Tokens(SETTINGS, keysOf([ed.jwk, ec.jwk, rsa.jwk]))
})

describe('tokens', () => {
  it('of each algorithm have the properties that their claims say', async () => {
    for (const pair of [ed, ec, rsa]) {
      const token = await makeToken(pair, {
        claims: { scope: 'openid compute records', tier: 'internal' },
        nowSeconds: NOW,
      })
      expect(Tokens.hasForm(token)).toBe(true)
      expect(judge(tokens, token), pair.algorithm).toMatchObject({
        kind: 'token',
        tier: 'internal',
        scopes: ['compute', 'records'],
        endMs: 1000 * (NOW + 660),
      })
    }
  })

  it('have the scopes of a key that names none, and the tier of the settings, if they name none', async () => {
    const holder = judge(tokens, await makeToken(ed, { claims: { tier: 'root' } }))
    expect(holder).toMatchObject({ scopes: ['compute', 'verify', 'records', 'jobs'], tier: 'developer' })
    for (const scope of ['', 'openid', 'ADMIN', 'compute,admin', 7, null, {}])
      expect(judge(tokens, await makeToken(ed, { claims: { scope } })), String(scope)).toMatchObject({ scopes: [] })
    expect(judge(tokens, await makeToken(ed, { claims: { scp: ['admin', 7, 'jobs'] } }))).toMatchObject({
      scopes: ['admin', 'jobs'],
    })
  })

  it('of the same subject count together, and others do not', async () => {
    const subjectOf = async (claims: Record<string, unknown>) => judge(tokens, await makeToken(ed, { claims }))
    const [first, second, other] = [
      await subjectOf({ sub: 'a' }),
      await subjectOf({ sub: 'a', jti: '2' }),
      await subjectOf({ sub: 'b' }),
    ] as { subject: string }[]
    expect(first!.subject).toMatch(/^token:[0-9a-f]{64}$/)
    expect(second!.subject).toBe(first!.subject)
    expect(other!.subject).not.toBe(first!.subject)
  })

  it('are remembered until they expire, and no longer', async () => {
    const keys = keysOf([ed.jwk])
    const remembering = new Tokens(SETTINGS, keys)
    const token = await makeToken(ed, { claims: { exp: NOW + 1 } })
    const holder = judge(remembering, token)
    expect(holder).toMatchObject({ kind: 'token' })
    expect(judge(remembering, token)).toBe(holder)
    expect(judge(remembering, token, 1000 * (NOW + 61) - 1)).toBe(holder)
    expect(judge(remembering, token, 1000 * (NOW + 61))).toBe('the token has expired')
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['another issuer', { iss: 'https://id.example.org' }, 'the token is of another issuer'],
    ['a list of issuers', { iss: [ISSUER] }, 'the token is of another issuer'],
    ['another audience', { aud: `${AUDIENCE}/` }, 'the token is for another audience'],
    ['an audience that contains ours', { aud: `x ${AUDIENCE}` }, 'the token is for another audience'],
    ['no audience', { aud: [] }, 'the token is for another audience'],
    ['an audience in an object', { aud: { [AUDIENCE]: true } }, 'the token is for another audience'],
    ['expired', { exp: NOW - 61 }, 'the token has expired'],
    ['expiry as text', { exp: String(NOW + 600) }, 'the token does not say when it expires'],
    ['expiry in milliseconds', { exp: NOW_MS + 1e12 }, 'the token does not say when it expires'],
    ['not valid yet', { nbf: NOW + 120 }, 'the token is not valid yet'],
    ['issued in the future', { iat: NOW + 120 }, 'the token is not valid yet'],
    ['nbf as text', { nbf: '0' }, 'nbf or iat of the token is not a time'],
    ['an empty subject', { sub: '' }, 'the token has no sub of 1 to 256 characters'],
    ['a long subject', { sub: 'a'.repeat(257) }, 'the token has no sub of 1 to 256 characters'],
    ['a number as subject', { sub: 7 }, 'the token has no sub of 1 to 256 characters'],
    ['a bound key', { cnf: { jkt: 'x' } }, 'tokens that are bound to a key of their sender are not supported'],
  ])('with %s are rejected', async (_name, claims, detail) => {
    expect(judge(tokens, await makeToken(ec, { claims }))).toBe(detail)
  })

  it.each(['exp', 'sub', 'iss', 'aud'])('without %s are rejected', async (name) => {
    expect(judge(tokens, await makeToken(ec, { without: [name] }))).toMatch(/^the token /)
  })

  it('are accepted within the skew of the clocks', async () => {
    for (const claims of [{ exp: NOW - 59 }, { nbf: NOW + 59 }, { iat: NOW + 59 }])
      expect(judge(tokens, await makeToken(ed, { claims }))).toMatchObject({ kind: 'token' })
  })
})

describe('attacks on tokens', () => {
  /** Returns a token that another key than the issuer's signed, whatever its header says. */
  const signedByOther = (header: unknown) => {
    const { privateKey } = generateKeyPairSync('ed25519')
    const text = `${encode(header)}.${encode(claimsOf())}`
    return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`
  }

  it('without a signature are rejected', () => {
    for (const alg of ['none', 'None', 'NONE', '', null, undefined]) {
      const token = `${encode({ alg, typ: 'JWT' })}.${encode(claimsOf())}`
      expect(judge(tokens, `${token}.`), String(alg)).toBe('the token is not signed with EdDSA, ES256 or RS256')
      expect(judge(tokens, `${token}.AAAA`), String(alg)).toBe('the token is not signed with EdDSA, ES256 or RS256')
    }
    const stripped = `${encode({ alg: 'EdDSA', kid: 'ed' })}.${encode(claimsOf())}.`
    expect(judge(tokens, stripped)).toBe('the signature of the token does not hold')
  })

  it('with the public key as the secret of an HMAC are rejected', async () => {
    const pem = await exportSPKI((await importJWK(rsa.jwk, 'RS256')) as never)
    for (const alg of ['HS256', 'HS384', 'HS512']) {
      const text = `${encode({ alg, kid: 'rsa' })}.${encode(claimsOf())}`
      const mac = createHmac('sha256', pem).update(text).digest('base64url')
      expect(judge(tokens, `${text}.${mac}`)).toBe('the token is not signed with EdDSA, ES256 or RS256')
    }
  })

  it('with other algorithms of the same keys are rejected', () => {
    for (const alg of [
      'RS384',
      'RS512',
      'PS256',
      'ES384',
      'ES512',
      'ES256K',
      'Ed448',
      'RS1',
      'eddsa',
      ['EdDSA'],
      { a: 1 },
    ])
      expect(judge(tokens, signedByOther({ alg, kid: 'ed' }))).toBe(
        'the token is not signed with EdDSA, ES256 or RS256',
      )
  })

  it('whose algorithm is that of another key are rejected', async () => {
    for (const [kid, alg] of [
      ['rsa', 'EdDSA'],
      ['ec', 'RS256'],
      ['ed', 'ES256'],
    ] as const)
      expect(judge(tokens, signedByOther({ alg, kid }))).toBe(
        `the issuer has no key for ${alg} with the kid of the token`,
      )
  })

  it('that bring or name their own key are rejected', async () => {
    const own = await makeKeyPair('EdDSA', 'ed')
    for (const header of [
      { jwk: own.jwk },
      { jku: 'http://127.0.0.1:1/keys' },
      { x5u: 'http://127.0.0.1:1/cert' },
      { x5c: ['AAAA'] },
    ])
      expect(judge(tokens, await makeToken(own, { header })), JSON.stringify(header)).toBe(
        'the signature of the token does not hold',
      )
  })

  it.each([
    '../../../../dev/null',
    '/proc/self/environ',
    "' OR 1=1 --",
    'http://127.0.0.1/key',
    '__proto__',
    'constructor',
    '',
    'ed\u0000',
    'ED',
  ])('whose kid is %j find no key', async (kid) => {
    expect(judge(tokens, await makeToken(ed, { header: { kid } }))).toBe(
      'the issuer has no key for EdDSA with the kid of the token',
    )
  })

  it.each([7, null, ['ed'], { kid: 'ed' }])('whose kid is %j are rejected', (kid) => {
    expect(judge(tokens, signedByOther({ alg: 'EdDSA', kid }))).toBe('the kid of the token is not text')
  })

  it('with critical header parameters are rejected', async () => {
    for (const crit of [['b64'], ['exp'], [], 'b64', null])
      expect(judge(tokens, signedByOther({ alg: 'EdDSA', kid: 'ed', b64: false, crit }))).toMatch(
        /critical header parameters/,
      )
  })

  it('of another type are rejected', () => {
    for (const typ of ['JWE', 'id+jwt', 'dpop+jwt', 'logout+jwt', 'secevent+jwt', '', 7, null])
      expect(judge(tokens, signedByOther({ alg: 'EdDSA', kid: 'ed', typ })), String(typ)).toMatch(/type JWT or at\+jwt/)
  })

  it('may have to be access tokens by their type', () => {
    const strict = new Tokens({ ...SETTINGS, requiresAccessToken: true }, keysOf([ed.jwk]))
    const message = 'the token is not of the type at+jwt'
    for (const header of [{ typ: 'JWT' }, {}])
      expect(judge(strict, `${encode({ alg: 'EdDSA', kid: 'ed', ...header })}.${encode(claimsOf())}.AA`)).toBe(message)
    for (const typ of ['at+jwt', 'application/AT+JWT'])
      expect(judge(strict, `${encode({ alg: 'EdDSA', kid: 'ed', typ })}.${encode(claimsOf())}.AA`)).toBe(
        'the signature of the token does not hold',
      )
  })

  it('are counted by their outcome', async () => {
    const metrics = new Metrics()
    const counted = new Tokens({ ...SETTINGS, failuresPerMinute: 5 }, keysOf([ed.jwk, ec.jwk]), metrics)
    const good = await makeToken(ed)
    const wrong: Record<string, string> = {
      length: 'a.'.repeat(3000),
      algorithm: `${encode({ alg: 'none' })}.${encode(claimsOf())}.`,
      critical: `${encode({ alg: 'EdDSA', crit: ['exp'] })}.${encode(claimsOf())}.AA`,
      type: `${encode({ alg: 'EdDSA', kid: 'ed', typ: 'JWE' })}.${encode(claimsOf())}.AA`,
      kid: `${encode({ alg: 'EdDSA', kid: 7 })}.${encode(claimsOf())}.AA`,
      'unknown-key': await makeToken(rsa),
      signature: `${good.slice(0, -9)}AAAAAAAAA`,
      claims: await makeToken(ed, { without: ['exp'] }),
      issuer: await makeToken(ed, { claims: { iss: 'https://other.example/' } }),
      audience: await makeToken(ed, { claims: { aud: 'other' } }),
      expired: await makeToken(ed, { claims: { exp: NOW - 100 } }),
      'too-many-failures': await makeToken(ed, { claims: { sub: 'other' } }),
    }
    judge(counted, good)
    judge(counted, good)
    for (const token of Object.values(wrong)) judge(counted, token)
    const text = metrics.render()
    for (const outcome of ['verified', 'known', ...Object.keys(wrong)])
      expect(text).toContain(`tokens_total{outcome="${outcome}"} 1\n`)
  })

  it('that are altered or cut anywhere are rejected', async () => {
    const token = await makeToken(ec)
    const [header, payload, signature] = token.split('.') as [string, string, string]
    for (let at = 0; at < token.length; at++) {
      if (token[at] === '.') continue
      const altered = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
      expect(judge(tokens, altered), `altered at ${at}`).toEqual(expect.any(String))
    }
    for (let length = 0; length < signature.length; length++)
      expect(judge(tokens, `${header}.${payload}.${signature.slice(0, length)}`)).toEqual(expect.any(String))
    for (const more of ['=', '==', 'AA', 'A', ' ', '\n'])
      expect(judge(tokens, token + more), JSON.stringify(more)).toEqual(expect.any(String))
    // A signature of the same numbers as DER, and one with zeros only (CVE-2022-21449).
    for (const bytes of [Buffer.alloc(64), Buffer.alloc(0), Buffer.alloc(72, 0x30)])
      expect(judge(tokens, `${header}.${payload}.${bytes.toString('base64url')}`)).toBe(
        'the signature of the token does not hold',
      )
  })

  it('whose parts are no JSON objects are rejected', () => {
    for (const part of ['null', '[]', '7', '"x"', '{', '', '{"alg":"EdDSA"', '\u00ff'])
      expect(judge(tokens, `${encode(part)}.${encode(claimsOf())}.AAAA`), part).toEqual(expect.any(String))
    for (const part of ['!!!!', 'eyJ', 'e30=', 'e3 0'])
      expect(judge(tokens, `${part}.${encode(claimsOf())}.AAAA`), part).toEqual(expect.any(String))
  })

  it('that are nested, or have other numbers of parts, are rejected', async () => {
    const inner = await makeToken(ed)
    expect(
      judge(tokens, await makeToken(ed, { header: { cty: 'JWT' }, without: ['exp'], claims: { jwt: inner } })),
    ).toBe('the token does not say when it expires')
    for (const text of ['', '.', '..', 'a.b', '.b.c', 'a..c', 'a.b.c.d', `${inner}.x.y`, inner.replaceAll('.', '..')])
      expect(Tokens.hasForm(text), text).toBe(false)
  })

  it('that are too long are rejected before they are decoded', () => {
    expect(judge(tokens, `a.${'b'.repeat(5000)}.c`)).toBe('the token has more than 4096 characters')
  })

  it('from one address are limited, and others still verify', async () => {
    const limited = new Tokens({ ...SETTINGS, failuresPerMinute: 3 }, keysOf([ed.jwk]))
    const good = await makeToken(ed)
    const find = (token: string, address: number, nowMs = NOW_MS) => limited.find(token, nowMs, () => address)
    const before = find(good, 1)
    // What is rejected before its signature is verified does not count.
    for (let attempt = 0; attempt < 9; attempt++) find(`a.${attempt}.c`, 1)
    const forged = `${good.slice(0, -9)}AAAAAAAAA`
    for (let attempt = 0; attempt < 3; attempt++)
      expect(find(forged, 1)).toMatchObject({ problem: { type: 'unauthorized' } })
    expect(find(forged, 1)).toMatchObject({ problem: { type: 'rate-limited', retryAfterSeconds: 60 } })
    const other = await makeToken(ed, { claims: { sub: 'b' } })
    expect(find(other, 1)).toMatchObject({ problem: { type: 'rate-limited' } })
    // A token that was verified before needs no verification.
    expect(find(good, 1)).toBe(before)
    expect(find(other, 2)).toMatchObject({ kind: 'token' })
    expect(find(other, 1, NOW_MS + 60_000)).toMatchObject({ kind: 'token' })
  })

  it('leave no quotes or line breaks in the header of the response', async () => {
    const problem = tokens.find(await makeToken(ed, { claims: { iss: '"\r\nSet-Cookie: a=b' } }), NOW_MS, () => 1)
    expect(problem).toMatchObject({
      problem: { challenge: 'error="invalid_token", error_description="the token is of another issuer"' },
    })
  })
})

describe('the keys of the issuer', () => {
  it('are chosen without a kid only if there is one for the algorithm', async () => {
    const [first, second] = [await makeKeyPair('EdDSA'), await makeKeyPair('EdDSA')]
    expect(judge(new Tokens(SETTINGS, keysOf([first.jwk, ec.jwk])), await makeToken(first))).toMatchObject({
      kind: 'token',
    })
    expect(judge(new Tokens(SETTINGS, keysOf([first.jwk, second.jwk])), await makeToken(first))).toMatch(/names no kid/)
    const twice = keysOf([{ ...ed.jwk }, { ...second.jwk, kid: 'ed' }])
    expect(judge(new Tokens(SETTINGS, twice), await makeToken(ed))).toMatch(/has no key/)
  })

  it('are ignored if they are for something else', async () => {
    const short = await makeKeyPair('RS256', 'short', 1024).catch(() => undefined)
    const { d: _private, ...weak } = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({
      format: 'jwk',
    })
    const others: JWK[] = [
      { ...ed.jwk, use: 'enc' },
      { ...ed.jwk, key_ops: ['sign'] },
      { ...rsa.jwk, alg: 'PS256' },
      { ...(weak as JWK), kid: 'weak' },
      ...(short === undefined ? [] : [short.jwk]),
      { kty: 'oct', k: 'AAAA', kid: 'secret' },
      { ...(await makeKeyPair('ES384')).jwk },
      { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' },
      {} as JWK,
    ]
    expect(() => parseKeySet(JSON.stringify({ keys: others }))).toThrow('no key for EdDSA, ES256 or RS256')
    expect(parseKeySet(JSON.stringify({ keys: [...others, ec.jwk, null, 7] })).map(({ id }) => id)).toEqual(['ec'])
  })

  it('are refused whole if one is private, or there are too many', () => {
    expect(() => parseKeySet(JSON.stringify({ keys: [ed.jwk, { ...ec.jwk, d: 'AAAA' }] }))).toThrow('a private key')
    expect(() => parseKeySet(JSON.stringify({ keys: Array.from({ length: 33 }, () => ed.jwk) }))).toThrow('33 keys')
    expect(() => parseKeySet(`{"keys":[${' '.repeat(70_000)}]}`)).toThrow('more than 65536 bytes')
    for (const text of ['null', '{}', '{"keys":{}}', '[', '[]', '7']) expect(() => parseKeySet(text), text).toThrow()
  })

  it('stop the start if their file cannot be read', () => {
    const open = (source: string) => new IssuerKeys({ source, allowsPrivateAddresses: false, log, now: Date.now })
    expect(() => open(join(folder, 'absent.json'))).toThrow(ConfigError)
    const empty = join(folder, 'empty.json')
    writeFileSync(empty, '{"keys": []}')
    expect(() => open(empty)).toThrow(/JWT_JWKS=.*empty\.json.*no key for/)
  })

  it('of a URL are replaced, kept while it fails, and read at most once in ten seconds', async () => {
    const server = await KeySetServer.start([ed.jwk])
    try {
      let nowMs = NOW_MS
      const metrics = new Metrics()
      const keys = new IssuerKeys({ source: server.url, allowsPrivateAddresses: true, log, now: () => nowMs, metrics })
      const fromUrl = new Tokens(SETTINGS, keys)
      const token = await makeToken(ed)
      expect(judge(fromUrl, token)).toBe('the keys of the token issuer are being read; try again')
      await keys.refresh()
      expect(judge(fromUrl, token)).toMatchObject({ kind: 'token' })
      expect(server.requests).toBe(1)

      // A new key: not before the pause is over.
      server.keys = [ec.jwk]
      const rotated = await makeToken(ec)
      expect(judge(fromUrl, rotated)).toMatch(/has no key/)
      nowMs += 10_000
      expect(judge(fromUrl, rotated)).toMatch(/being read; try again/)
      await keys.refresh()
      expect(judge(fromUrl, rotated)).toMatchObject({ kind: 'token' })
      expect(server.requests).toBe(2)
      // The first key was withdrawn: what it has signed is not valid any more, although it was before.
      expect(judge(fromUrl, token)).toMatch(/has no key/)

      const warningsBefore = warnings.length
      const failures = [
        [500, undefined],
        [302, undefined],
        [200, 'x'.repeat(70_000)],
        [200, '<html>'],
        [200, '{"keys":[]}'],
      ] as const
      for (const [index, [status, text]] of failures.entries()) {
        server.status = status
        server.text = text
        await keys.refresh()
        expect(metrics.render()).toContain(`issuer_key_reads_total{outcome="failed"} ${index + 1}\n`)
        expect(judge(fromUrl, await makeToken(ec, { claims: { jti: String(index) } }))).toMatchObject({ kind: 'token' })
      }
      // Only the first failure is logged.
      expect(warnings.length).toBe(warningsBefore + 1)
      nowMs += 60_000
      expect(metrics.render()).toContain('issuer_keys_age_seconds 60\n')
      server.status = 200
      server.text = undefined
      await keys.refresh()
      expect(metrics.render()).toContain('issuer_keys_age_seconds 0\n')
      expect(metrics.render()).toContain('issuer_key_reads_total{outcome="ok"} 3\n')
    } finally {
      server.close()
    }
  })

  it.each([
    '127.0.0.1',
    'localhost',
    '[::1]',
    '10.0.0.1',
    '169.254.169.254',
    '[::ffff:127.0.0.1]',
    '[::7f00:1]',
    '[2002:7f00:1::]',
    '[64:ff9b:1::1]',
    '[fec0::1]',
    '[::ffff:0:7f00:1]',
  ])('are not fetched from %s unless that is allowed', async (host) => {
    const source = `http://${host}:9/keys`
    await new IssuerKeys({ source, allowsPrivateAddresses: false, log, now: Date.now }).refresh()
    expect(warnings.at(-1)).toMatch(/is a private address; JWT_JWKS_ALLOW_PRIVATE=1 allows it/)
  })
})
