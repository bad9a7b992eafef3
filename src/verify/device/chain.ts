import { type KeyObject, timingSafeEqual } from 'node:crypto'
import { type Certificate, CertificateError, readCertificate } from './certificate.ts'

/** The most certificates in one chain. Phones send three to five. */
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
  /** `at` is the index of the certificate; the leaf is 0. */
  | { readonly ok: false; readonly fault: ChainFault; readonly at: number; readonly reason: string }

export interface ChainPolicy {
  /** Root keys. A chain must end in a certificate with one of them, or in one that is signed by one of them. */
  readonly anchors: readonly KeyObject[]
  /** Unix seconds at which every certificate below the root must be valid. */
  readonly atSeconds: number
  /** Serial numbers in lower-case hex without leading zeros. */
  readonly revokedSerials: ReadonlySet<string>
}

/**
 * Verifies a chain of X.509 certificates from a leaf to a pinned root: names, signatures, authority, path lengths,
 * validity and revocation by serial number (RFC 5280, 6.1). Certificate policies are ignored. Name constraints and
 * other extensions that are not supported reject the chain when they are critical.
 *
 * The dates of a certificate with a pinned root's own key do not matter, because the key is what is trusted.
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
  return x509.verify(issuer.publicKey) ? undefined : 'signature'
}

function rootFault({ x509, publicKey }: Certificate, { anchors }: ChainPolicy): ChainFault | undefined {
  if (isAnchor(publicKey, anchors)) return undefined
  return anchors.some((anchor) => x509.verify(anchor)) ? undefined : 'unknown-root'
}

function isAnchor(key: KeyObject, anchors: readonly KeyObject[]): boolean {
  const bytes = exportSpki(key)
  return anchors.map(exportSpki).some((other) => other.length === bytes.length && timingSafeEqual(other, bytes))
}

function exportSpki(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

function fail(fault: ChainFault, at: number, reason: string): ChainVerdict {
  return { ok: false, fault, at, reason: `certificate ${at}: ${reason}` }
}
