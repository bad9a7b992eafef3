import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/config.ts'
import { javascriptKeccak } from '../../src/crypto/keccak-javascript.ts'
import { readDidDocuments } from '../../src/service/did-documents.ts'
import { readDidDocument } from '../../src/verify/did-web.ts'
import { canonicalJson } from '../canonical-json.ts'
import { account, type Loose, NOW, personalSign, proofOf, unsignedStamp } from '../evidence.ts'
import { createVerifier } from '../verify-runner.ts'

const DID = 'did:web:example.org:cameras'
const keccak = javascriptKeccak()
const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const jwk = publicKey.export({ format: 'jwk' })

const documentOf = (methods: readonly Loose[], changes: Loose = {}): string =>
  JSON.stringify({
    id: DID,
    verificationMethod: methods,
    assertionMethod: methods.map(({ id }) => id),
    ...changes,
  })
const address = { id: `${DID}#wallet`, blockchainAccountId: `eip155:1:${account(3).address}` }
const edwards = { id: '#edwards', publicKeyJwk: jwk }
const keysOf = (method: Loose) => readDidDocument(documentOf([{ id: '#k', ...method }]), keccak).keys

describe('a DID document', () => {
  it('gives keys as others write them', () => {
    // The first examples of the did:key specification: seed 0 of Ed25519, and a key on secp256k1.
    const ed = keysOf({ publicKeyMultibase: 'z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp' })
    expect(ed).toEqual([
      { fragment: 'k', key: 'ed25519:3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29' },
    ])
    const multibase = keysOf({ publicKeyMultibase: 'zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme' })
    const hex = '03874c15c7fda20e539c6e5ba573c139884c351188799f5458b4b41f7924f235cd'
    expect(multibase).toEqual(keysOf({ type: 'EcdsaSecp256k1VerificationKey2019', publicKeyHex: hex }))
    const full = Buffer.from(account(3).publicKey)
    const [x, y] = [full.subarray(1, 33), full.subarray(33)].map((half) => half.toString('base64url'))
    const wallet = [{ fragment: 'k', key: account(3).address }]
    expect(keysOf({ publicKeyJwk: { kty: 'EC', crv: 'secp256k1', x, y } })).toEqual(wallet)
    expect(
      keysOf({ blockchainAccountId: address.blockchainAccountId.toUpperCase().replace('EIP155:1:0X', 'eip155:1:0x') }),
    ).toEqual(wallet)
  })

  it.each<[string, string, RegExp]>([
    ['another method', documentOf([address], { id: 'did:key:z6Mk' }), /did:web/],
    ['no key that asserts', documentOf([address], { assertionMethod: [] }), /no key/],
    ['a key of another kind', documentOf([{ id: '#k', publicKeyJwk: { kty: 'EC', crv: 'P-256' } }]), /no key/],
    ['a reference to nothing', documentOf([address], { assertionMethod: ['#other'] }), /no verificationMethod/],
    [
      'a key off the curve',
      documentOf([{ id: '#k', type: 'EcdsaSecp256k1VerificationKey2019', publicKeyHex: `02${'ff'.repeat(32)}` }]),
      /no point/,
    ],
    ['too many keys', documentOf(Array(17).fill(address)), /at most 16/],
    ['what is deactivated', documentOf([address], { deactivated: true }), /deactivated/],
    ['no JSON', '{', /JSON/],
    ['a list', '[]', /object/],
  ])('is refused for %s', (_, text, reason) => {
    expect(() => readDidDocument(text, keccak)).toThrow(reason)
  })
})

describe('stamps signed as did:web', () => {
  let verifier: Awaited<ReturnType<typeof createVerifier>>
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'did-'))
    mkdirSync(join(folder, 'example.org'))
    writeFileSync(join(folder, 'example.org', 'did.json'), documentOf([address, edwards]))
    writeFileSync(join(folder, 'README.txt'), 'not a document')
    verifier = await createVerifier({ allowMock: true, didKeys: readDidDocuments(folder) })
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const text = canonicalJson(unsignedStamp())
  const byWallet = personalSign(text, 3)
  const byEdwards = sign(null, Buffer.from(text), privateKey).toString('hex')
  const stampBy = (value: string, algorithm = 'secp256k1', signature = byWallet): Loose => ({
    ...unsignedStamp(),
    signatures: [{ signer: { scheme: 'did:web', value }, algorithm, value: signature, timestamp: NOW }],
  })
  const verdictOf = async (stamp: Loose) => (await verifier.stamp(stamp))['details'].signatures[0]

  it('verify by a key of the document, as whose they count', async () => {
    expect(await verdictOf(stampBy(DID))).toMatchObject({ ok: true, reason: 'eip191', recovered: account(3).address })
    expect(await verdictOf(stampBy(`${DID}#wallet`))).toMatchObject({ ok: true })
    expect(await verdictOf(stampBy(DID, 'ed25519', byEdwards))).toMatchObject({ ok: true, reason: 'ed25519' })
    const subject = { scheme: 'did:web', value: DID }
    const stamps = [stampBy(`${DID}#wallet`), stampBy(DID, 'ed25519', byEdwards)]
    const { credibility } = await verifier.proof(proofOf(stamps, { subject }))
    expect(credibility.extensions).toMatchObject({ boundToSubjectFraction: 1, distinctSigners: 2 })
  })

  it.each<[string, Loose, string]>([
    ['another key', stampBy(DID, 'secp256k1', personalSign(text, 4)), 'signer-mismatch'],
    ['another of its keys than it names', stampBy(`${DID}#edwards`), 'did-without-such-key'],
    ['a subject that nobody here knows', stampBy('did:web:example.com'), 'did-unknown'],
    ['a name of every object', stampBy('constructor'), 'did-unknown'],
    ['an unknown algorithm', stampBy(DID, 'p256'), 'unsupported-algorithm'],
    ['no signature', stampBy(DID, 'secp256k1', '0x00'), 'signature is not 0x and 130 hex digits (65 bytes r, s, v)'],
  ])('are refused by %s', async (_, stamp, reason) => {
    expect(await verdictOf(stamp)).toMatchObject({ ok: false, reason })
  })

  it('end the start when a document is of no use', () => {
    const bad = mkdtempSync(join(tmpdir(), 'did-bad-'))
    try {
      writeFileSync(join(bad, 'a.json'), documentOf([address]))
      expect(readDidDocuments(bad).size).toBe(1)
      writeFileSync(join(bad, 'b.json'), documentOf([address]))
      expect(() => readDidDocuments(bad)).toThrow(/DID_WEB_DIR.*b\.json: did:web:example\.org:cameras is there already/)
      expect(() => readDidDocuments(join(bad, 'nowhere'))).toThrow(ConfigError)
    } finally {
      rmSync(bad, { recursive: true })
    }
  })
})
