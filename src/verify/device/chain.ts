import { type KeyObject, timingSafeEqual } from 'node:crypto'
import { type Certificate, CertificateError, readCertificate } from './certificate.ts'

/** Certificates of one chain. Phones send three to five. */
export const MAX_CHAIN = 8

export type ChainFault =
  | 'malformed'
  | 'length'
  | 'issuer'
  | 'signature'
  | 'not-authority'
  | 'path-length'
  | 'not-valid-then'
  | 'revoked'
  | 'unknown-root'

export type ChainVerdict =
  | { readonly ok: true; readonly certificates: readonly Certificate[] }
  /** `at`: index of the certificate, the leaf being 0. */
  | { readonly ok: false; readonly fault: ChainFault; readonly at: number; readonly reason: string }

export interface ChainPolicy {
  /** Root keys; a chain ends in one of them or in a certificate that one of them signed. */
  readonly anchors: readonly KeyObject[]
  /** Unix seconds at which every certificate below the root must be valid. */
  readonly atSeconds: number
  /** Serials in lower-case hex without leading zeros. */
  readonly revokedSerials: ReadonlySet<string>
}

/**
 * A chain of X.509 certificates from a leaf to a pinned root: names, signatures, authority, path lengths, validity,
 * revocation by serial (RFC 5280, 6.1, without policies and name constraints, whose presence as critical is refused).
 *
 * The dates of a certificate that holds a pinned root's own key are not asked: the key is what is trusted.
 *
 * @param ders leaf first
 */
export function verifyChain(ders: readonly Uint8Array[], policy: ChainPolicy): ChainVerdict {
  if (ders.length === 0 || ders.length > MAX_CHAIN) {
    return refuse('length', 0, `${ders.length} certificates, 1 to ${MAX_CHAIN} are read`)
  }
  const certificates: Certificate[] = []
  for (const [at, der] of ders.entries()) {
    try {
      certificates.push(readCertificate(der))
    } catch (error) {
      if (error instanceof CertificateError) return refuse('malformed', at, error.message)
      throw error
    }
  }
  for (const [at, certificate] of certificates.entries()) {
    const issuer = certificates[at + 1]
    const fault = issuer === undefined ? rootFault(certificate, policy) : linkFault(certificate, issuer, at)
    if (fault !== undefined) return refuse(fault, at, REASONS[fault])
    if (policy.revokedSerials.has(certificate.serial)) return refuse('revoked', at, REASONS.revoked)
    const isRoot = issuer === undefined && isAnchor(certificate.publicKey, policy.anchors)
    const { notBeforeSeconds, notAfterSeconds } = certificate
    if (!isRoot && (policy.atSeconds < notBeforeSeconds || policy.atSeconds > notAfterSeconds)) {
      return refuse('not-valid-then', at, REASONS['not-valid-then'])
    }
  }
  return { ok: true, certificates }
}

const REASONS: Readonly<Record<ChainFault, string>> = {
  malformed: 'cannot be read',
  length: 'the chain is too long',
  issuer: 'the next certificate is not its issuer by name or key usage',
  signature: 'its signature does not verify by the next certificate',
  'not-authority': 'the next certificate is no authority',
  'path-length': 'the next certificate allows fewer authorities below it',
  'not-valid-then': 'it was not valid at the time of the stamp',
  revoked: 'its serial number is revoked',
  'unknown-root': 'it is neither a pinned root nor signed by one',
}

/** @param at index of the certificate that the issuer signed: as many authorities stand below the issuer */
function linkFault({ x509 }: Certificate, issuer: Certificate, at: number): ChainFault | undefined {
  if (!issuer.isAuthority) return 'not-authority'
  if (issuer.pathLength !== undefined && issuer.pathLength < at) return 'path-length'
  if (!x509.checkIssued(issuer.x509)) return 'issuer'
  return x509.verify(issuer.publicKey) ? undefined : 'signature'
}

function rootFault({ x509, publicKey }: Certificate, { anchors }: ChainPolicy): ChainFault | undefined {
  if (isAnchor(publicKey, anchors)) return undefined
  return anchors.some((anchor) => x509.verify(anchor)) ? undefined : 'unknown-root'
}

function isAnchor(key: KeyObject, anchors: readonly KeyObject[]): boolean {
  const bytes = spkiOf(key)
  return anchors.map(spkiOf).some((other) => other.length === bytes.length && timingSafeEqual(other, bytes))
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

function refuse(fault: ChainFault, at: number, reason: string): ChainVerdict {
  return { ok: false, fault, at, reason: `certificate ${at}: ${reason}` }
}
