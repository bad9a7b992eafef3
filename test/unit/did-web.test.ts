import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/config/setting.ts'
import { javascriptKeccak } from '../../src/crypto/noble-hashes.ts'
import { readDidDocuments } from '../../src/service/verify/evidence.ts'
import { readDidDocument } from '../../src/verify/did-web.ts'
import { canonicalJson } from '../canonical-json.ts'
import { account, type Loose, NOW, personalSign, proofOf, unsignedStamp } from '../evidence.ts'
import { createVerifier } from '../verify-runner.ts'

const DID = 'did:web:example.org:cameras'
const keccak = javascriptKeccak()
const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const jwk = publicKey.export({ format: 'jwk' })

const documentJson = (methods: readonly Loose[], changes: Loose = {}): string =>
  JSON.stringify({
    id: DID,
    verificationMethod: methods,
    assertionMethod: methods.map(({ id }) => id),
    ...changes,
  })
const walletMethod = { id: `${DID}#wallet`, blockchainAccountId: `eip155:1:${account(3).address}` }
const ed25519Method = { id: '#edwards', publicKeyJwk: jwk }
const readKeys = (method: Loose) => readDidDocument(documentJson([{ id: '#k', ...method }]), keccak).keys

describe('a DID document', () => {
  it('gives the keys that published examples give', () => {
    // The first examples of the did:key specification: Ed25519 from seed 0, and a key on secp256k1.
    const ed25519Keys = readKeys({ publicKeyMultibase: 'z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp' })
    expect(ed25519Keys).toEqual([
      { fragment: 'k', key: 'ed25519:3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29' },
    ])
    const multibase = readKeys({ publicKeyMultibase: 'zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme' })
    const hex = '03874c15c7fda20e539c6e5ba573c139884c351188799f5458b4b41f7924f235cd'
    expect(multibase).toEqual(readKeys({ type: 'EcdsaSecp256k1VerificationKey2019', publicKeyHex: hex }))
    const full = Buffer.from(account(3).publicKey)
    const [x, y] = [full.subarray(1, 33), full.subarray(33)].map((half) => half.toString('base64url'))
    const wallet = [{ fragment: 'k', key: account(3).address }]
    expect(readKeys({ publicKeyJwk: { kty: 'EC', crv: 'secp256k1', x, y } })).toEqual(wallet)
    expect(
      readKeys({
        blockchainAccountId: walletMethod.blockchainAccountId.toUpperCase().replace('EIP155:1:0X', 'eip155:1:0x'),
      }),
    ).toEqual(wallet)
  })

  it.each<[string, string, RegExp]>([
    ['another method', documentJson([walletMethod], { id: 'did:key:z6Mk' }), /did:web/],
    ['no assertion key', documentJson([walletMethod], { assertionMethod: [] }), /no key/],
    ['a key of another kind', documentJson([{ id: '#k', publicKeyJwk: { kty: 'EC', crv: 'P-256' } }]), /no key/],
    [
      'a reference to nothing',
      documentJson([walletMethod], { assertionMethod: ['#other'] }),
      /does not name a verification method/,
    ],
    [
      'a key off the curve',
      documentJson([{ id: '#k', type: 'EcdsaSecp256k1VerificationKey2019', publicKeyHex: `02${'ff'.repeat(32)}` }]),
      /not a point/,
    ],
    ['too many keys', documentJson(Array(17).fill(walletMethod)), /at most 16/],
    ['a deactivated document', documentJson([walletMethod], { deactivated: true }), /deactivated/],
    ['text that is not JSON', '{', /JSON/],
    ['a list', '[]', /object/],
  ])('is rejected for %s', (_, text, reason) => {
    expect(() => readDidDocument(text, keccak)).toThrow(reason)
  })
})

describe('stamps signed as did:web', () => {
  let verifier: Awaited<ReturnType<typeof createVerifier>>
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'did-'))
    mkdirSync(join(folder, 'example.org'))
    writeFileSync(join(folder, 'example.org', 'did.json'), documentJson([walletMethod, ed25519Method]))
    writeFileSync(join(folder, 'README.txt'), 'not a document')
    verifier = await createVerifier({ allowMock: true, didKeys: readDidDocuments(folder) })
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const text = canonicalJson(unsignedStamp())
  const walletSignature = personalSign(text, 3)
  const ed25519Signature = sign(null, Buffer.from(text), privateKey).toString('hex')
  const signStamp = (value: string, algorithm = 'secp256k1', signature = walletSignature): Loose => ({
    ...unsignedStamp(),
    signatures: [{ signer: { scheme: 'did:web', value }, algorithm, value: signature, timestamp: NOW }],
  })
  const checkSignature = async (stamp: Loose) => (await verifier.stamp(stamp))['details'].signatures[0]

  it('verify with a key of the document, and count as signed by its DID', async () => {
    expect(await checkSignature(signStamp(DID))).toMatchObject({
      ok: true,
      reason: 'eip191',
      recovered: account(3).address,
    })
    expect(await checkSignature(signStamp(`${DID}#wallet`))).toMatchObject({ ok: true })
    expect(await checkSignature(signStamp(DID, 'ed25519', ed25519Signature))).toMatchObject({
      ok: true,
      reason: 'ed25519',
    })
    const subject = { scheme: 'did:web', value: DID }
    const stamps = [signStamp(`${DID}#wallet`), signStamp(DID, 'ed25519', ed25519Signature)]
    const { credibility } = await verifier.proof(proofOf(stamps, { subject }))
    expect(credibility.extensions).toMatchObject({ boundToSubjectFraction: 1, distinctSigners: 2 })
  })

  it.each<[string, Loose, string]>([
    ['another key', signStamp(DID, 'secp256k1', personalSign(text, 4)), 'signer-mismatch'],
    ['a key of the document other than the named one', signStamp(`${DID}#edwards`), 'did-without-such-key'],
    ['an unknown DID', signStamp('did:web:example.com'), 'did-unknown'],
    ['the name of an inherited property', signStamp('constructor'), 'did-unknown'],
    ['an unknown algorithm', signStamp(DID, 'p256'), 'unsupported-algorithm'],
    ['no signature', signStamp(DID, 'secp256k1', '0x00'), 'signature is not 0x and 130 hex digits (65 bytes r, s, v)'],
  ])('are rejected with %s', async (_, stamp, reason) => {
    expect(await checkSignature(stamp)).toMatchObject({ ok: false, reason })
  })

  it('stop the start when a document is unusable', () => {
    const badFolder = mkdtempSync(join(tmpdir(), 'did-bad-'))
    try {
      writeFileSync(join(badFolder, 'a.json'), documentJson([walletMethod]))
      expect(readDidDocuments(badFolder).size).toBe(1)
      writeFileSync(join(badFolder, 'b.json'), documentJson([walletMethod]))
      expect(() => readDidDocuments(badFolder)).toThrow(
        /DID_WEB_DIR.*b\.json: did:web:example\.org:cameras is already defined by another file/,
      )
      expect(() => readDidDocuments(join(badFolder, 'nowhere'))).toThrow(ConfigError)
    } finally {
      rmSync(badFolder, { recursive: true })
    }
  })
})
