/** Certificate chains of imaginary phone makers, for tests of device attestation. */

import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import {
  bits,
  boolean,
  enumerated,
  explicit,
  integer,
  objectIdentifier,
  octets,
  sequence,
  set,
  time,
  utf8,
} from './der-writer.ts'
import { NOW } from './evidence.ts'

export interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

export const ellipticKey = (namedCurve = 'P-256'): KeyPair => generateKeyPairSync('ec', { namedCurve })
export const ed25519Key = (): KeyPair => generateKeyPairSync('ed25519')
export const rsaKey = (modulusLength = 2048): KeyPair => generateKeyPairSync('rsa', { modulusLength })

export const spkiOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' })
export const pemOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }) as string

export interface CertificateFields {
  readonly subject: string
  readonly issuer: string
  readonly key: KeyObject
  readonly serial?: number
  readonly notBefore?: number
  readonly notAfter?: number
  /** When absent, the certificate is not a certificate authority. */
  readonly authority?: { readonly pathLength?: number }
  /** First byte of the key usage; by default keyCertSign for an authority and digitalSignature for another certificate. */
  readonly keyUsage?: number
  readonly extensions?: readonly Uint8Array[]
  readonly hash?: 'sha256' | 'sha1'
}

const YEAR = 31_557_600

/** Makes one certificate in DER. @param signer the issuer's private key */
export function certificate(fields: CertificateFields, signer: KeyObject): Buffer {
  const { subject, issuer, key, serial = 7, authority, extensions = [], hash = 'sha256' } = fields
  const algorithm = sequence(objectIdentifier(algorithmOf(signer, hash)))
  const constraints = authority === undefined ? [] : [basicConstraints(authority.pathLength)]
  const { keyUsage = authority === undefined ? 0x80 : 4 } = fields
  const body = sequence(
    explicit(0, integer(2)),
    integer(serial),
    algorithm,
    nameOf(issuer),
    sequence(time(fields.notBefore ?? NOW - YEAR), time(fields.notAfter ?? NOW + YEAR)),
    nameOf(subject),
    spkiOf(key),
    explicit(3, sequence(keyUsageExtension(keyUsage), ...constraints, ...extensions)),
  )
  const signature = sign(signer.asymmetricKeyType === 'ed25519' ? null : hash, body, signer)
  return sequence(body, algorithm, bits(signature))
}

export function extension(id: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(objectIdentifier(id), ...(isCritical ? [boolean(true)] : []), octets(value))
}

function algorithmOf({ asymmetricKeyType }: KeyObject, hash: 'sha256' | 'sha1'): string {
  if (asymmetricKeyType === 'ed25519') return '1.3.101.112'
  if (asymmetricKeyType === 'ec') return hash === 'sha1' ? '1.2.840.10045.4.1' : '1.2.840.10045.4.3.2'
  return hash === 'sha1' ? '1.2.840.113549.1.1.5' : '1.2.840.113549.1.1.11'
}

function nameOf(commonName: string): Buffer {
  return sequence(set(sequence(objectIdentifier('2.5.4.3'), utf8(commonName))))
}

function basicConstraints(pathLength: number | undefined): Buffer {
  const value = sequence(boolean(true), ...(pathLength === undefined ? [] : [integer(pathLength)]))
  return extension('2.5.29.19', value, true)
}

function keyUsageExtension(uses: number): Buffer {
  // DER: trailing zero bits are unused.
  return extension('2.5.29.15', Buffer.of(3, 2, 31 - Math.clz32(uses & -uses), uses), true)
}

/** The key description that an Android device attests; every member can be made invalid. */
export interface Description {
  readonly challenge: Uint8Array
  readonly attestationLevel?: number
  readonly keyLevel?: number
  readonly origin?: number
  readonly isLocked?: boolean
  readonly bootState?: number
  readonly package?: string
  /** SHA-256 of the certificate that signed the package. */
  readonly packageSigner?: Uint8Array
}

export const PACKAGE_SIGNER = createHash('sha256').update('signer').digest()

export function keyDescription(description: Description): Buffer {
  const { challenge, attestationLevel = 1, keyLevel = 1, origin = 0, isLocked = true, bootState = 0 } = description
  const packages = set(sequence(octets(Buffer.from(description.package ?? 'org.example.camera')), integer(42)))
  const application = sequence(packages, set(octets(Buffer.from(description.packageSigner ?? PACKAGE_SIGNER))))
  const root = sequence(
    octets(Buffer.alloc(32, 1)),
    boolean(isLocked),
    enumerated(bootState),
    octets(Buffer.alloc(32, 2)),
  )
  return sequence(
    integer(200),
    enumerated(attestationLevel),
    integer(200),
    enumerated(keyLevel),
    octets(challenge),
    octets(Buffer.alloc(0)),
    sequence(explicit(701, integer(1_700_000_000_000)), explicit(709, octets(application))),
    sequence(
      explicit(1, set(integer(2))),
      explicit(2, integer(3)),
      explicit(3, integer(256)),
      explicit(702, integer(origin)),
      explicit(704, root),
      explicit(705, integer(140_000)),
      explicit(706, integer(202_509)),
    ),
  )
}

/** A root, two authorities below it, and the key that signs leaves. */
export interface Maker {
  readonly rootPem: string
  readonly root: KeyPair
  readonly authority: KeyPair
  /** The authorities that follow a leaf in its chain, the issuer of the leaf first. */
  readonly above: readonly Buffer[]
}

export function phoneMaker(): Maker {
  const [root, middle, authority] = [rsaKey(), ellipticKey('P-384'), ellipticKey()]
  const above = [
    certificate(
      { subject: 'Authority', issuer: 'Middle', key: authority.publicKey, serial: 3, authority: { pathLength: 0 } },
      middle.privateKey,
    ),
    certificate(
      { subject: 'Middle', issuer: 'Root', key: middle.publicKey, serial: 2, authority: { pathLength: 1 } },
      root.privateKey,
    ),
    certificate({ subject: 'Root', issuer: 'Root', key: root.publicKey, serial: 1, authority: {} }, root.privateKey),
  ]
  return { rootPem: pemOf(root.publicKey), root, authority, above }
}

export const KEY_DESCRIPTION_ID = '1.3.6.1.4.1.11129.2.1.17'

/** Makes a certificate chain for one key of a phone, leaf first. */
export function androidChain(
  { authority, above }: Maker,
  description: Description,
  leaf: Partial<CertificateFields> = {},
): Buffer[] {
  const fields = { subject: 'Android Keystore Key', issuer: 'Authority', key: ellipticKey().publicKey, ...leaf }
  const extensions = [extension(KEY_DESCRIPTION_ID, keyDescription(description)), ...(leaf.extensions ?? [])]
  return [certificate({ ...fields, extensions }, authority.privateKey), ...above]
}
