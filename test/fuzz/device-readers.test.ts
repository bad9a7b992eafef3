import { describe, expect, it } from 'vitest'
import { readAppAttestation } from '../../src/verify/device/app-attest.ts'
import { CborError, readCbor } from '../../src/verify/device/cbor.ts'
import { CertificateError, readCertificate } from '../../src/verify/device/chain.ts'
import { DerError } from '../../src/verify/device/der.ts'
import { readKeyDescription } from '../../src/verify/device/key-attestation.ts'
import { readRecord } from '../../src/verify/device/pgp.ts'
import { readKeyring } from '../../src/verify/openpgp/keyring.ts'
import { OpenPgpError, readPackets } from '../../src/verify/openpgp/packets.ts'
import { readSignature } from '../../src/verify/openpgp/signature.ts'
import { appAttestation } from '../app-attest-maker.ts'
import { androidChain, keyDescription, phoneMaker } from '../certificates.ts'
import { NOW } from '../evidence.ts'
import { pgpKey, pgpKeyring, pgpSignature } from '../openpgp-maker.ts'
import fc from '../seeded.ts'

const maker = phoneMaker()
const key = pgpKey('eddsa')
const challenge = Buffer.alloc(32, 1)

/** Each reader with a sample that it reads and the only class of error that it may throw. */
const READERS: readonly (readonly [string, (bytes: Buffer) => unknown, Buffer, new () => Error])[] = [
  ['a certificate', readCertificate, androidChain(maker, { challenge })[0]!, CertificateError],
  ['a key description', readKeyDescription, keyDescription({ challenge }), DerError],
  [
    'an App Attest object',
    readAppAttestation,
    Buffer.from(appAttestation(maker, challenge).attestation, 'base64'),
    CborError,
  ],
  ['CBOR', readCbor, Buffer.from('a2626964f7', 'hex'), CborError],
  [
    'an OpenPGP key',
    (bytes) => readKeyring(bytes, NOW),
    pgpKeyring(key, { subkey: { key: pgpKey('rsa') } }),
    OpenPgpError,
  ],
  ['OpenPGP packets', readPackets, pgpKeyring(key), OpenPgpError],
  ['an OpenPGP signature', readSignature, pgpSignature(key, [Buffer.from('x')]), OpenPgpError],
]

describe.each(READERS)('the reader of %s', (_, read, sample, kind) => {
  const expectOwnError = (bytes: Uint8Array) => {
    try {
      read(Buffer.from(bytes))
    } catch (error) {
      expect(error).toBeInstanceOf(kind)
    }
  }

  it('rejects random bytes only with its own error', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), expectOwnError), { numRuns: 3000 })
  })

  it('rejects its sample with bytes changed, cut and repeated only with its own error', () => {
    const edit = fc.record({ at: fc.nat(sample.length - 1), byte: fc.nat(255), cut: fc.nat(sample.length) })
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), (edits) => {
        const copy = Buffer.from(sample)
        for (const { at, byte } of edits) copy[at] = byte
        const { cut } = edits[0]!
        expectOwnError(copy)
        expectOwnError(copy.subarray(0, cut))
        expectOwnError(Buffer.concat([copy.subarray(0, cut), copy]))
      }),
      { numRuns: 1500 },
    )
  })
})

describe('the reader of a signed record', () => {
  it('reads any text without an error, in linear time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => void readRecord(text)),
      { numRuns: 3000 },
    )
    // Takes seconds; a reader that scans the remaining text at each character takes minutes.
    for (const piece of ['""', '",', 'a,', '\n', '"a""']) readRecord(piece.repeat(500_000))
  }, 60_000)
})
