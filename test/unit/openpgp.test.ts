import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readRecord } from '../../src/verify/device/pgp.ts'
import { verifyDetached } from '../../src/verify/openpgp/keyring.ts'
import { deviceContext, judgeDevice } from '../device-context.ts'
import { type Loose, NOW, SIGNALS } from '../evidence.ts'
import {
  armor,
  hashedKey,
  hashedName,
  type KeyringOptions,
  type PgpKey,
  type PgpKind,
  packet,
  pgpKey,
  pgpKeyring,
  pgpSignature,
  type SignatureOptions,
  signatureArmor,
  subpacket,
} from '../openpgp-maker.ts'

const KINDS: readonly PgpKind[] = ['rsa', 'ecdsa', 'eddsa', 'ed25519']
const TEXT = 'Location.Latitude,48.8584\n'
const primary = pgpKey('eddsa')
const subkey = pgpKey('rsa')

function verdict(keyring: KeyringOptions = {}, options: SignatureOptions = {}, text = TEXT, signer: PgpKey = primary) {
  const signature = signatureArmor(pgpSignature(signer, [Buffer.from(TEXT)], options))
  return verifyDetached(armor('PUBLIC KEY BLOCK', pgpKeyring(primary, keyring)), signature, text, NOW)
}

describe('a detached OpenPGP signature', () => {
  it.each(KINDS)('verifies with a key of kind %s, and not over another text', (kind) => {
    const key = pgpKey(kind)
    const ring = armor('PUBLIC KEY BLOCK', pgpKeyring(key))
    for (const hash of ['sha256', 'sha512']) {
      const signature = signatureArmor(pgpSignature(key, [Buffer.from(TEXT)], { hash }))
      expect(verifyDetached(ring, signature, TEXT, NOW)).toEqual({
        ok: true,
        fingerprint: key.fingerprint,
        createdSeconds: NOW,
      })
      expect(verifyDetached(ring, signature, `${TEXT} `, NOW).ok).toBe(false)
    }
  })

  // Regression: a size that is not a multiple of eight bits gave a fraction of a byte, and every signature was rejected.
  it.each([2050, 3070])('verifies with an RSA key of %i bits', (bits) => {
    const key = pgpKey('rsa', NOW - 86_400, bits)
    expect(key.pair.publicKey.asymmetricKeyDetails?.modulusLength).toBe(bits)
    const ring = armor('PUBLIC KEY BLOCK', pgpKeyring(key))
    const signature = signatureArmor(pgpSignature(key, [Buffer.from(TEXT)]))
    expect(verifyDetached(ring, signature, TEXT, NOW)).toMatchObject({ ok: true, fingerprint: key.fingerprint })
    expect(verifyDetached(ring, signature, `${TEXT} `, NOW).ok).toBe(false)
  })

  it('verifies when the clock of the signer is at most five minutes ahead', () => {
    expect(verdict({}, { createdSeconds: NOW + 300 })).toMatchObject({ ok: true })
    expect(verdict({}, { createdSeconds: NOW + 301 })).toEqual({
      ok: false,
      reason: 'the signature is from the future',
    })
  })

  const lifetime = (type: number, seconds: number) => subpacket(type, Buffer.of(0, 0, seconds >> 8, seconds & 0xff))

  it('ends with the last second of the lifetime that the signature covers', () => {
    expect(verdict({}, { createdSeconds: NOW - 59, covered: [lifetime(3, 60)] })).toMatchObject({ ok: true })
    expect(verdict({}, { createdSeconds: NOW - 60, covered: [lifetime(3, 60)] })).toMatchObject({ ok: false })
    expect(verdict({}, { createdSeconds: NOW - 90, covered: [lifetime(3, 0)] })).toMatchObject({ ok: true })
    // Anyone can change the part that the signature does not cover.
    expect(verdict({}, { createdSeconds: NOW - 90, uncovered: [lifetime(3, 60)] })).toMatchObject({ ok: true })
  })

  /** Verifies with a keyring to which a certification by the key itself is appended. */
  function verdictWith(keyring: KeyringOptions, certification: SignatureOptions) {
    const signed = [hashedKey(primary.body), hashedName(Buffer.from('Camera <camera@example.org>'))]
    const covered = [subpacket(27, Buffer.of(3)), ...(certification.covered ?? [])]
    const added = packet(2, pgpSignature(primary, signed, { type: 0x13, ...certification, covered }))
    const ring = armor('PUBLIC KEY BLOCK', Buffer.concat([pgpKeyring(primary, keyring), added]))
    return verifyDetached(ring, signatureArmor(pgpSignature(primary, [Buffer.from(TEXT)])), TEXT, NOW)
  }

  it('counts a self-signature only when it is made and has not expired', () => {
    const expired = { ok: false, reason: 'the key had expired when it signed' }
    expect(verdictWith({ expiresAfter: 60 }, { createdSeconds: NOW - 10 })).toMatchObject({ ok: true })
    expect(verdictWith({ expiresAfter: 60 }, { createdSeconds: NOW + 3600 })).toEqual(expired)
    const uncertified = { ok: false, reason: 'the key did not certify itself' }
    const createdSeconds = NOW - 90
    expect(verdictWith({ withoutSelfSignature: true }, { createdSeconds })).toMatchObject({ ok: true })
    expect(verdictWith({ withoutSelfSignature: true }, { createdSeconds, covered: [lifetime(3, 60)] })).toEqual(
      uncertified,
    )
    // A time in a form that is not one does not mean that the key lives for ever.
    expect(
      verdictWith({ withoutSelfSignature: true }, { createdSeconds, covered: [subpacket(9, Buffer.of(60))] }),
    ).toEqual(uncertified)
  })

  it('verifies with a signing subkey that is cross-certified with its primary key', () => {
    const ring = { flags: 1, subkey: { key: subkey } }
    expect(verdict(ring, {}, TEXT, subkey)).toMatchObject({ ok: true, fingerprint: primary.fingerprint })
    expect(verdict({ subkey: { key: subkey, isAnswered: false } }, {}, TEXT, subkey).ok).toBe(false)
    const answeredSeconds = NOW + 3600
    expect(verdict({ subkey: { key: subkey, answeredSeconds } }, {}, TEXT, subkey).ok).toBe(false)
    expect(verdict({ subkey: { key: subkey, isRevoked: true } }, {}, TEXT, subkey).ok).toBe(false)
    expect(verdict({ subkey: { key: subkey, flags: 12 } }, {}, TEXT, subkey).ok).toBe(false)
  })

  it('normalises line ends only in a signature over text', () => {
    const lines = 'a\nb\n'
    const signature = signatureArmor(pgpSignature(primary, [Buffer.from('a\r\nb\r\n')], { type: 1 }))
    const ring = armor('PUBLIC KEY BLOCK', pgpKeyring(primary))
    expect(verifyDetached(ring, signature, lines, NOW).ok).toBe(true)
    expect(verdict({}, {}, TEXT.replace('\n', '\r\n')).ok).toBe(false)
  })

  const critical = subpacket(0x80 | 40, Buffer.of(1))
  const BROKEN: readonly (readonly [string, string, () => ReturnType<typeof verdict>])[] = [
    ['another key', 'not of this key', () => verdict({}, {}, TEXT, pgpKey('eddsa'))],
    ['SHA-1', 'hash 2', () => verdict({}, { hash: 'sha1' })],
    ['a signature over a key', 'not of this key', () => verdict({}, { type: 0x13 }, '')],
    ['a revoked key', 'revoked', () => verdict({ isRevoked: true })],
    ['a key that was expired', 'expired', () => verdict({ expiresAfter: 60 })],
    [
      'a signature that has expired',
      'expired',
      () => verdict({}, { createdSeconds: NOW - 90, covered: [subpacket(3, Buffer.of(0, 0, 0, 60))] }),
    ],
    ['a lifetime of three bytes', 'not a time', () => verdict({}, { covered: [subpacket(3, Buffer.of(0, 0, 60))] })],
    ['a signature older than its key', 'older', () => verdict({}, { createdSeconds: NOW - 200_000 })],
    ['an unknown critical subpacket', 'critical', () => verdict({}, { covered: [critical] })],
    ['a key that may only certify', 'may not sign', () => verdict({ flags: 1 })],
    ['a key without a self-signature', 'certify itself', () => verdict({ withoutSelfSignature: true })],
  ]
  it.each(BROKEN)('is rejected for %s', (_, reason, evaluate) => {
    const outcome = evaluate()
    expect(outcome.ok).toBe(false)
    if (!outcome.ok && reason !== 'not of this key') expect(outcome.reason).toContain(reason)
  })

  // Regression: 24 signatures of P-521 and as many subkeys cost 0.1 s in one small stamp.
  it('checks at most twelve signatures made by the key itself, and none made by others', () => {
    const ring = pgpKeyring(primary)
    const name = Buffer.from('Camera <camera@example.org>')
    const signBy = (key: PgpKey) =>
      packet(2, pgpSignature(key, [hashedKey(primary.body), hashedName(name)], { type: 0x10 }))
    const verifyWithKeyring = (bytes: Buffer) =>
      verifyDetached(
        armor('PUBLIC KEY BLOCK', bytes),
        signatureArmor(pgpSignature(primary, [Buffer.from('x')])),
        'x',
        NOW,
      )
    const others = Array(40).fill(signBy(pgpKey('ed25519')))
    expect(verifyWithKeyring(Buffer.concat([ring, ...others]))).toMatchObject({ ok: true })
    const withOwnSignatures = (count: number) => Buffer.concat([ring, ...Array(count).fill(signBy(primary))])
    expect(verifyWithKeyring(withOwnSignatures(11))).toMatchObject({ ok: true })
    expect(verifyWithKeyring(withOwnSignatures(12))).toEqual({
      ok: false,
      reason: 'more than 12 self-signatures',
    })
  })

  it('is rejected for a weak key', () => {
    const weak = pgpKey('rsa', NOW - 86_400, 1024)
    const signature = signatureArmor(pgpSignature(weak, [Buffer.from(TEXT)]))
    const outcome = verifyDetached(armor('PUBLIC KEY BLOCK', pgpKeyring(weak)), signature, TEXT, NOW)
    expect(outcome).toEqual({ ok: false, reason: 'an RSA key of 1024 bits' })
  })

  it('is rejected with any bit of it flipped, and never throws', () => {
    const body = pgpSignature(primary, [Buffer.from(TEXT)])
    const ring = armor('PUBLIC KEY BLOCK', pgpKeyring(primary))
    // The issuer hint, which no signature covers: a subpacket of 10 bytes after 6 + 29 bytes and the length of its area.
    const isHint = (at: number) => at >= 37 && at < 47
    for (let at = 0; at < body.length; at++) {
      const copy = Buffer.from(body)
      copy[at]! ^= 1
      if (!isHint(at)) expect(verifyDetached(ring, signatureArmor(copy), TEXT, NOW).ok, `byte ${at}`).toBe(false)
    }
  })

  it('never names another signer when a byte of the key is changed, and never throws', () => {
    const bytes = pgpKeyring(primary, { subkey: { key: subkey } })
    const signature = signatureArmor(pgpSignature(primary, [Buffer.from(TEXT)]))
    for (let at = 0; at < bytes.length; at += 3) {
      const copy = Buffer.from(bytes)
      copy[at]! ^= 0x10
      const outcome = verifyDetached(armor('PUBLIC KEY BLOCK', copy), signature, TEXT, NOW)
      if (outcome.ok) expect(outcome.fingerprint).toBe(primary.fingerprint)
    }
  })

  it.each([
    ['an empty text', ''],
    ['no armour', 'hello'],
    ['armour of a private key', '-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nAAAA\n-----END PGP PRIVATE KEY BLOCK-----'],
    ['two blocks', armor('PUBLIC KEY BLOCK', pgpKeyring(primary)).repeat(2)],
    ['a wrong checksum', armor('PUBLIC KEY BLOCK', pgpKeyring(primary)).replace(/=....\n-----END/, '=AAAA\n-----END')],
    [
      'seventy packets',
      armor('PUBLIC KEY BLOCK', Buffer.concat([pgpKeyring(primary), ...Array(70).fill(packet(13, Buffer.of(1)))])),
    ],
    ['a partial length', armor('PUBLIC KEY BLOCK', Buffer.of(0xc6, 0xe1, 0, 0))],
  ])('is rejected for a key that is %s', (_, key) => {
    const signature = signatureArmor(pgpSignature(primary, [Buffer.from(TEXT)]))
    expect(verifyDetached(key, signature, TEXT, NOW).ok).toBe(false)
  })

  it('verifies a signature made by GnuPG', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pgp-'))
    const home = join(folder, 'home')
    mkdirSync(home, { mode: 0o700 })
    const gpg = (...args: string[]) =>
      spawnSync('gpg', ['--homedir', home, '--batch', '--yes', '--quiet', '--passphrase', '', ...args], {
        encoding: 'utf8',
      })
    try {
      const { error, stdout } = gpg('--version')
      if (error !== undefined) return void console.log(`skipped: gpg does not run (${error.message})`)
      const file = join(folder, 'record.csv')
      writeFileSync(file, TEXT)
      for (const kind of ['ed25519', 'rsa2048', 'nistp256']) {
        const generated = gpg('--quick-gen-key', kind, kind, 'sign', '0')
        if (generated.status !== 0) return void console.log(`skipped: ${stdout.split('\n')[0]} makes no ${kind} key`)
        gpg('--armor', '--local-user', kind, '--output', `${file}.asc`, '--detach-sign', file)
        const key = gpg('--armor', '--export', kind).stdout
        const signature = readFileSync(`${file}.asc`, 'utf8')
        const outcome = verifyDetached(key, signature, TEXT, Math.floor(Date.now() / 1000))
        const listed = gpg('--with-colons', '--list-keys', kind).stdout
        const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(listed)![1]
        expect(outcome, kind).toMatchObject({ ok: true, fingerprint })
        expect(verifyDetached(key, signature, `${TEXT}x`, 2e9).ok).toBe(false)
      }
    } finally {
      spawnSync('gpgconf', ['--homedir', home, '--kill', 'all'])
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('made by our fixtures is verified by GnuPG', () => {
    // Otherwise the fixtures and the reader could share a mistake.
    const folder = mkdtempSync(join(tmpdir(), 'pgp-'))
    const home = join(folder, 'home')
    mkdirSync(home, { mode: 0o700 })
    const file = (name: string) => join(folder, name)
    try {
      writeFileSync(file('t'), TEXT)
      for (const kind of ['rsa', 'ecdsa', 'eddsa'] as const) {
        const key = pgpKey(kind)
        writeFileSync(file('k'), armor('PUBLIC KEY BLOCK', pgpKeyring(key, { subkey: { key: subkey } })))
        writeFileSync(file('s'), signatureArmor(pgpSignature(key, [Buffer.from(TEXT)])))
        const imported = spawnSync('gpg', ['--homedir', home, '--batch', '--quiet', '--import', file('k')], {
          encoding: 'utf8',
        })
        if (imported.error !== undefined)
          return void console.log(`skipped: gpg does not run (${imported.error.message})`)
        const { stdout } = spawnSync(
          'gpg',
          ['--homedir', home, '--batch', '--status-fd', '1', '--verify', file('s'), file('t')],
          {
            encoding: 'utf8',
          },
        )
        expect(stdout, kind).toContain(`VALIDSIG ${key.fingerprint}`)
      }
    } finally {
      spawnSync('gpgconf', ['--homedir', home, '--kill', 'all'])
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('a record signed by a phone', () => {
  const record = SIGNALS['proofmode']!
  const csv = `${Object.keys(record).join(',')}\n${Object.values(record)
    .map((value) => `"${value}"`)
    .join(',')}\n`

  function evaluate(text: string, signals: Loose = {}, trust: Loose = {}) {
    const ownSignals = {
      'PGP.PublicKey': armor('PUBLIC KEY BLOCK', pgpKeyring(primary)),
      'PGP.MetadataSignature': signatureArmor(pgpSignature(primary, [Buffer.from(text)])),
      'PGP.Metadata': text,
    }
    return judgeDevice(deviceContext({ ...ownSignals, ...signals }), trust)
  }

  it.each([
    ['CSV of two lines', csv],
    [
      'CSV of pairs',
      Object.entries(record)
        .map(([name, value]) => `${name},${value}`)
        .join('\r\n'),
    ],
    ['JSON', JSON.stringify(record)],
  ])('confirms the signals when it is %s', (_, text) => {
    const { failed, warned, facts } = evaluate(text)
    expect({ failed, warned }).toEqual({ failed: [], warned: [] })
    expect(facts.pgp).toEqual({ fingerprint: primary.fingerprint, signedMembers: Object.keys(record).length })
  })

  it.each([
    ['pgp-signature', { 'PGP.Metadata': `${csv} ` }, {}],
    ['pgp-signature', { 'PGP.PublicKey': armor('PUBLIC KEY BLOCK', pgpKeyring(subkey)) }, {}],
    ['pgp-record-equal', { 'Location.Latitude': '48.9' }, {}],
    ['pgp-key-pinned', {}, { pgpFingerprints: ['A'.repeat(40)] }],
  ])('fails %s when the signed content differs', (id, signals, trust) => {
    expect(evaluate(csv, signals, trust).failed).toEqual([id])
  })

  it('must cover position and time', () => {
    expect(evaluate(JSON.stringify({ FileHash: record['FileHash'] })).failed).toEqual(['pgp-record-covers'])
    expect(evaluate('what\nis this,then').failed).toEqual(['pgp-record'])
    // Regression: a stamp without the time of its signed record was accepted for any time.
    const { failed, facts } = evaluate(csv, { 'Location.Time': undefined })
    expect({ failed, facts }).toEqual({ failed: ['pgp-record-covers'], facts: {} })
  })

  it('accepts a key pinned by the operator, and reports what is missing', () => {
    expect(evaluate(csv, {}, { pgpFingerprints: [primary.fingerprint] }).failed).toEqual([])
    const { failed, facts, list } = evaluate(csv, { 'PGP.Metadata': '' })
    expect({ failed, facts }).toEqual({ failed: [], facts: {} })
    expect(list).toContainEqual(expect.objectContaining({ id: 'pgp-unverifiable', measured: 'PGP.Metadata missing' }))
  })

  it('is parsed strictly', () => {
    expect([...readRecord('a,b,\n1,"2,""3",\n')!]).toEqual([
      ['a', '1'],
      ['b', '2,"3'],
    ])
    expect(readRecord('{"a:{":{"b":[":",{"c":1}]},"d":"\\"}"}')?.size).toBe(2)
    for (const text of ['', 'a', 'a,a\n1,2', '"a', 'a"b,c\nd,e', '[1]', 'a,b\n1\n2', `{"a":1`, '{"a":1,"\\u0061":2}']) {
      expect(readRecord(text), text).toBeUndefined()
    }
  })
})
