import { type KeyObject, X509Certificate } from 'node:crypto'
import {
  booleanOf,
  childrenOf,
  type DerElement,
  DerError,
  expectTag,
  OCTET_STRING,
  objectIdentifierOf,
  readDer,
  SEQUENCE,
  smallIntegerOf,
} from './der.ts'
import { weaknessOf } from './strong-key.ts'

/** An X.509 certificate: what node:crypto tells of it, and the extensions, which it does not. */
export interface Certificate {
  readonly x509: X509Certificate
  readonly publicKey: KeyObject
  /** Lower-case hex without leading zeros, as revocation lists write it. */
  readonly serial: string
  readonly notBeforeSeconds: number
  readonly notAfterSeconds: number
  /** By object identifier: the bytes that the extension's OCTET STRING holds. */
  readonly extensions: ReadonlyMap<string, Uint8Array>
  readonly isAuthority: boolean
  /** Authorities that may stand between this one and a leaf; undefined for any number. */
  readonly pathLength: number | undefined
}

/** Bytes of one certificate. Those of phones have 0.5 to 1.5 KB. */
const MAX_BYTES = 8192
const BASIC_CONSTRAINTS = '2.5.29.19'
/** Critical extensions whose meaning is regarded or does not restrict what is asked here. */
const UNDERSTOOD = [BASIC_CONSTRAINTS, '2.5.29.15', '2.5.29.14', '2.5.29.35', '2.5.29.37', '2.5.29.17', '2.5.29.32']
/** SHA-2 with RSA or ECDSA, and Ed25519: nothing that collides. */
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
 * @param der one certificate
 * @throws {CertificateError} on anything but a version 3 certificate with a strong key and signature algorithm
 */
export function readCertificate(der: Uint8Array): Certificate {
  if (der.length > MAX_BYTES) throw new CertificateError(`a certificate of ${der.length} bytes, at most ${MAX_BYTES}`)
  try {
    return parse(der)
  } catch (error) {
    if (error instanceof CertificateError) throw error
    if (error instanceof DerError) throw new CertificateError(`a certificate that holds ${error.message}`)
    throw new CertificateError('a certificate that cannot be read', { cause: error })
  }
}

function parse(der: Uint8Array): Certificate {
  const [body, algorithm] = childrenOf(expectTag(readDer(der), SEQUENCE))
  const signatureAlgorithm = objectIdentifierOf(childrenOf(expectTag(algorithm, SEQUENCE))[0])
  if (!SIGNATURE_ALGORITHMS.includes(signatureAlgorithm)) {
    throw new CertificateError(`a certificate signed by ${signatureAlgorithm}`)
  }
  const extensions = extensionsOf(childrenOf(expectTag(body, SEQUENCE)))
  const x509 = new X509Certificate(der)
  const { publicKey } = x509
  const weakness = weaknessOf(publicKey)
  if (weakness !== undefined) throw new CertificateError(weakness)
  const notBeforeSeconds = Date.parse(x509.validFrom) / 1000
  const notAfterSeconds = Date.parse(x509.validTo) / 1000
  if (Number.isNaN(notBeforeSeconds + notAfterSeconds)) throw new CertificateError('a certificate without dates')
  const serial = x509.serialNumber.toLowerCase().replace(/^0+(?=.)/, '')
  return { x509, publicKey, serial, notBeforeSeconds, notAfterSeconds, extensions, ...constraintsOf(extensions) }
}

/** @param fields of the TBSCertificate; the extensions stand last, in an explicit [3] */
function extensionsOf(fields: readonly DerElement[]): Map<string, Uint8Array> {
  const extensions = new Map<string, Uint8Array>()
  const wrapper = fields.at(-1)
  if (wrapper?.tagClass !== 2 || wrapper.tag !== 3) return extensions
  const [list] = childrenOf(wrapper)
  for (const extension of childrenOf(expectTag(list, SEQUENCE))) {
    const parts = childrenOf(expectTag(extension, SEQUENCE))
    const id = objectIdentifierOf(parts[0])
    const isCritical = parts.length === 3 && booleanOf(parts[1])
    if (isCritical && !UNDERSTOOD.includes(id)) throw new CertificateError(`a critical extension ${id}`)
    if (extensions.has(id)) throw new CertificateError(`extension ${id} twice`)
    extensions.set(id, expectTag(parts.at(-1), OCTET_STRING).content)
  }
  return extensions
}

function constraintsOf(extensions: ReadonlyMap<string, Uint8Array>): Pick<Certificate, 'isAuthority' | 'pathLength'> {
  const bytes = extensions.get(BASIC_CONSTRAINTS)
  if (bytes === undefined) return { isAuthority: false, pathLength: undefined }
  const [authority, length] = childrenOf(expectTag(readDer(bytes), SEQUENCE))
  const isAuthority = authority !== undefined && booleanOf(authority)
  return { isAuthority, pathLength: length === undefined ? undefined : smallIntegerOf(length) }
}
