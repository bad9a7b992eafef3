import { type KeyObject, X509Certificate } from 'node:crypto'
import { spendOnCertificate, spendOnVerification } from '../signature-work.ts'
import {
  BIT_STRING,
  type DerElement,
  DerError,
  expectTag,
  OCTET_STRING,
  readBoolean,
  readChildren,
  readDer,
  readObjectIdentifier,
  readSmallInteger,
  SEQUENCE,
} from './der.ts'
import { findWeakness } from './trust.ts'

/** An X.509 certificate as node:crypto reads it, and its extensions, which node:crypto does not expose. */
export interface Certificate {
  readonly x509: X509Certificate
  readonly publicKey: KeyObject
  /** Lower-case hex without leading zeros, as revocation lists write it. */
  readonly serial: string
  readonly notBeforeSeconds: number
  readonly notAfterSeconds: number
  /** By object identifier: the content of the extension's OCTET STRING. */
  readonly extensions: ReadonlyMap<string, Uint8Array>
  readonly isAuthority: boolean
  /** How many authorities are allowed between this one and a leaf; undefined means any number. */
  readonly pathLength: number | undefined
  /** Whether the key usage, if the certificate has one, lets the key sign data. Signing certificates is another use. */
  readonly maySignData: boolean
}

/** The largest certificate. Those of phones have 0.5 to 1.5 KB. */
const MAX_BYTES = 8192
const KEY_USAGE = '2.5.29.15'
const BASIC_CONSTRAINTS = '2.5.29.19'
const EXTENDED_KEY_USAGE = '2.5.29.37'
const ANY_EXTENDED_KEY_USAGE = '2.5.29.37.0'
/**
 * Extensions that may be critical. Basic constraints and both key usages are checked here. The others only name keys and
 * subjects. Certificate policies (2.5.29.32) are not processed, so they must not be critical (RFC 5280, 4.2.1.4).
 */
const KNOWN_EXTENSIONS = [KEY_USAGE, BASIC_CONSTRAINTS, EXTENDED_KEY_USAGE, '2.5.29.14', '2.5.29.35', '2.5.29.17']
/** Bits of the key usage, in its first byte: digitalSignature and contentCommitment. */
const SIGNS_DATA = 0x80 | 0x40
/** SHA-2 with RSA or ECDSA, and Ed25519; no algorithm with a hash that has known collisions. */
const SIGNATURE_ALGORITHMS = [
  '1.2.840.113549.1.1.11',
  '1.2.840.113549.1.1.12',
  '1.2.840.113549.1.1.13',
  '1.2.840.10045.4.3.2',
  '1.2.840.10045.4.3.3',
  '1.2.840.10045.4.3.4',
  '1.3.101.112',
]

/** A certificate that is malformed or of a kind that is not accepted. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError'
}

/**
 * Reads a certificate.
 *
 * @param der one certificate
 * @throws {CertificateError} on anything but a version 3 certificate with a strong key and signature algorithm
 */
export function readCertificate(der: Uint8Array): Certificate {
  if (der.length > MAX_BYTES)
    throw new CertificateError(`the certificate has ${der.length} bytes, at most ${MAX_BYTES} are allowed`)
  try {
    return parse(der)
  } catch (error) {
    if (error instanceof CertificateError) throw error
    if (error instanceof DerError) throw new CertificateError(`the certificate is malformed: ${error.message}`)
    throw new CertificateError('the certificate cannot be read', { cause: error })
  }
}

function parse(der: Uint8Array): Certificate {
  const [body, algorithm] = readChildren(expectTag(readDer(der), SEQUENCE))
  const signatureAlgorithm = readObjectIdentifier(readChildren(expectTag(algorithm, SEQUENCE))[0])
  if (!SIGNATURE_ALGORITHMS.includes(signatureAlgorithm)) {
    throw new CertificateError(`the signature algorithm ${signatureAlgorithm} is not accepted`)
  }
  const extensions = readExtensions(readChildren(expectTag(body, SEQUENCE)))
  requireAnyPurpose(extensions)
  const x509 = new X509Certificate(der)
  const { publicKey } = x509
  const weakness = findWeakness(publicKey)
  if (weakness !== undefined) throw new CertificateError(weakness)
  const notBeforeSeconds = Date.parse(x509.validFrom) / 1000
  const notAfterSeconds = Date.parse(x509.validTo) / 1000
  if (Number.isNaN(notBeforeSeconds + notAfterSeconds)) throw new CertificateError('the certificate has no valid dates')
  const serial = x509.serialNumber.toLowerCase().replace(/^0+(?=.)/, '')
  return {
    x509,
    publicKey,
    serial,
    notBeforeSeconds,
    notAfterSeconds,
    extensions,
    ...readConstraints(extensions),
    maySignData: maySignData(extensions),
  }
}

/** @param fields of the TBSCertificate; the extensions are the last field, in an explicit [3] */
function readExtensions(fields: readonly DerElement[]): Map<string, Uint8Array> {
  const extensions = new Map<string, Uint8Array>()
  const wrapper = fields.at(-1)
  if (wrapper?.tagClass !== 2 || wrapper.tag !== 3) return extensions
  const [list] = readChildren(wrapper)
  for (const extension of readChildren(expectTag(list, SEQUENCE))) {
    const parts = readChildren(expectTag(extension, SEQUENCE))
    const id = readObjectIdentifier(parts[0])
    const isCritical = parts.length === 3 && readBoolean(parts[1])
    if (isCritical && !KNOWN_EXTENSIONS.includes(id)) throw new CertificateError(`unknown critical extension ${id}`)
    if (extensions.has(id)) throw new CertificateError(`extension ${id} is repeated`)
    extensions.set(id, expectTag(parts.at(-1), OCTET_STRING).content)
  }
  return extensions
}

function readConstraints(extensions: ReadonlyMap<string, Uint8Array>): Pick<Certificate, 'isAuthority' | 'pathLength'> {
  const bytes = extensions.get(BASIC_CONSTRAINTS)
  if (bytes === undefined) return { isAuthority: false, pathLength: undefined }
  const [authority, length] = readChildren(expectTag(readDer(bytes), SEQUENCE))
  const isAuthority = authority !== undefined && readBoolean(authority)
  return { isAuthority, pathLength: length === undefined ? undefined : readSmallInteger(length) }
}

/**
 * Rejects a certificate for other purposes. An extended key usage, critical or not, limits a certificate to the purposes in its
 * list (RFC 5280, 4.2.1.12). No purpose is registered for attesting the keys of devices, so the list must allow any.
 */
function requireAnyPurpose(extensions: ReadonlyMap<string, Uint8Array>): void {
  const bytes = extensions.get(EXTENDED_KEY_USAGE)
  if (bytes === undefined) return
  const purposes = readChildren(expectTag(readDer(bytes), SEQUENCE)).map((purpose) => readObjectIdentifier(purpose))
  if (purposes.includes(ANY_EXTENDED_KEY_USAGE)) return
  throw new CertificateError(`its extended key usage ${purposes.join(' ')} does not allow attestation`)
}

function maySignData(extensions: ReadonlyMap<string, Uint8Array>): boolean {
  const bytes = extensions.get(KEY_USAGE)
  if (bytes === undefined) return true
  // The first byte of a BIT STRING is its number of unused bits.
  const [, uses = 0] = expectTag(readDer(bytes), BIT_STRING).content
  return (uses & SIGNS_DATA) !== 0
}

/** The most certificates in one chain. Phones send three to five. */
export const MAX_CHAIN = 8

type ChainFault =
  | 'malformed'
  | 'length'
  | 'issuer'
  | 'signature'
  | 'not-authority'
  | 'path-length'
  | 'not-valid-then'
  | 'revoked'
  | 'unknown-root'

type ChainVerdict =
  | { readonly ok: true; readonly certificates: readonly Certificate[] }
  /** `at` is the index of the certificate; the leaf is 0. */
  | { readonly ok: false; readonly fault: ChainFault; readonly at: number; readonly reason: string }

interface ChainPolicy {
  /** Root keys. A chain must end in a certificate with one of them, or in one that is signed by one of them. */
  readonly anchors: readonly KeyObject[]
  /** Unix seconds at which every certificate below the root must be valid. */
  readonly atSeconds: number
  /** Serial numbers in lower-case hex without leading zeros. */
  readonly revokedSerials: ReadonlySet<string>
}

/**
 * Verifies a chain of X.509 certificates from a leaf to a pinned root: names, signatures, authority, path lengths,
 * validity and revocation by serial number (RFC 5280, 6.1). The chain is rejected when a certificate has an unsupported
 * critical extension, such as certificate policies or name constraints.
 *
 * The dates of a certificate that contains a pinned root key are ignored, because the key itself is trusted.
 *
 * @param ders leaf first
 */
export function verifyChain(ders: readonly Uint8Array[], policy: ChainPolicy): ChainVerdict {
  if (ders.length === 0 || ders.length > MAX_CHAIN) {
    return fail('length', 0, `the chain has ${ders.length} certificates, 1 to ${MAX_CHAIN} are allowed`)
  }
  const certificates: Certificate[] = []
  for (const [at, der] of ders.entries()) {
    try {
      spendOnCertificate()
      certificates.push(readCertificate(der))
    } catch (error) {
      if (error instanceof CertificateError) return fail('malformed', at, error.message)
      throw error
    }
  }
  for (const [at, certificate] of certificates.entries()) {
    const issuer = certificates[at + 1]
    const fault = issuer === undefined ? rootFault(certificate, policy) : linkFault(certificate, issuer, at)
    if (fault !== undefined) return fail(fault, at, REASONS[fault])
    if (policy.revokedSerials.has(certificate.serial)) return fail('revoked', at, REASONS.revoked)
    const isRoot = issuer === undefined && isAnchor(certificate.publicKey, policy.anchors)
    const { notBeforeSeconds, notAfterSeconds } = certificate
    if (!isRoot && (policy.atSeconds < notBeforeSeconds || policy.atSeconds > notAfterSeconds)) {
      return fail('not-valid-then', at, REASONS['not-valid-then'])
    }
  }
  return { ok: true, certificates }
}

const REASONS: Readonly<Record<ChainFault, string>> = {
  malformed: 'cannot be read',
  length: 'the chain is too long',
  issuer: 'the next certificate is not its issuer, by name or key usage',
  signature: 'its signature does not verify with the key of the next certificate',
  'not-authority': 'the next certificate is not a certificate authority',
  'path-length': 'the next certificate allows fewer authorities below it',
  'not-valid-then': 'it was not valid at the time of the stamp',
  revoked: 'its serial number is revoked',
  'unknown-root': 'it is neither a pinned root nor signed by one',
}

/**
 * @param at index of the certificate that the issuer signed, which is also the number of authorities below the issuer
 */
function linkFault({ x509 }: Certificate, issuer: Certificate, at: number): ChainFault | undefined {
  if (!issuer.isAuthority) return 'not-authority'
  if (issuer.pathLength !== undefined && issuer.pathLength < at) return 'path-length'
  if (!x509.checkIssued(issuer.x509)) return 'issuer'
  spendOnVerification(issuer.publicKey)
  return x509.verify(issuer.publicKey) ? undefined : 'signature'
}

function rootFault({ x509, publicKey }: Certificate, { anchors }: ChainPolicy): ChainFault | undefined {
  if (isAnchor(publicKey, anchors)) return undefined
  const isSignedByAnchor = anchors.some((anchor) => {
    spendOnVerification(anchor)
    return x509.verify(anchor)
  })
  return isSignedByAnchor ? undefined : 'unknown-root'
}

function isAnchor(key: KeyObject, anchors: readonly KeyObject[]): boolean {
  return anchors.some((anchor) => key.equals(anchor))
}

function fail(fault: ChainFault, at: number, reason: string): ChainVerdict {
  return { ok: false, fault, at, reason: `certificate ${at}: ${reason}` }
}
