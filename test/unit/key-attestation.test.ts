import { spawnSync } from 'node:child_process'
import { createHash, sign } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PINNED_ROOTS } from '../../src/verify/device/trust.ts'
import { canonicalJson } from '../canonical-json.ts'
import {
  androidChain,
  type CertificateFields,
  certificate,
  type Description,
  ed25519Key,
  ellipticKey,
  extension,
  KEY_DESCRIPTION_ID,
  keyDescription,
  PACKAGE_SIGNER,
  pemOf,
  phoneMaker,
  rsaKey,
  spkiOf,
} from '../certificates.ts'
import { objectIdentifier, sequence } from '../der-writer.ts'
import { commitment, deviceContext, judgeDevice } from '../device-context.ts'
import { type Loose, NOW } from '../evidence.ts'

const maker = phoneMaker()
const trust = { androidRoots: [maker.rootPem] }

function chainFor(description: Partial<Description> = {}, leaf: Partial<CertificateFields> = {}): Buffer[] {
  return androidChain(maker, { challenge: commitment(deviceContext()), ...description }, leaf)
}

function judge(chain: readonly Buffer[], changes: Loose = {}, settings: Loose = {}) {
  const x5c = chain.map((der) => der.toString('base64'))
  return judgeDevice(deviceContext({ 'AndroidKeyAttestation.x5c': x5c }, changes), { ...trust, ...settings })
}

describe('Android key attestation', () => {
  it('is accepted when it is from secure hardware, bound to this stamp and under a trusted root', () => {
    const { facts, failed, warned } = judge(chainFor())
    expect({ failed, warned }).toEqual({ failed: [], warned: [] })
    expect(facts.keyAttestation).toEqual({
      securityLevel: 'trusted-environment',
      bootState: 'verified',
      boundBy: 'sha256',
      packages: ['org.example.camera'],
      patchLevel: 202_509,
    })
  })

  it('is tested with chains that OpenSSL verifies too', () => {
    // Otherwise the fixtures and our reader could share a mistake.
    const folder = mkdtempSync(join(tmpdir(), 'chain-'))
    try {
      const names = chainFor().map((der, index) => {
        const file = join(folder, `${index}.pem`)
        writeFileSync(file, `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`)
        return file
      })
      const [leaf, authority, middle, root] = names as [string, string, string, string]
      const args = [
        'verify',
        '-attime',
        String(NOW),
        '-CAfile',
        root,
        '-untrusted',
        authority,
        '-untrusted',
        middle,
        leaf,
      ]
      const { status, error, stderr } = spawnSync('openssl', args, { encoding: 'utf8' })
      if (error !== undefined) console.log(`skipped: openssl does not run (${error.message})`)
      else expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('accepts a keccak-256 challenge and a StrongBox, and warns of a challenge that covers only the file', () => {
    const context = deviceContext()
    expect(
      judge(chainFor({ challenge: commitment(context, 'keccak256'), keyLevel: 2, attestationLevel: 2 })),
    ).toMatchObject({
      failed: [],
      warned: [],
      facts: { keyAttestation: { securityLevel: 'strongbox', boundBy: 'keccak256' } },
    })
    const file = judge(chainFor({ challenge: commitment(context, 'FileHash') }))
    expect(file).toMatchObject({ failed: [], warned: ['key-attestation-covers-location'], facts: {} })
  })

  // Regression: anyone can write FileHash, so each published chain vouched for any made-up stamp.
  it('vouches for nothing when a copied challenge is written into FileHash', () => {
    const FileHash = commitment(deviceContext()).toString('hex')
    const x5c = chainFor().map((der) => der.toString('base64'))
    const copied = deviceContext({ 'AndroidKeyAttestation.x5c': x5c, FileHash, 'Location.Latitude': '35.69' })
    const { facts, warned } = judgeDevice(copied, trust)
    expect(facts).toEqual({})
    expect(warned).toEqual(['key-attestation-covers-location'])
  })

  it('vouches only for the file when its challenge is the hash of the file that was sent', () => {
    const media = Buffer.from('a photograph')
    const FileHash = createHash('sha256').update(media).digest('hex').toUpperCase()
    const x5c = chainFor({ challenge: Buffer.from(FileHash, 'hex') }).map((der) => der.toString('base64'))
    const signals = { 'AndroidKeyAttestation.x5c': x5c, FileHash }
    const { facts, warned, failed } = judgeDevice(deviceContext(signals, {}, media), trust)
    expect(facts).toMatchObject({ keyAttestation: { boundBy: 'FileHash' } })
    expect({ warned, failed }).toEqual({ warned: ['key-attestation-covers-location'], failed: [] })
    expect(judgeDevice(deviceContext(signals, {}, Buffer.from('another')), trust).facts).toEqual({})
  })

  // Regression: forgers can give their own app any name.
  it('identifies an app by its signer, and warns when only its name is configured', () => {
    const androidPackages = ['org.example.camera']
    const androidSigners = [PACKAGE_SIGNER.toString('hex')]
    const createForged = () => chainFor({ packageSigner: Buffer.alloc(32, 7) })
    expect(judge(chainFor(), {}, { androidPackages, androidSigners })).toMatchObject({ failed: [], warned: [] })
    expect(judge(createForged(), {}, { androidPackages, androidSigners }).failed).toEqual([
      'key-attestation-app-signer',
    ])
    expect(judge(createForged(), {}, { androidSigners }).failed).toEqual(['key-attestation-app-signer'])
    expect(judge(createForged(), {}, { androidPackages }).warned).toEqual(['key-attestation-app-signer'])
  })

  it('accepts the attested key as the signer of the stamp, whatever the challenge', () => {
    const { publicKey, privateKey } = ed25519Key()
    const key = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('hex')
    const signer = { scheme: 'device-pubkey', value: `0x${key.toUpperCase()}` }
    const chain = chainFor({ challenge: Buffer.from('whatever') }, { key: publicKey })
    const x5c = chain.map((der) => der.toString('base64'))
    const { signatures: _, ...unsigned } = deviceContext({ 'AndroidKeyAttestation.x5c': x5c }).stamp
    const value = sign(null, Buffer.from(canonicalJson(unsigned)), privateKey).toString('hex')
    const signature = { signer, algorithm: 'ed25519', value, timestamp: NOW }
    expect(judge(chain, { signatures: [signature] })).toMatchObject({
      failed: [],
      warned: [],
      facts: { keyAttestation: { boundBy: 'key' } },
    })
    // RFC 5280, 4.2.1.3: a key that may only encrypt (keyEncipherment) vouches for no signature.
    const encrypts = androidChain(maker, { challenge: Buffer.from('whatever') }, { key: publicKey, keyUsage: 0x20 })
    const unsignedOther = deviceContext({ 'AndroidKeyAttestation.x5c': encrypts.map((der) => der.toString('base64')) })
    const { signatures: __, ...other } = unsignedOther.stamp
    const otherValue = sign(null, Buffer.from(canonicalJson(other)), privateKey).toString('hex')
    expect(judge(encrypts, { signatures: [{ ...signature, value: otherValue }] })).toMatchObject({
      failed: ['key-attestation-binding'],
      facts: {},
    })
    // Regression: a named signer counted without a valid signature.
    for (const broken of [{ value: `${value.slice(2)}00` }, { value: '00' }, { signer: { ...signer, value: '00' } }]) {
      const { failed, facts } = judge(chain, { signatures: [{ ...signature, ...broken }] })
      expect({ failed, facts }).toEqual({ failed: ['key-attestation-binding'], facts: {} })
    }
  })

  it('warns of a system that the manufacturer of the phone did not sign', () => {
    expect(judge(chainFor({ bootState: 1 }))).toMatchObject({ failed: [], warned: ['key-attestation-maker-system'] })
  })

  it('requires a pinned root: a valid chain under another root is rejected', () => {
    const x5c = chainFor().map((der) => der.toString('base64'))
    const { failed } = judgeDevice(deviceContext({ 'AndroidKeyAttestation.x5c': x5c }))
    expect(failed).toEqual(['key-attestation-chain'])
    expect(PINNED_ROOTS.android).not.toBe(spkiOf(maker.root.publicKey).toString('base64'))
  })

  const OTHER_MAKER = phoneMaker()
  const [LEAF, AUTHORITY, MIDDLE, ROOT] = chainFor() as [Buffer, Buffer, Buffer, Buffer]
  const flipBit = (der: Buffer, index: number) => {
    const copy = Buffer.from(der)
    copy[index]! ^= 1
    return copy
  }
  const CHAIN = 'key-attestation-chain'
  const POLICIES_ID = '2.5.29.32'
  const USAGE_ID = '2.5.29.37'
  const SERVER_AUTH = sequence(objectIdentifier('1.3.6.1.5.5.7.3.1'))
  const ANY_PURPOSE = sequence(objectIdentifier('1.3.6.1.5.5.7.3.1'), objectIdentifier('2.5.29.37.0'))
  const ANY_POLICY = sequence(sequence(objectIdentifier('2.5.29.32.0')))
  const BROKEN: readonly (readonly [string, string, () => readonly Buffer[], Loose?, Loose?])[] = [
    ['a challenge for another stamp', 'key-attestation-binding', () => chainFor({ challenge: Buffer.alloc(32, 9) })],
    ['no challenge', 'key-attestation-binding', () => chainFor({ challenge: Buffer.alloc(0) })],
    [
      'a stamp that was moved afterwards',
      'key-attestation-binding',
      chainFor,
      { location: { type: 'Point', coordinates: [3, 48] } },
    ],
    ['an attestation by software', 'key-attestation-level', () => chainFor({ attestationLevel: 0 })],
    ['a key held by software', 'key-attestation-level', () => chainFor({ keyLevel: 0 })],
    ['an imported key', 'key-attestation-origin', () => chainFor({ origin: 2 })],
    ['an unlocked boot loader', 'key-attestation-locked', () => chainFor({ isLocked: false })],
    ['an unverified system', 'key-attestation-boot', () => chainFor({ bootState: 2 })],
    ['another app', 'key-attestation-package', chainFor, {}, { androidPackages: ['org.example.other'] }],
    ['a revoked authority', CHAIN, chainFor, {}, { revokedSerials: ['3'] }],
    ['a leaf that was not yet valid', CHAIN, () => chainFor({}, { notBefore: NOW + 10 })],
    ['a leaf that had expired', CHAIN, () => chainFor({}, { notAfter: NOW - 10 })],
    ['SHA-1', CHAIN, () => chainFor({}, { hash: 'sha1' })],
    ['an RSA key of 1024 bits', CHAIN, () => chainFor({}, { key: rsaKey(1024).publicKey })],
    ['a key on a Bitcoin curve', CHAIN, () => chainFor({}, { key: ellipticKey('secp256k1').publicKey })],
    [
      'an unknown critical extension',
      CHAIN,
      () => chainFor({}, { extensions: [extension('1.2.3', sequence(), true)] }),
    ],
    // RFC 5280, 4.2.1.4: critical policies must be interpreted, or the certificate must be rejected.
    [
      'critical certificate policies',
      CHAIN,
      () => chainFor({}, { extensions: [extension(POLICIES_ID, ANY_POLICY, true)] }),
    ],
    // RFC 5280, 4.2.1.12: the certificate must only be used for a purpose in the list, whether or not it is critical.
    [
      'a critical extended key usage for web servers',
      CHAIN,
      () => chainFor({}, { extensions: [extension(USAGE_ID, SERVER_AUTH, true)] }),
    ],
    [
      'an extended key usage for web servers',
      CHAIN,
      () => chainFor({}, { extensions: [extension(USAGE_ID, SERVER_AUTH)] }),
    ],
    [
      'an extended key usage that is no list',
      CHAIN,
      () => chainFor({}, { extensions: [extension(USAGE_ID, objectIdentifier('2.5.29.37.0'), true)] }),
    ],
    ['a flipped bit in the leaf’s signature', CHAIN, () => [flipBit(LEAF, LEAF.length - 3), AUTHORITY, MIDDLE, ROOT]],
    [
      'a flipped bit in the description',
      CHAIN,
      () => [flipBit(LEAF, LEAF.indexOf('org.example')), AUTHORITY, MIDDLE, ROOT],
    ],
    ['a missing authority', CHAIN, () => [LEAF, MIDDLE, ROOT]],
    ['certificates out of order', CHAIN, () => [LEAF, MIDDLE, AUTHORITY, ROOT]],
    ['an authority of another manufacturer', CHAIN, () => [LEAF, ...OTHER_MAKER.above]],
    ['a root that has only the same name', CHAIN, () => [LEAF, AUTHORITY, MIDDLE, OTHER_MAKER.above[2]!]],
    ['a certificate twice', CHAIN, () => [LEAF, AUTHORITY, AUTHORITY, MIDDLE, ROOT]],
    ['bytes after a certificate', CHAIN, () => [Buffer.concat([LEAF, Buffer.of(0)]), AUTHORITY, MIDDLE, ROOT]],
    ['a description cut short', CHAIN, () => [LEAF.subarray(0, 300), AUTHORITY, MIDDLE, ROOT]],
    ['nine certificates', CHAIN, () => Array.from({ length: 9 }, () => LEAF)],
    ['no certificate', CHAIN, () => []],
    ['no description', 'key-attestation-description', () => [AUTHORITY, MIDDLE, ROOT]],
  ]
  it('accepts certificate policies that are not critical', () => {
    expect(judge(chainFor({}, { extensions: [extension(POLICIES_ID, ANY_POLICY)] })).failed).toEqual([])
  })

  it.each([true, false])('accepts an extended key usage for any purpose (critical: %s)', (isCritical) => {
    const extensions = [extension(USAGE_ID, ANY_PURPOSE, isCritical)]
    expect(judge(chainFor({}, { extensions })).failed).toEqual([])
  })

  it('rejects a chain with an authority for web servers', () => {
    const [root, authority] = [rsaKey(), ellipticKey()]
    const createChain = (extensions: readonly Buffer[]) => [
      certificate(
        {
          subject: 'L',
          issuer: 'A',
          key: ellipticKey().publicKey,
          extensions: [extension(KEY_DESCRIPTION_ID, keyDescription({ challenge: commitment(deviceContext()) }))],
        },
        authority.privateKey,
      ),
      certificate({ subject: 'A', issuer: 'R', key: authority.publicKey, authority: {}, extensions }, root.privateKey),
    ]
    const androidRoots = [pemOf(root.publicKey)]
    expect(judge(createChain([]), {}, { androidRoots }).failed).toEqual([])
    expect(judge(createChain([extension(USAGE_ID, SERVER_AUTH, true)]), {}, { androidRoots }).failed).toEqual([CHAIN])
  })

  for (const [name, id, chain, changes = {}, settings = {}] of BROKEN) {
    it(`rejects ${name}`, () => {
      const { failed, facts } = judge(chain(), changes, settings)
      expect(failed).toContain(id)
      if (id === CHAIN) expect(facts.keyAttestation).toBeUndefined()
    })
  }

  it('rejects a chain that an app extended below its own attested key', () => {
    // The attested key is not an authority. Even if it were, only the leaf may describe a key.
    const attested = ellipticKey()
    const createForged = (authority: CertificateFields['authority']) => {
      const chain = chainFor(
        { challenge: Buffer.from('app') },
        { key: attested.publicKey, subject: 'App', ...(authority && { authority }) },
      )
      const description = extension(KEY_DESCRIPTION_ID, keyDescription({ challenge: commitment(deviceContext()) }))
      const key = ellipticKey().publicKey
      return [
        certificate({ subject: 'X', issuer: 'App', key, extensions: [description] }, attested.privateKey),
        ...chain,
      ]
    }
    expect(judge(createForged(undefined)).failed).toEqual([CHAIN])
    // An authority below another one whose path length is 0.
    expect(judge(createForged({})).failed).toEqual([CHAIN])
  })

  it('rejects a second description in an authority, even in a path that allows it', () => {
    const root = rsaKey()
    const authority = ellipticKey()
    const description = (challenge: Buffer) => extension(KEY_DESCRIPTION_ID, keyDescription({ challenge }))
    const chain = [
      certificate(
        {
          subject: 'L',
          issuer: 'A',
          key: ellipticKey().publicKey,
          extensions: [description(commitment(deviceContext()))],
        },
        authority.privateKey,
      ),
      certificate(
        {
          subject: 'A',
          issuer: 'R',
          key: authority.publicKey,
          authority: {},
          extensions: [description(Buffer.alloc(0))],
        },
        root.privateKey,
      ),
    ]
    expect(judge(chain, {}, { androidRoots: [pemOf(root.publicKey)] }).failed).toEqual(['key-attestation-description'])
  })

  it('gives a failed check for malformed signals, and never throws', () => {
    for (const value of [
      null,
      5,
      {},
      'x',
      [[]],
      [null],
      { x5c: 'AAAA' },
      ['A'.repeat(40_000)],
      Array(2000).fill('AAAA'),
    ]) {
      const { failed } = judgeDevice(deviceContext({ AndroidKeyAttestation: value }), trust)
      expect(failed, JSON.stringify(value).slice(0, 40)).toEqual([CHAIN])
    }
  })

  it('rejects every flipped bit in the signed part of a leaf', () => {
    for (let index = 0; index < LEAF.length; index += 7) {
      const { facts } = judge([flipBit(LEAF, index), AUTHORITY, MIDDLE, ROOT])
      expect(facts.keyAttestation, `byte ${index}`).toBeUndefined()
    }
  })
})
