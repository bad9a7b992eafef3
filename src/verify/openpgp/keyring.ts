import { CLOCK_SKEW_SECONDS } from '../plugin.ts'
import { OpenPgpError, type Packet, readArmor, readPackets } from './packets.ts'
import { type PublicKey, readPublicKey } from './public-key.ts'
import { EMBEDDED, ISSUER, isSignedBy, KEY_FLAGS, MAY_SIGN, readSignature, type Signature } from './signature.ts'

const SIGNATURE = 2
const PUBLIC_KEY = 6
const USER_ID = 13
const PUBLIC_SUBKEY = 14
/** Signature types. */
const CERTIFICATIONS = [0x10, 0x11, 0x12, 0x13]
const SUBKEY_BINDING = 0x18
const PRIMARY_BINDING = 0x19
const DIRECT = 0x1f
const KEY_REVOCATION = 0x20
const SUBKEY_REVOCATION = 0x28
/** The most self-signatures of a key; each costs up to 1.2 ms (P-521). The key of a phone has three or four. */
const MAX_SIGNATURES = 12

/** A key that may sign documents. */
interface SigningKey extends PublicKey {
  /** Unix seconds from which the key must not sign. */
  readonly expiresSeconds: number
}

/** The parts of a certificate that verifying a document needs. */
interface Keyring {
  /** Fingerprint of the primary key, 40 upper-case hex digits. */
  readonly fingerprint: string
  readonly isRevoked: boolean
  readonly signingKeys: readonly SigningKey[]
}

/**
 * Reads one OpenPGP certificate: a primary key that certified itself, and its subkeys. A signing subkey counts only
 * when both keys signed the binding.
 *
 * @param atSeconds Unix seconds; self-signatures that are made later or expire before do not count, revocations always do
 * @throws {OpenPgpError} when the certificate is malformed, or no key in it may sign
 */
export function readKeyring(bytes: Buffer, atSeconds: number): Keyring {
  const packets = readPackets(bytes)
  const primary = packets[0]?.tag === PUBLIC_KEY ? readPublicKey(packets[0].body) : undefined
  if (primary === undefined || packets.slice(1).some(({ tag }) => tag === PUBLIC_KEY)) {
    throw new OpenPgpError('expected exactly one primary key that can sign')
  }
  const [primaryGroup, ...others] = groupPackets(packets, primary, atSeconds)
  const selfSignature = newest([
    ...primaryGroup!.signatures.filter(
      (signature) => signature.type === DIRECT && isSignedBy(signature, primary, [primary.hashed]),
    ),
    ...others.flatMap((group) => selfCertifications(group, primary)),
  ])
  if (selfSignature === undefined) throw new OpenPgpError('the key did not certify itself')
  const isRevoked = primaryGroup!.signatures.some(
    (signature) => signature.type === KEY_REVOCATION && isSignedBy(signature, primary, [primary.hashed]),
  )
  const flags = selfSignature.covered.get(KEY_FLAGS)?.[0]
  const primaryKey = { ...primary, expiresSeconds: primary.createdSeconds + selfSignature.keyLifetimeSeconds }
  const subkeys = others.flatMap((group) => readSigningSubkey(group, primaryKey, atSeconds) ?? [])
  const signingKeys = flags === undefined || (flags & MAY_SIGN) !== 0 ? [primaryKey, ...subkeys] : subkeys
  if (signingKeys.length === 0) throw new OpenPgpError('the key may not sign')
  return { fingerprint: primary.fingerprint, isRevoked, signingKeys }
}

/** A key or user ID with the signatures that follow it. */
interface Group {
  readonly packet: Packet
  readonly signatures: Signature[]
}

/**
 * Groups the packets. Skips certifications that name another issuer: they may be many, and they do not matter here. Also skips
 * self-signatures that do not hold at the time, but no revocations: a revoked key stays revoked.
 */
function groupPackets(packets: readonly Packet[], primary: PublicKey, atSeconds: number): Group[] {
  const groups: Group[] = []
  let count = 0
  for (const packet of packets) {
    if (packet.tag !== SIGNATURE) groups.push({ packet, signatures: [] })
    else {
      const signature = undefinedIfInvalid(() => readSignature(packet.body))
      if (signature === undefined || namesOtherIssuer(signature, primary)) continue
      if (++count > MAX_SIGNATURES) throw new OpenPgpError(`more than ${MAX_SIGNATURES} self-signatures`)
      const isRevocation = signature.type === KEY_REVOCATION || signature.type === SUBKEY_REVOCATION
      if (isRevocation || findTimeFault(signature, atSeconds) === undefined) groups.at(-1)?.signatures.push(signature)
    }
  }
  return groups
}

/** @returns why a signature does not hold at a time; undefined when it does */
function findTimeFault({ createdSeconds, expiresSeconds }: Signature, atSeconds: number): string | undefined {
  if (createdSeconds > atSeconds + CLOCK_SKEW_SECONDS) return 'the signature is from the future'
  return atSeconds >= expiresSeconds ? 'the signature has expired' : undefined
}

function namesOtherIssuer({ covered, uncovered }: Signature, { fingerprint }: PublicKey): boolean {
  const issuer = covered.get(ISSUER) ?? uncovered.get(ISSUER)
  return issuer !== undefined && !fingerprint.endsWith(issuer.toString('hex').toUpperCase())
}

function selfCertifications({ packet, signatures }: Group, primary: PublicKey): Signature[] {
  if (packet.tag !== USER_ID) return []
  const head = Buffer.alloc(5, 0xb4)
  head.writeUInt32BE(packet.body.length, 1)
  const signed = [primary.hashed, head, packet.body]
  return signatures.filter(
    (signature) => CERTIFICATIONS.includes(signature.type) && isSignedBy(signature, primary, signed),
  )
}

/**
 * Reads a subkey that the primary key bound for signing, that signed the binding in return, and that is not revoked.
 */
function readSigningSubkey(
  { packet, signatures }: Group,
  primary: SigningKey,
  atSeconds: number,
): SigningKey | undefined {
  if (packet.tag !== PUBLIC_SUBKEY) return undefined
  const subkey = undefinedIfInvalid(() => readPublicKey(packet.body))
  if (subkey === undefined) return undefined
  const signed = [primary.hashed, subkey.hashed]
  const byPrimary = signatures.filter((signature) => isSignedBy(signature, primary, signed))
  if (byPrimary.some(({ type }) => type === SUBKEY_REVOCATION)) return undefined
  const binding = newest(byPrimary.filter(({ type }) => type === SUBKEY_BINDING))
  if (binding === undefined || ((binding.covered.get(KEY_FLAGS)?.[0] ?? 0) & MAY_SIGN) === 0) return undefined
  const embedded = binding.covered.get(EMBEDDED) ?? binding.uncovered.get(EMBEDDED)
  const backSignature = embedded === undefined ? undefined : undefinedIfInvalid(() => readSignature(embedded))
  if (backSignature?.type !== PRIMARY_BINDING || !isSignedBy(backSignature, subkey, signed)) return undefined
  if (findTimeFault(backSignature, atSeconds) !== undefined) return undefined
  const expiresSeconds = Math.min(primary.expiresSeconds, subkey.createdSeconds + binding.keyLifetimeSeconds)
  return { ...subkey, expiresSeconds }
}

function newest(signatures: readonly Signature[]): Signature | undefined {
  return signatures.reduce<Signature | undefined>(
    (best, signature) => (best === undefined || signature.createdSeconds > best.createdSeconds ? signature : best),
    undefined,
  )
}

/**
 * Returns undefined for packets that cannot be read, such as an encryption subkey on an unusual curve; the remaining
 * ones still count.
 */
function undefinedIfInvalid<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof OpenPgpError) return undefined
    throw error
  }
}

type DetachedVerdict =
  | {
      readonly ok: true
      /** Fingerprint of the primary key. */
      readonly fingerprint: string
      readonly createdSeconds: number
    }
  | { readonly ok: false; readonly reason: string }

/**
 * Verifies a detached OpenPGP signature over a text. Key and signature are armoured and of version 4; algorithms are
 * RSA, ECDSA on NIST curves and Ed25519, with SHA-2.
 *
 * @param atSeconds Unix seconds at which the signature must hold. The clock of the signer may be `CLOCK_SKEW_SECONDS` ahead
 */
export function verifyDetached(key: string, signature: string, text: string, atSeconds: number): DetachedVerdict {
  try {
    const keyring = readKeyring(readArmor(key, 'PUBLIC KEY BLOCK'), atSeconds)
    return checkSignature(keyring, readOneSignature(signature), text, atSeconds)
  } catch (error) {
    if (error instanceof OpenPgpError) return { ok: false, reason: error.message }
    throw error
  }
}

function readOneSignature(armored: string): Signature {
  const [packet, ...others] = readPackets(readArmor(armored, 'SIGNATURE'))
  if (packet?.tag !== SIGNATURE || others.length > 0) throw new OpenPgpError('expected exactly one signature')
  return readSignature(packet.body)
}

function checkSignature(keyring: Keyring, signature: Signature, text: string, atSeconds: number): DetachedVerdict {
  const { createdSeconds, type } = signature
  const signed = signedBytes(text, type)
  const signer = keyring.signingKeys.find((key) => isSignedBy(signature, key, [signed]))
  if (signer === undefined) return { ok: false, reason: 'the signature was not made by this key over these bytes' }
  if (keyring.isRevoked) return { ok: false, reason: 'the key is revoked' }
  if (createdSeconds < signer.createdSeconds) return { ok: false, reason: 'the signature is older than its key' }
  if (createdSeconds >= signer.expiresSeconds) return { ok: false, reason: 'the key had expired when it signed' }
  const fault = findTimeFault(signature, atSeconds)
  if (fault !== undefined) return { ok: false, reason: fault }
  return { ok: true, fingerprint: keyring.fingerprint, createdSeconds }
}

/**
 * Returns the bytes that a signature covers. Type 0 covers the bytes as they are, type 1 the text with CR LF line ends.
 */
function signedBytes(text: string, type: number): Buffer {
  if (type === 0) return Buffer.from(text, 'utf8')
  if (type === 1) return Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'utf8')
  throw new OpenPgpError('the signature is not over a document')
}
